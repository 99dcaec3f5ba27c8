"""What a search remembers of the positions it has been to.

A score that stands for a win or a loss counts the plies to it. In the search these
are counted from the root, in the table from the position itself, as it may be
reached in another number of moves.
"""

from __future__ import annotations

import enum
from collections.abc import Hashable
from typing import Final, NamedTuple

from engines.bots.evaluation import MATE

BELIEVED: Final = MATE // 2
"""What a win at once is worth that was found by looking at some of the opponent's moves only."""
MAX_PLIES: Final = 128
"""The longest win that is counted in plies."""
PROVEN: Final = MATE - MAX_PLIES
"""Scores from here on are wins that no reply can change."""
DECIDED: Final = BELIEVED - MAX_PLIES
"""Scores from here on count plies."""

TABLE_SIZE: Final = 100_000
"""Positions remembered, at up to a kilobyte each; what comes later is searched unremembered."""


class Bound(enum.IntEnum):
    """What a score says of the true one."""

    AT_MOST = -1
    EXACT = 0
    AT_LEAST = 1


class TableEntry(NamedTuple):
    """What is known of a position, to its mover, after a search of so many plies."""

    depth: int
    score: int
    bound: Bound
    move: str

    def settles(self, depth: int, alpha: int, beta: int, distance: int) -> int | None:
        """The score for a search of ``depth`` within this window; None if it must be searched again."""
        if self.depth < depth:
            return None
        score, bound = seen_from_root(self.score, distance), self.bound
        if bound is Bound.EXACT or (score >= beta if bound is Bound.AT_LEAST else score <= alpha):
            return score
        return None


class TranspositionTable:
    """Positions by their key; what is remembered of one is replaced by what is found later."""

    def __init__(self, size: int = TABLE_SIZE) -> None:
        self._entries: dict[Hashable, TableEntry] = {}
        self._size = size
        self.find = self._entries.get
        """The entry of a key, or None."""

    def __len__(self) -> int:
        return len(self._entries)

    def keep(self, key: Hashable, depth: int, score: int, bound: Bound, move: str, distance: int) -> None:
        if len(self._entries) < self._size or key in self._entries:
            self._entries[key] = TableEntry(depth, seen_from_here(score, distance), bound, move)


def seen_from_here(score: int, distance: int) -> int:
    """A score of the search as the table keeps it, for a position so many plies from the root."""
    if score >= DECIDED:
        return score + distance
    return score - distance if score <= -DECIDED else score


def seen_from_root(score: int, distance: int) -> int:
    """The inverse of ``seen_from_here``."""
    if score >= DECIDED:
        return score - distance
    return score + distance if score <= -DECIDED else score


def disbelieved(score: int) -> int:
    """A loss that rests on some of the moves only, as such; other scores are as they were."""
    return score + (MATE - BELIEVED) if score <= -PROVEN else score
