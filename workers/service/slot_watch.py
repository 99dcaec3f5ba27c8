"""Ends the slots of a worker that hang, so that others take their places.

A thread of each slot counts in shared memory, and the worker's main process watches the counts. The games of
a slot that is ended are played again when their leases have expired.
"""

from __future__ import annotations

import logging
import os
import signal
import threading
import time
from collections.abc import Callable, Collection
from contextlib import suppress

from workers.service.slots import Slots
from workers.silence import Silence

BEAT_S = 2.0

log = logging.getLogger("workers.service.slot_watch")


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
