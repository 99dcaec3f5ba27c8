"""Signs of life: of a worker, the record keeper or the beat for a watchdog, and of slots for their worker.

A process touches the file that ``PULSE`` names in a thread, so one with a long task counts as alive, and one
that is stopped does not. If it has shown no progress for ``STUCK_S``, the thread pauses too.

A thread of each slot counts in shared memory, and the worker's main process kills the slots that hang.
"""

from __future__ import annotations

import logging
import os
import signal
import threading
import time
from collections.abc import Callable, Collection
from contextlib import suppress
from pathlib import Path
from typing import Any

from celery.signals import after_task_publish, beat_init, task_postrun, task_prerun, worker_ready

from workers.service.slots import Slots
from workers.silence import PULSE, Silence

TOUCH_S = 2.0
STUCK_S = 600.0
"""Longer than any task takes: a task that is ended too early would begin anew without end."""
BEAT_S = 2.0

log = logging.getLogger("workers.service.liveness")


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
    for signal_ in (beat_init, worker_ready):
        signal_.connect(_PULSE.start)
    for signal_ in (task_prerun, task_postrun, after_task_publish):
        signal_.connect(_PULSE.note)


def start_beat(slots: Slots, slot: int) -> None:
    """Count in the place of this process's slot from now on."""
    slots.begin_beat(slot, os.getpid())
    threading.Thread(target=_beat, args=(slots, slot), name="beat", daemon=True).start()


def _beat(slots: Slots, slot: int) -> None:
    while True:
        slots.beat(slot)
        time.sleep(BEAT_S)


def _kill(pid: int) -> None:
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)


class SlotWatch:
    """Watches the slots of the worker of this process; ``kill`` ends a process."""

    def __init__(self, slots: Slots, kill: Callable[[int], None] = _kill) -> None:
        self._slots = slots
        self._kill = kill
        self._silences: dict[int, Silence] = {}

    def check(self, pids: Collection[int], now: float) -> None:
        """Kill those of these processes that are silent at ``now``, seconds of a monotonic clock."""
        self._silences = {pid: self._silences.get(pid) or Silence(self._beats_of(pid)) for pid in pids}
        for pid, silence in self._silences.items():
            silence.check(now)
            if silence.is_too_long:
                log.error(
                    "the slot with process %d has not responded for %.0f s and is killed",
                    pid,
                    silence.seconds,
                )
                self._kill(pid)

    def _beats_of(self, pid: int) -> Callable[[], bool]:
        """Whether the slot of a process has counted since the last call."""
        seen: int | None = None

        def has_beaten() -> bool:
            nonlocal seen
            before, seen = seen, self._slots.beats_of(pid)
            return seen is not None and seen != before

        return has_beaten
