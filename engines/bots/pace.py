"""When to answer: the time for a move, less what the machine may take of it.

A bot that thinks to the last millisecond loses on time as soon as another process
gets in its way. So the longest wait between two looks at the clock is remembered,
from move to move, and kept in reserve.
"""

from __future__ import annotations

import math
import time
from typing import Final

from engines.sdk import BotTurn

FIRST_STALL_S: Final = 0.025
"""What is kept in reserve before anything is known of the machine, on which other engines start just then."""
STALL_KEPT: Final = 0.9
"""How much of the longest wait is expected again in the next move."""
MOST_RESERVED: Final = 0.5
"""The largest part of a move's time that is kept in reserve."""
WORTH_BEGINNING: Final = 0.5
"""The part of a move's time after which no deeper search is begun that the clock could better be spared."""


class SearchPace:
    """The clock of one search after the other; ``begin`` comes before everything else."""

    def __init__(self) -> None:
        self._stall_s = FIRST_STALL_S

    def begin(self, turn: BotTurn) -> None:
        self._turn = turn
        self._asked = time.monotonic()
        started = self._asked - turn.elapsed_ms / 1000
        budget_ms = turn.clock.budget_ms
        self._budget_s = math.inf if budget_ms is None else budget_ms / 1000
        self._deadline = started + self._budget_s
        self._last_beginning = math.inf
        if turn.clock.left_ms is not None:
            self._last_beginning = started + WORTH_BEGINNING * self._budget_s
        self._stall_s *= STALL_KEPT

    def must_answer(self) -> bool:
        """Whether the time is up, or would be if the machine kept us waiting once more; ask at every node."""
        now = time.monotonic()
        self._stall_s = max(self._stall_s, now - self._asked)
        self._asked = now
        reserve = min(self._stall_s, MOST_RESERVED * self._budget_s)
        return now + reserve >= self._deadline or self._turn.should_stop()

    def may_begin(self) -> bool:
        """Whether there is a point in searching deeper: on a clock, time that is not used is not lost."""
        return time.monotonic() < self._last_beginning
