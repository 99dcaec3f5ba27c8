"""Lines about how far a long migration is. Django takes no module with an underscore for a migration."""

from __future__ import annotations

import time
from collections.abc import Callable

PAUSE_S = 10.0
"""Between two lines; a short migration writes none."""


def _say(line: str) -> None:
    print(line, flush=True)


class Progress:
    """Says how many of ``total`` rows a migration has changed; ``what`` are these rows."""

    def __init__(
        self,
        what: str,
        total: int,
        say: Callable[[str], None] = _say,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._what = what
        self._total = total
        self._say = say
        self._clock = clock
        self._done = 0
        self._said = clock()

    def add(self, rows: int) -> None:
        """Count rows, and write a line if the last one was long ago."""
        self._done += rows
        if self._clock() >= self._said + PAUSE_S:
            self._said = self._clock()
            self._say(f"  {self._what}: {self._done:,} of {self._total:,} ({self._done / self._total:.0%})")
