"""The sign of life of a worker, the record keeper or the beat: a file that it touches for a watchdog.

A thread touches the file that ``PULSE`` names, so a process with a long task counts as alive, and one that is
stopped does not. If the process has neither begun nor ended a task nor sent a message for ``STUCK_S``, the
thread pauses too.
"""

from __future__ import annotations

import logging
import os
import threading
import time
from pathlib import Path
from typing import Any

from celery.signals import after_task_publish, beat_init, task_postrun, task_prerun, worker_ready

from workers.silence import PULSE

TOUCH_S = 2.0
STUCK_S = 600.0
"""Longer than any task takes: a task that is ended too early would begin anew without end."""

log = logging.getLogger("workers.service.pulse")


class Pulse:
    """Touches a file while ``note`` is called at least every ``STUCK_S`` seconds."""

    def __init__(self, stuck_s: float = STUCK_S) -> None:
        self._stuck_s = stuck_s
        self._noted = time.monotonic()
        self._is_started = False

    def note(self, **_: Any) -> None:
        """Note progress; a receiver of Celery's signals."""
        self._noted = time.monotonic()

    def start(self, **_: Any) -> None:
        """Note progress and begin to touch the file; may be repeated; a receiver of Celery's signals."""
        self.note()
        if (path := os.environ.get(PULSE)) and not self._is_started:
            self._is_started = True
            threading.Thread(target=self._touch, args=(Path(path),), name="pulse", daemon=True).start()

    def _touch(self, path: Path) -> None:
        while True:
            if time.monotonic() - self._noted < self._stuck_s:
                try:
                    path.parent.mkdir(parents=True, exist_ok=True)
                    path.touch()
                except OSError as error:
                    log.warning("the sign of life cannot be written: %s", error)
            time.sleep(TOUCH_S)


_PULSE = Pulse()


def note_progress() -> None:
    """Note that this process is right to wait."""
    _PULSE.note()


def wait_rightly() -> None:
    """Touch the file although this process is not ready yet; called again and again while it waits."""
    _PULSE.start()


def connect_pulse() -> None:
    """Have this process touch its file from its start on; may be repeated."""
    for signal in (beat_init, worker_ready):
        signal.connect(_PULSE.start)
    for signal in (task_prerun, task_postrun, after_task_publish):
        signal.connect(_PULSE.note)
