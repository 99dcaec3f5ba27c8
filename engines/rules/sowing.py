"""What the sowing games share: words of holes, and positions with few moves.

A word is a machine word that holds a byte a hole, the first hole lowest. So a sowing is an
addition, whatever the number of stones. No hole may ever hold more than 127: then no byte runs
over, and the eighth does not make the word negative.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from typing import Final

from engines.rules.base import Outcome, Position, Side
from engines.rules.native import i64

HOLE_BITS: Final = 8
HOLE_MASK: Final = 255
"""The first hole of a word."""
WORD_HOLES: Final = 8
"""The most holes that a word has room for."""
WORD_BITS: Final = WORD_HOLES * HOLE_BITS


def pack(holes: Sequence[int]) -> int:
    """The word of up to ``WORD_HOLES`` holes that hold so many stones."""
    return int.from_bytes(bytes(holes), "little")


def unpack(word: i64, holes: i64) -> bytes:
    """The stones in each of the first ``holes`` holes."""
    return int(word).to_bytes(int(holes), "little")


def add_up(word: i64) -> i64:
    """All stones of a word, if they are under 255: that leaves 1 of 256, and so of a word its bytes' sum."""
    return word % 255


SIDES: Final = tuple(Side)


class SowingPosition(Position):
    """A position with a dozen moves or so: they are found all together and once, as is the outcome."""

    __slots__ = ("_judged", "_moves", "_ply", "_side")

    def __init__(self, side: i64, ply: i64) -> None:
        self._side = side
        self._ply = ply
        self._moves: tuple[str, ...] | None = None
        self._judged: Outcome | None = None

    @abstractmethod
    def _find_moves(self) -> tuple[str, ...]:
        """The legal tokens in their order, found anew."""

    @abstractmethod
    def _judge(self) -> Outcome:
        """What ``outcome`` says, found anew."""

    @property
    def side(self) -> Side:
        return SIDES[self._side]

    @property
    def ply(self) -> int:
        return self._ply

    def legal_moves(self) -> Iterator[str]:
        return iter(self._remember_moves())

    def count_moves(self) -> int:
        return len(self._remember_moves())

    def move_at(self, index: int) -> str:
        moves = self._remember_moves()
        if 0 <= index < len(moves):
            return moves[index]
        raise IndexError(f"no legal move at index {index}")

    def outcome(self) -> Outcome:
        if self._judged is None:
            self._judged = self._judge()
        return self._judged

    def _remember_moves(self) -> tuple[str, ...]:
        if self._moves is None:
            self._moves = self._find_moves()
        return self._moves
