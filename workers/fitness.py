"""Whether a slot may play: it proves itself by a canary game, and is held while it cannot.

It proves itself before its first job, after every admission by the site and before it tells of a void: so
no void that the site hears of comes from a slot that was broken. A slot that is held keeps its place in the
queue occupied, and so takes no job.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable

from workers.canary import play_canary
from workers.runner import Worker
from workers.slots import Slots, SlotState

FIRST_PAUSE_SECONDS = 1.0
LONGEST_PAUSE_SECONDS = 120.0
GLANCE_SECONDS = 0.2
"""How soon a held slot sees that it is to stop."""

log = logging.getLogger("workers.fitness")


class Fitness:
    """Of one slot. ``tell`` carries its trouble to the site, an empty word once that is over."""

    def __init__(self, slots: Slots, index: int, tell: Callable[[str], None]) -> None:
        self._slots = slots
        self._index = index
        self._tell = tell
        self._proved = -1
        """At which admission; before the first there is none."""

    def find_trouble(self, worker: Worker) -> str:
        """Prove itself unless it has; returns what is wrong, empty if nothing is."""
        admission = self._slots.admissions
        if self._proved == admission:
            return ""
        trouble = self.prove(worker)
        if not trouble:
            self._proved = admission
        return trouble

    def prove(self, worker: Worker) -> str:
        """Prove itself now; returns what is wrong, empty if nothing is or it is to stop."""
        self._proved = -1
        trouble = play_canary(worker, lambda: self._slots.is_stopping)
        if not trouble:
            self._proved = self._slots.admissions
        return trouble

    def hold(self, trouble: str, look: Callable[[], str]) -> None:
        """Do nothing until ``look`` finds no trouble any more, or the worker is told to stop."""
        pause = FIRST_PAUSE_SECONDS
        self._slots.enter(self._index, SlotState.HELD)
        while trouble and not self._slots.is_stopping:
            log.error("takes no jobs: %s", trouble)
            self._tell(trouble)
            self._rest(pause)
            pause = min(2 * pause, LONGEST_PAUSE_SECONDS)
            if not self._slots.is_stopping:
                trouble = look()
        if not self._slots.is_stopping:
            log.warning("takes jobs again")
            self._tell("")

    def _rest(self, seconds: float) -> None:
        end = time.monotonic() + seconds
        while not self._slots.is_stopping and (left := end - time.monotonic()) > 0:
            time.sleep(min(left, GLANCE_SECONDS))
