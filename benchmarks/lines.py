"""Draws a long legal line of a ladder, for engines that answer at once.

The moves are random, from a seed; a move that would end the game is drawn again.
"""

from __future__ import annotations

from typing import Final

from engines.rules.history import History
from engines.rules.playout import Dice
from engines.rules.registry import Variant

PLIES: Final = 100
"""The ply limit of measured games."""
TRIES: Final = 32
"""The most draws of one move."""
SEEDS: Final = {"duovallis": 113, "dogon-kulei": 1972, "duploline": 450}
"""By ladder, seeds of long lines; in DuploLine a game has about 50 plies at most."""


def draw_line(game: Variant) -> list[str]:
    """The moves of one game, ``PLIES`` if possible."""
    dice = Dice(SEEDS.get(game.code, 1))
    history = History(game, ply_limit=PLIES)
    while not history.outcome.decided:
        history.play(_draw_move(history, dice))
    return history.moves


def _draw_move(history: History, dice: Dice) -> str:
    position = history.position
    for _ in range(TRIES):
        token = position.move_at(dice.draw(position.count_moves()))
        if not position.play(token).outcome().decided:
            break
    return token
