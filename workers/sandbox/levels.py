"""Which walls a machine gives, by name, and what would give it more.

**A**: all of them, uploaded bots may play. **B**: all but a control group, so memory is only
looked at now and then; uploads play where the operator says so. **C**: none worth the name.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass

from workers.jobs import JsonValue

SETTING = "DUARENA_SANDBOX"
"""Which level uploaded bots need to play here: ``A``, which it is unless set, or ``B``."""


class Level(enum.StrEnum):
    A = "A"
    B = "B"
    C = "C"


class SettingError(ValueError):
    """A setting that is none; the text is a sentence for the operator."""


@dataclass(frozen=True, slots=True)
class Want(JsonValue):
    """Something this machine lacks, and what to do about it: a command, a sentence, or nothing."""

    lack: str
    remedy: str = ""


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


def needed_level(setting: str) -> Level:
    """The level that the setting asks for; raises ``SettingError``."""
    word = setting.strip().upper() or Level.A
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
    Level.B: "all walls but a control group: memory is only watched.",
    Level.C: "no walls.",
}
