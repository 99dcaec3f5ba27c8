"""The positions of the compliance check: reached by random moves from a seed, and not decided."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import engines
from engines.rules.base import Position
from engines.rules.history import History
from engines.rules.registry import Variant

LONG_GAMES = Path(engines.__file__).parent / "data" / "long_games"
"""The folder with a file for each ladder: the moves of a game that is far longer than usual."""
_ATTEMPTS = 6
"""How many random moves are tried to find one that does not end the game."""


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


@cache
def read_long_game(game: Variant) -> tuple[Situation, ...]:
    """The situations of a long game, each after one more ply; none is over.

    Its ``position`` line is longer than 512 bytes where the ladder's games allow that.
    """
    situations = [start_of(game)]
    moves = tuple((LONG_GAMES / f"{game.code}.txt").read_text(encoding="ascii").split())
    for plies, token in enumerate(moves, start=1):
        situations.append(Situation(None, moves[:plies], situations[-1].position.play(token)))
    return tuple(situations)


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
