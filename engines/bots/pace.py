"""Decides when a search must answer, with a reserve for delays of the machine.

A bot that uses its time to the last millisecond loses on time as soon as another
process delays it. So the longest delay between two readings of the clock is remembered
from move to move, and kept in reserve.
"""

from __future__ import annotations

import math
import time
from typing import Final

from engines.sdk import BotTurn

FIRST_STALL_SECONDS: Final = 0.025
"""The reserve at the first move, when nothing is known of the machine."""
STALL_KEPT: Final = 0.9
"""The part of the longest delay that is expected again in the next move."""
MAX_RESERVED: Final = 0.5
"""The largest part of a move's time that is kept in reserve."""
WORTH_BEGINNING: Final = 0.5
"""The part of a move's time after which no deeper search is begun, with a clock."""


class SearchPace:
    """Times the searches of a bot one after another; call ``begin`` first in each."""

    def __init__(self) -> None:
        self._stall_s = FIRST_STALL_SECONDS

    def begin(self, turn: BotTurn) -> None:
        self._turn = turn
        self._last_reading = time.monotonic()
        started = self._last_reading - turn.elapsed_ms / 1000
        budget_ms = turn.clock.budget_ms
        self._budget_s = math.inf if budget_ms is None else budget_ms / 1000
        self._deadline = started + self._budget_s
        self._last_beginning = math.inf
        if turn.clock.left_ms is not None:
            self._last_beginning = started + WORTH_BEGINNING * self._budget_s
        self._stall_s *= STALL_KEPT

    def must_answer(self) -> bool:
        """Whether the time is up, with a reserve for one more delay. Call often: it measures the delays."""
        now = time.monotonic()
        self._stall_s = max(self._stall_s, now - self._last_reading)
        self._last_reading = now
        reserve = min(self._stall_s, MAX_RESERVED * self._budget_s)
        return now + reserve >= self._deadline or self._turn.stopped

    def may_begin(self) -> bool:
        """Whether to begin a deeper search: with a clock, unused time is kept for later moves."""
        return time.monotonic() < self._last_beginning
