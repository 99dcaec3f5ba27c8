"""Checks that an engine knows the rules where they are seldom used: quick moves from hard positions.

Each raises ``CheckFailed``, or returns if the engine passes.
"""

from __future__ import annotations

import random
import time
from collections.abc import Iterator

from engines.hard_positions import HARD_POSITIONS
from engines.protocol import Go
from engines.rules.base import Position
from engines.rules.registry import Variant
from workers.check.checked_engine import CheckedEngine
from workers.check.protocol_checks import ANSWER_SECONDS
from workers.check.situations import Situation, parse_situation, start_of

QUICK_SEARCH = Go(movetime_ms=20, nodes=20, depth=1)
MAX_MOVES = 400
MAX_SECONDS = 8.0
"""The check ends after this time on each ladder; a slow engine is asked for fewer moves."""
MAX_SHARE = 0.1
"""The most of the remaining time of the whole check for one ladder."""
FOLLOWED_PLIES = 6
"""How many moves are played from a hard position."""
GAME_PLIES = 60
TRIED_MOVES = 12
"""The number of random moves of which the one is chosen that changes the board most, such as a long
capture."""
_SEED = 2027


def knows_rare_rules(engine: CheckedEngine, game: Variant) -> None:
    """The engine is asked at each position of the lines; answers of ``resign`` are accepted."""
    process = engine.begin_game(game)
    end = time.monotonic() + min(MAX_SECONDS, MAX_SHARE * engine.budget.seconds_left)
    for number, situation in enumerate(_situations(game)):
        if number == MAX_MOVES or time.monotonic() > end:
            return
        process.search(situation, QUICK_SEARCH, ANSWER_SECONDS)


def _situations(game: Variant) -> Iterator[Situation]:
    """Hard positions, with lines of play from each, then positions of whole games of large changes."""
    starts = [parse_situation(game, text) for text in HARD_POSITIONS.get(game.code, ())]
    yield from starts
    lines = [_line(start, FOLLOWED_PLIES, seed) for seed in range(2) for start in starts]
    lines += [_line(start_of(game), GAME_PLIES, seed) for seed in range(2, MAX_MOVES)]
    for line in lines:
        yield from line


def _line(start: Situation, plies: int, seed: int) -> Iterator[Situation]:
    """The positions after each move of a line; ends with the game."""
    rng = random.Random(f"{_SEED}/{seed}/{start.fen}")
    situation = start
    for _ in range(plies):
        token = _eventful_move(situation.position, rng)
        position = situation.position.play(token)
        if position.outcome().decided:
            return
        situation = Situation(start.fen, (*situation.moves, token), position)
        yield situation


def _eventful_move(position: Position, rng: random.Random) -> str:
    """Of some random moves the one that changes the position string most."""
    count = position.count_moves()
    tokens = [position.move_at(rng.randrange(count)) for _ in range(min(TRIED_MOVES, count))]
    before = _words(position)
    return max(tokens, key=lambda token: _changes(before, _words(position.play(token))))


def _words(position: Position) -> list[str]:
    return str(position).replace("/", ",").replace(" ", ",").split(",")


def _changes(before: list[str], after: list[str]) -> int:
    return sum(one != two for one, two in zip(before, after, strict=False)) + abs(len(before) - len(after))
