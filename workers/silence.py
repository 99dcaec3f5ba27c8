"""Watching a process for signs of life: whether it has been silent for too long.

Standard library only; used by the supervisor of ``./arena up`` and by ``python -m workers watch``.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

PULSE = "DUARENA_PULSE"
"""The environment variable with the path of the file that a process touches while it is well."""
CHECK_S = 5.0
"""The interval of the checks."""
SILENT_S = 40.0
"""A process that was alive and is not for so long is killed, so that it is restarted within a minute."""
SILENT_AT_START_S = 180.0
"""The same for a process that was not yet alive since its start."""


class Touched:
    """Whether a file was touched since the last call; clocks that are set have no influence."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._stamp: int | None = None

    def __call__(self) -> bool:
        try:
            stamp = self._path.stat().st_mtime_ns
        except OSError:
            return False
        before, self._stamp = self._stamp, stamp
        return stamp != before


class Silence:
    """How long a process has shown no sign of life; times in which its watcher was stopped do not count."""

    def __init__(self, alive: Callable[[], bool]) -> None:
        self._alive = alive
        self._checked: float | None = None
        self._was_alive = False
        self.seconds = 0.0

    def check(self, now: float) -> None:
        """Look for a sign of life if that is due at ``now``, seconds of a monotonic clock."""
        if self._checked is not None and now - self._checked < CHECK_S:
            return
        passed = 0.0 if self._checked is None else now - self._checked
        self._checked = now
        if self._alive():
            self._was_alive, self.seconds = True, 0.0
        else:
            self.seconds += min(passed, 2 * CHECK_S)

    @property
    def is_too_long(self) -> bool:
        return self.seconds > (SILENT_S if self._was_alive else SILENT_AT_START_S)
