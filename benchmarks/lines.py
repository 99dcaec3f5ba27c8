"""One long legal line a ladder, for engines that only have to answer at once.

Drawn from a seed, so that there is nothing to keep: random moves, those that would
end the game at once drawn again.
"""

from __future__ import annotations

from typing import Final

from engines.rules.history import History
from engines.rules.playout import Dice
from engines.rules.registry import Variant

PLIES: Final = 100
"""Where the games of a measurement end, by the ply limit, if not before by their rules."""
TRIES: Final = 32
"""Draws of one move."""
SEEDS: Final = {"duovallis": 113, "dogon-kulei": 1972, "duploline": 450}
"""Those of the longest lines, where the first seed's is short: in DuploLine a game is over after 50 plies."""


def draw_line(game: Variant) -> list[str]:
    """The moves of one game, ``PLIES`` of them where the game allows."""
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
