"""The transposition table of a search.

The score of a win or a loss contains the number of plies to it. The search counts them
from the root, the table from the position itself, because a position may be reached in
different numbers of moves.
"""

from __future__ import annotations

import enum
from collections.abc import Hashable
from typing import Final, NamedTuple

from engines.bots.evaluation import MATE

UNPROVEN_WIN: Final = MATE // 2
"""The score of an immediate win against candidates only, when other replies were not searched."""
MAX_PLIES: Final = 128
"""The longest win in plies that a score can express."""
PROVEN: Final = MATE - MAX_PLIES
"""Scores from this one on are proven wins."""
DECIDED: Final = UNPROVEN_WIN - MAX_PLIES
"""Scores from this one on are wins, and contain a number of plies."""

TABLE_SIZE: Final = 100_000
"""The most positions stored, at up to a kilobyte each; later ones are not stored."""


class Bound(enum.IntEnum):
    """The relation of a stored score to the true one."""

    AT_MOST = -1
    EXACT = 0
    AT_LEAST = 1


class TableEntry(NamedTuple):
    """The result of a search of ``depth`` plies, from the mover's side."""

    depth: int
    score: int
    bound: Bound
    move: str

    def settles(self, depth: int, alpha: int, beta: int, distance: int) -> int | None:
        """The score for a search of ``depth`` in this window; None if the position must be searched again."""
        if self.depth < depth:
            return None
        score, bound = later(self.score, -distance), self.bound
        if bound is Bound.EXACT or (score >= beta if bound is Bound.AT_LEAST else score <= alpha):
            return score
        return None


class TranspositionTable:
    """Entries by the keys of positions; a later entry replaces an earlier one."""

    def __init__(self, size: int = TABLE_SIZE) -> None:
        self._entries: dict[Hashable, TableEntry] = {}
        self._size = size
        self.find = self._entries.get
        """The entry of a key, or None."""

    def __len__(self) -> int:
        return len(self._entries)

    def keep(self, key: Hashable, depth: int, score: int, bound: Bound, move: str, distance: int) -> None:
        if len(self._entries) < self._size or key in self._entries:
            self._entries[key] = TableEntry(depth, later(score, distance), bound, move)


def later(score: int, plies: int) -> int:
    """A score as it is counted from a position that many plies later; a negative number is earlier."""
    if score >= DECIDED:
        return score + plies
    return score - plies if score <= -DECIDED else score


def unproven(score: int) -> int:
    """Mark a loss as found by searching only some of the moves; other scores are unchanged."""
    return score + (MATE - UNPROVEN_WIN) if score <= -PROVEN else score
