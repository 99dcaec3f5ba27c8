"""Random games, with all legal moves equally likely; used to measure the speed of the rules.

Moves are drawn by a small random generator of this module, which costs almost nothing when
compiled and gives the same games for a seed in both forms of the rules.
"""

from __future__ import annotations

from typing import Final

from engines.rules.base import MAX_NUMBER, Position
from engines.rules.native import i64

_WORD: Final = 0xFFFFFFFF


class Dice:
    """A random generator: xorshift on 32 bits (Marsaglia 2003), not for secrets."""

    _state: i64

    def __init__(self, seed: int) -> None:
        """The same seed gives the same numbers; only its lowest 32 bits are used, and 0 means 1."""
        self._state = (seed & _WORD) or 1

    def draw(self, count: i64) -> i64:
        """A number from 0 to ``count - 1``; ``count`` is at most 2**31, probabilities differ by 2**-32."""
        state = self._state
        state ^= (state << 13) & _WORD
        state ^= state >> 17
        state ^= (state << 5) & _WORD
        self._state = state
        return (state * count) >> 32


def draw_game(start: Position, ply_limit: int, dice: Dice) -> list[str]:
    """The moves of a random game from ``start`` to the end by the rules of the game, or to the ply limit.

    Repetition does not end these games.
    """
    moves: list[str] = []
    position = start
    left: i64 = min(ply_limit, MAX_NUMBER) - start.ply
    while left > 0:
        count: i64 = position.count_moves()
        if count == 0:
            break
        token, position = position.play_at(dice.draw(count))
        moves.append(token)
        left -= 1
    return moves
