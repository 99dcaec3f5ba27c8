"""Collects what the checks found: what is ``ok``, what ``DIFFERS``, and what is ``not checked``."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

from engines.visible import visible

AGREES, DIFFERS, NOT_CHECKED = 0, 1, 3
"""Exit codes; 2 is for what cannot be read."""
MAX_SHOWN: Final = 20
"""Findings of one state that a check shows; the others are counted."""
MAX_CHARACTERS: Final = 500


class CheckState(StrEnum):
    """What became of a check, or of a part of it."""

    OK = "ok"
    DIFFERS = "DIFFERS"
    SKIPPED = "not checked"


@dataclass(frozen=True, slots=True)
class CheckFinding:
    """One sentence of a check."""

    name: str
    """Of the check."""
    state: CheckState
    text: str
    """Printable."""

    def __str__(self) -> str:
        return f"{self.state:<11}  {self.name}: {self.text}"


@dataclass(slots=True)
class EvidenceCheck:
    """One check. Its differences are shown as they are found."""

    name: str
    _write: Callable[[CheckFinding], object]
    differences: int = 0
    skipped: int = 0
    _agreement: str = ""

    def differs(self, sentence: str) -> None:
        self.differences += 1
        if self.differences <= MAX_SHOWN:
            self._show(CheckState.DIFFERS, sentence)

    def skip(self, reason: str) -> None:
        """Something was not checked."""
        self.skipped += 1
        if self.skipped <= MAX_SHOWN:
            self._show(CheckState.SKIPPED, reason)

    def ok(self, sentence: str) -> None:
        """What agrees, unless there is a difference."""
        self._agreement = sentence

    def end(self) -> None:
        for state, count in ((CheckState.SKIPPED, self.skipped), (CheckState.DIFFERS, self.differences)):
            if count > MAX_SHOWN:
                self._show(state, f"{count - MAX_SHOWN} more")
        if not self.differences and self._agreement:
            self._show(CheckState.OK, self._agreement)

    def _show(self, state: CheckState, sentence: str) -> None:
        self._write(CheckFinding(self.name, state, visible(sentence, MAX_CHARACTERS)))


def no_progress(words: str, done: float, of: float) -> None:
    """Nobody looks."""


@dataclass(slots=True)
class EvidenceReport:
    """All checks: ``write`` receives each finding, ``progress`` what ``ProgressBar.show`` does."""

    write: Callable[[CheckFinding], object]
    progress: Callable[[str, float, float], None] = no_progress
    checks: list[EvidenceCheck] = field(default_factory=list)

    @contextmanager
    def check(self, name: str) -> Iterator[EvidenceCheck]:
        """A check; at the end of the block its agreement is shown."""
        check = self.begin(name)
        yield check
        check.end()

    def begin(self, name: str) -> EvidenceCheck:
        """A check that its caller ends."""
        check = EvidenceCheck(name, self.write)
        self.checks.append(check)
        return check

    @property
    def exit_code(self) -> int:
        if any(check.differences for check in self.checks):
            return DIFFERS
        return NOT_CHECKED if any(check.skipped for check in self.checks) else AGREES
