"""The sandbox levels of a machine, and what a machine lacks for a better one.

**A**: the complete sandbox; uploaded bots may play. **B**: everything but a hard memory limit: without a
control group memory is only sampled. Uploaded bots play there if only this machine can reach the site, or if
the operator allows it. **C**: no sandbox; no uploaded bot plays.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass

SETTING = "DUARENA_SANDBOX"
"""The level that uploaded bots need to play here, ``A`` or ``B``; see ``needed_level`` for the default."""
LOCAL = "DUARENA_LOCAL"
"""``1``: only this machine can reach the site. ``./arena up`` sets it."""
LEVEL_B = "everything but a hard memory limit"
"""Describes level B to users."""


class Level(enum.StrEnum):
    A = "A"
    B = "B"
    C = "C"


class SettingError(ValueError):
    """An invalid setting; the text is a sentence for the operator."""


@dataclass(frozen=True, slots=True)
class Want:
    """Something this machine lacks, and the remedy: a command, a sentence, or empty.

    ``package`` is the package to install if a program is missing. ``may_pass``: the cause may pass, such as a
    busy machine, so that another probe may not find it.
    """

    lack: str
    remedy: str = ""
    package: str = ""
    may_pass: bool = False


@dataclass(frozen=True, slots=True)
class Verdict:
    """The result of a probe; ``checked`` is its time (UTC, ISO 8601), ``worker`` the worker that ran it."""

    level: Level
    wants: tuple[Want, ...] = ()
    checked: str = ""
    worker: str = ""
    cgroup: str = ""
    """The version of control groups: ``v1``, ``v2``, or empty without them."""

    def admits(self, needed: Level) -> bool:
        """Whether uploaded bots may play in this sandbox if they need level ``needed``."""
        return self.level is not Level.C and self.level <= needed

    @property
    def is_certain(self) -> bool:
        """Whether another probe of the unchanged machine would give the same level."""
        return not any(want.may_pass for want in self.wants)

    @property
    def packages(self) -> tuple[str, ...]:
        """The packages of Debian and Ubuntu that contain the missing programs."""
        return tuple(dict.fromkeys(want.package for want in self.wants if want.package))


def needed_level(setting: str, *, is_local: bool = False) -> Level:
    """The level that uploaded bots need; raises ``SettingError``.

    The setting decides. If it is empty, level B is enough for a site that only this machine can reach
    (``is_local``), because its users can run programs here anyway; other sites need level A.
    """
    word = setting.strip().upper() or (Level.B if is_local else Level.A)
    if word not in (Level.A, Level.B):
        raise SettingError(f"{SETTING} is {setting!r}, but must be A or B")
    return Level(word)


def describe(verdict: Verdict) -> list[str]:
    """Lines for the operator: the level, and what is missing for a better one."""
    first = f"Sandbox: level {verdict.level}, {_MEANINGS[verdict.level]}"
    return [first, *(f"  missing: {format_want(want)}" for want in verdict.wants)]


def format_want(want: Want) -> str:
    return f"{want.lack} ({want.remedy})" if want.remedy else want.lack


_MEANINGS = {
    Level.A: "all protections work.",
    Level.B: f"{LEVEL_B}.",
    Level.C: "no sandbox.",
}
