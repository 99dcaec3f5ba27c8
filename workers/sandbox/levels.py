"""Which walls a machine gives, by name, and what would give it more.

**A**: all of them, uploaded bots may play. **B**: everything but a hard memory limit: without a control
group memory is only looked at now and then. Uploads play there if only this machine can reach the site, or
the operator says so. **C**: none worth the name; no uploaded bot plays.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass

from workers.jobs import JsonValue

SETTING = "DUARENA_SANDBOX"
"""Which level uploaded bots need to play here, ``A`` or ``B``; unset it is as ``needed_level`` says."""
LOCAL = "DUARENA_LOCAL"
"""``1``: only this machine can reach the site. ``./arena up`` finds out and sets it."""
LEVEL_B = "everything but a hard memory limit"
"""What holds at level B, in words for everybody."""


class Level(enum.StrEnum):
    A = "A"
    B = "B"
    C = "C"


class SettingError(ValueError):
    """A setting that is none; the text is a sentence for the operator."""


@dataclass(frozen=True, slots=True)
class Want(JsonValue):
    """Something this machine lacks, and what to do about it: a command, a sentence, or nothing.

    ``package`` is what to install where a program is missing.
    """

    lack: str
    remedy: str = ""
    package: str = ""


@dataclass(frozen=True, slots=True)
class Verdict(JsonValue):
    """What a probe found, when (UTC, ISO 8601), and in which worker."""

    level: Level
    wants: tuple[Want, ...] = ()
    checked: str = ""
    worker: str = ""
    cgroup: str = ""
    """``v1``, ``v2`` or empty."""

    def admits(self, needed: Level) -> bool:
        """Whether uploaded bots may play behind these walls, if this level is needed."""
        return self.level is not Level.C and self.level <= needed

    @property
    def packages(self) -> tuple[str, ...]:
        """Those of Debian and Ubuntu that bring the programs which are missing."""
        return tuple(dict.fromkeys(want.package for want in self.wants if want.package))


def needed_level(setting: str, *, is_local: bool = False) -> Level:
    """The level that uploaded bots need; raises ``SettingError``.

    The setting decides. Where it is empty level B is enough if only this machine can reach the site
    (``is_local``): its users then are those who could run programs here anyway. Other sites need level A.
    """
    word = setting.strip().upper() or (Level.B if is_local else Level.A)
    if word not in (Level.A, Level.B):
        raise SettingError(f"{SETTING} is {setting!r}: it may be A or B")
    return Level(word)


def describe(verdict: Verdict) -> list[str]:
    """What an operator should know, a sentence a line: the level, and what is missing for the next."""
    first = f"Sandbox: level {verdict.level}, {_MEANINGS[verdict.level]}"
    return [first, *(f"  missing: {format_want(want)}" for want in verdict.wants)]


def format_want(want: Want) -> str:
    return f"{want.lack} ({want.remedy})" if want.remedy else want.lack


_MEANINGS = {
    Level.A: "all walls hold.",
    Level.B: f"{LEVEL_B}.",
    Level.C: "no walls.",
}
