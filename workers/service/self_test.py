"""The self-test of a slot: it plays a canary game, and is held while the game fails.

The test runs before the first job, after every admission by the site and before a void is reported, so that
no broken slot reports a void. A held slot takes no job, because its Celery task does not return.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable

from workers.play.runner import WorkerContext
from workers.service.canary import play_canary
from workers.service.slots import Slots, SlotState

FIRST_PAUSE_SECONDS = 1.0
LONGEST_PAUSE_SECONDS = 120.0
POLL_SECONDS = 0.2
"""The longest time until a held slot notices that the worker stops."""

log = logging.getLogger("workers.service.self_test")


class SelfTest:
    """The self-test of one slot. ``send_trouble`` sends its trouble to the site, and "" when it is over."""

    def __init__(self, slots: Slots, index: int, send_trouble: Callable[[str], None]) -> None:
        self._slots = slots
        self._index = index
        self._send_trouble = send_trouble
        self._passed_admission = -1
        """The number of admissions at the last passed test; -1 if the test must run again."""

    def find_trouble(self, worker: WorkerContext) -> str:
        """Run the test if it is due; returns what is wrong, empty if nothing is."""
        admission = self._slots.admissions
        if self._passed_admission == admission:
            return ""
        trouble = self.run(worker)
        if not trouble:
            self._passed_admission = admission
        return trouble

    def run(self, worker: WorkerContext) -> str:
        """Run the test now; returns what is wrong, empty if nothing is or the worker stops."""
        self._passed_admission = -1
        trouble = play_canary(worker, lambda: self._slots.is_stopping)
        if not trouble:
            self._passed_admission = self._slots.admissions
        return trouble

    def hold(self, trouble: str, retest: Callable[[], str]) -> None:
        """Call ``retest`` at intervals until it returns no trouble, or the worker stops."""
        pause = FIRST_PAUSE_SECONDS
        self._slots.enter(self._index, SlotState.HELD)
        while trouble and not self._slots.is_stopping:
            log.error("takes no jobs: %s", trouble)
            self._send_trouble(trouble)
            self._pause(pause)
            pause = min(2 * pause, LONGEST_PAUSE_SECONDS)
            if not self._slots.is_stopping:
                trouble = retest()
        if not self._slots.is_stopping:
            log.warning("takes jobs again")
            self._send_trouble("")

    def _pause(self, seconds: float) -> None:
        end = time.monotonic() + seconds
        while not self._slots.is_stopping and (left := end - time.monotonic()) > 0:
            time.sleep(min(left, POLL_SECONDS))
