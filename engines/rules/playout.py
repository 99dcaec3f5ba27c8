"""Games played at random, each legal move as likely as any other: the usual measure of a game's speed.

Moves are drawn by a small generator of its own, so that the chances cost next to nothing
compiled, and so that a seed gives the same games in either form of the rules. A module of its own,
because what is in this folder is compiled.
"""

from __future__ import annotations

from typing import Final

from engines.rules.base import MAX_NUMBER, Position
from engines.rules.native import i64

_WORD: Final = 0xFFFFFFFF


class Dice:
    """Numbers by chance: xorshift on 32 bits (Marsaglia 2003), good for games, not for secrets."""

    _state: i64

    def __init__(self, seed: int) -> None:
        """The same seed gives the same numbers; of it only 32 bits count, and 0 counts as 1."""
        self._state = (seed & _WORD) or 1

    def draw(self, count: i64) -> i64:
        """A number from 0 to below ``count``, at most 2**31; the likelihoods differ by 2**-32 at most."""
        state = self._state
        state ^= (state << 13) & _WORD
        state ^= state >> 17
        state ^= (state << 5) & _WORD
        self._state = state
        return (state * count) >> 32


def draw_game(start: Position, ply_limit: int, dice: Dice) -> list[str]:
    """The moves of a random game from ``start`` to the end by the rules of the game, or to the ply limit.

    Repetition ends no game here: it takes a history.
    """
    moves: list[str] = []
    position = start
    left: i64 = min(ply_limit, MAX_NUMBER) - start.ply
    while left > 0:
        count: i64 = position.count_moves()
        if count == 0:
            break
        token = position.move_at(dice.draw(count))
        moves.append(token)
        position = position.play(token)
        left -= 1
    return moves
