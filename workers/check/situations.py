"""What an engine is asked about: positions reached by chance from a seed, none of them decided."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, replace

from engines.rules.base import Position
from engines.rules.history import History
from engines.rules.registry import Variant

LONG_PLIES = 400
_ATTEMPTS = 6
"""Games drawn to find a long one, and moves drawn to find one that does not end the game."""


@dataclass(frozen=True, slots=True)
class Situation:
    """Moves from a start (``fen``, None: the initial position), and the position they lead to."""

    fen: str | None
    moves: tuple[str, ...]
    position: Position


def start_of(game: Variant) -> Situation:
    return Situation(None, (), game.position.initial())


def draw_situation(game: Variant, plies: int, seed: int) -> Situation:
    """A game so many plies old, or fewer if it cannot be drawn out so long."""
    history = History(game)
    dice = random.Random(f"{game.code}/{seed}")
    drawn = start_of(game)
    while len(drawn.moves) < plies and not history.play(_draw_move(history.position, dice)).decided:
        drawn = Situation(None, tuple(history.moves), history.position)
    return drawn


def draw_long_situation(game: Variant, seed: int) -> Situation:
    """The longest of a few games: hundreds of plies where a game can last so long."""
    drawn = (draw_situation(game, LONG_PLIES, seed + attempt) for attempt in range(_ATTEMPTS))
    return max(drawn, key=lambda situation: len(situation.moves))


def given_as_text(situation: Situation, game: Variant) -> Iterator[Situation]:
    """The same position as a ``fen``: alone, and an earlier one with the last moves after it."""
    yield Situation(str(situation.position), (), situation.position)
    position = game.position.initial()
    kept = len(situation.moves) // 2
    for token in situation.moves[:kept]:
        position = position.play(token)
    yield replace(situation, fen=str(position), moves=situation.moves[kept:])


def _draw_move(position: Position, dice: random.Random) -> str:
    """A move drawn by lot, one that does not end the game if a few draws find any."""
    count = position.count_moves()
    for _ in range(_ATTEMPTS):
        token = position.move_at(dice.randrange(count))
        if not position.play(token).outcome().decided:
            break
    return token
