"""The common part of the sowing games: words of holes, and positions with few moves.

A word is a machine word with one byte for each hole, the first hole lowest. So a sowing of any number of
stones is one addition. No hole may contain more than 127 stones: then no byte overflows, and
the eighth byte does not make the word negative.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Final

from engines.rules.base import Outcome, Position, Side
from engines.rules.native import i64

HOLE_BITS: Final = 8
HOLE_MASK: Final = 255
"""The first hole of a word."""
WORD_HOLES: Final = 8
"""The number of holes that fit into a word."""
WORD_BITS: Final = WORD_HOLES * HOLE_BITS


def pack(holes: Sequence[int]) -> int:
    """The word of up to ``WORD_HOLES`` holes with these numbers of stones."""
    return int.from_bytes(bytes(holes), "little")


def unpack(word: i64, holes: i64) -> bytes:
    """The stones in each of the first ``holes`` holes."""
    return int(word).to_bytes(int(holes), "little")


def add_up(word: i64) -> i64:
    """The number of stones in a word, if under 255: the remainder by 255 is the sum of the bytes."""
    return word % 255


SIDES: Final = tuple(Side)


class SowingPosition(Position):
    """A position with about a dozen moves; the outcome is computed once and kept."""

    __slots__ = ("_judged", "_ply", "_side")

    def __init__(self, side: i64, ply: i64) -> None:
        self._side = side
        self._ply = ply
        self._judged: Outcome | None = None

    @abstractmethod
    def _judge(self) -> Outcome:
        """Compute the outcome."""

    @property
    def side(self) -> Side:
        return SIDES[self._side]

    @property
    def ply(self) -> int:
        return self._ply

    def outcome(self) -> Outcome:
        if self._judged is None:
            self._judged = self._judge()
        return self._judged
