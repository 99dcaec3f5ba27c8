"""Collects what the checks found, and prints a line for each: ``ok``, ``DIFFERS`` or ``not checked``."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Final

from engines.visible import visible

AGREES, DIFFERS, NOT_CHECKED = 0, 1, 3
"""Exit codes; 2 is for what cannot be read."""
MAX_SHOWN: Final = 20
"""Differences of one check that are printed; the others are counted."""
MAX_CHARACTERS: Final = 500


@dataclass(slots=True)
class EvidenceCheck:
    """One check. Its differences are printed as they are found."""

    name: str
    _show: Callable[[str, str, str], None]
    differences: int = 0
    skipped: int = 0
    _agreement: str = ""

    def differs(self, sentence: str) -> None:
        self.differences += 1
        if self.differences <= MAX_SHOWN:
            self._show("DIFFERS", self.name, sentence)

    def skip(self, reason: str) -> None:
        """Something was not checked."""
        self.skipped += 1
        self._show("not checked", self.name, reason)

    def ok(self, sentence: str) -> None:
        """What agrees, unless there is a difference."""
        self._agreement = sentence

    def end(self) -> None:
        if self.differences > MAX_SHOWN:
            self._show("DIFFERS", self.name, f"{self.differences - MAX_SHOWN} more")
        elif not self.differences and self._agreement:
            self._show("ok", self.name, self._agreement)


@dataclass(slots=True)
class EvidenceReport:
    """All checks; ``write`` receives each line."""

    write: Callable[[str], None]
    checks: list[EvidenceCheck] = field(default_factory=list)

    @contextmanager
    def check(self, name: str) -> Iterator[EvidenceCheck]:
        """A check; at the end of the block its agreement is printed."""
        check = self.begin(name)
        yield check
        check.end()

    def begin(self, name: str) -> EvidenceCheck:
        """A check that its caller ends."""
        check = EvidenceCheck(name, self._show)
        self.checks.append(check)
        return check

    @property
    def exit_code(self) -> int:
        if any(check.differences for check in self.checks):
            return DIFFERS
        return NOT_CHECKED if any(check.skipped for check in self.checks) else AGREES

    def _show(self, verdict: str, name: str, sentence: str) -> None:
        self.write(f"{verdict:<11}  {name}: {visible(sentence, MAX_CHARACTERS)}")
