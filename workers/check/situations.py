"""The positions of the compliance check: reached by random moves from a seed, and not decided."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, replace

from engines.rules.base import Position
from engines.rules.history import History
from engines.rules.registry import Variant

LONG_PLIES = 400
_ATTEMPTS = 6
"""How many random games are tried to find a long one, and moves to find one that does not end the game."""


@dataclass(frozen=True, slots=True)
class Situation:
    """Moves from a start (``fen``, None: the initial position), and the position they lead to."""

    fen: str | None
    moves: tuple[str, ...]
    position: Position


def start_of(game: Variant) -> Situation:
    return Situation(None, (), game.position.initial())


def draw_situation(game: Variant, plies: int, seed: int) -> Situation:
    """The position after ``plies`` random plies, or fewer if the game ends earlier."""
    history = History(game)
    rng = random.Random(f"{game.code}/{seed}")
    drawn = start_of(game)
    while len(drawn.moves) < plies and not history.play(_draw_move(history.position, rng)).decided:
        drawn = Situation(None, tuple(history.moves), history.position)
    return drawn


def draw_long_situation(game: Variant, seed: int) -> Situation:
    """The longest of a few random games, of at most ``LONG_PLIES`` plies."""
    drawn = (draw_situation(game, LONG_PLIES, seed + attempt) for attempt in range(_ATTEMPTS))
    return max(drawn, key=lambda situation: len(situation.moves))


def parse_situation(game: Variant, text: str) -> Situation:
    """A position string, which may continue with ``moves`` as in a ``position`` line."""
    fen, _, moves = text.partition(" moves ")
    position = game.position.parse(fen)
    for token in moves.split():
        position = position.play(token)
    return Situation(fen, tuple(moves.split()), position)


def given_as_text(situation: Situation, game: Variant) -> Iterator[Situation]:
    """The same position given as a ``fen`` alone, and as an earlier ``fen`` with the last moves."""
    yield Situation(str(situation.position), (), situation.position)
    position = game.position.initial()
    kept = len(situation.moves) // 2
    for token in situation.moves[:kept]:
        position = position.play(token)
    yield replace(situation, fen=str(position), moves=situation.moves[kept:])


def _draw_move(position: Position, rng: random.Random) -> str:
    """A random move; it does not end the game, if a few attempts find such a move."""
    count = position.count_moves()
    for _ in range(_ATTEMPTS):
        token = position.move_at(rng.randrange(count))
        if not position.play(token).outcome().decided:
            break
    return token
