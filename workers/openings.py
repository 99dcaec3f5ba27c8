"""Openings drawn at random, the same for everybody who states the same seed."""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import count, islice

from engines.rules.history import History
from engines.rules.registry import Game

MAX_PLIES = 40
"""More drawn plies would leave little of a game to the bots."""
TRIES = 200
"""How often a draw is repeated that met the end of the game, or an opening drawn before."""

Opening = tuple[str, ...]


class OpeningError(ValueError):
    """No opening of this length was found; the text is one sentence."""


def draw_openings(game: Game, plies: int, seed: int, number: int) -> list[Opening]:
    """The first ``number`` of ``iter_openings``."""
    return list(islice(iter_openings(game, plies, seed), number))


def iter_openings(game: Game, plies: int, seed: int) -> Iterator[Opening]:
    """Openings of ``plies`` legal moves each, without end; none ends the game.

    Each ply is drawn uniformly from the legal moves. The opening number ``i`` depends on
    seed, game and those before it alone. All differ while there are enough to be found; with 0 plies
    all are empty. Raises ``OpeningError`` where games of this length end almost always.
    """
    known: set[str] = set()
    for number in count():
        opening = _draw_new(game, plies, f"{seed}/{game.code}/{number}", known)
        known.add(" ".join(opening))  # a fifth of the memory of the moves one by one
        yield opening


def _draw_new(game: Game, plies: int, seed: str, known: set[str]) -> Opening:
    """The first draw not in ``known``, or a repeated one where that is all there is."""
    repeated: Opening | None = None
    tries = TRIES if plies else 1
    for attempt in range(tries):
        opening = _draw(game, plies, random.Random(f"{seed}/{attempt}"))
        if opening is None:
            continue
        if " ".join(opening) not in known:
            return opening
        repeated = opening
    if repeated is None:
        raise OpeningError(f"opening plies: no random game of {game.name} lasted {plies} plies")
    return repeated


def _draw(game: Game, plies: int, source: random.Random) -> Opening | None:
    """One random walk from the start; None if the game ended on the way."""
    history = History(game)
    for _ in range(plies):
        if history.play(source.choice(list(history.position.legal_moves()))).decided:
            return None
    return tuple(history.moves)
