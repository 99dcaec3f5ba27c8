"""Random openings. The same seed gives the same openings."""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import count, islice

from engines.rules.history import History
from engines.rules.registry import Variant

TRIES = 200
"""The largest number of draws for one opening: a draw that ends the game or repeats an opening is
drawn again."""

Opening = tuple[str, ...]


class OpeningError(ValueError):
    """No opening of this length was found; the text is a sentence."""


def draw_openings(game: Variant, plies: int, seed: int, number: int) -> list[Opening]:
    """The first ``number`` of ``iter_openings``."""
    return list(islice(iter_openings(game, plies, seed), number))


def iter_openings(game: Variant, plies: int, seed: int) -> Iterator[Opening]:
    """An endless sequence of openings of ``plies`` legal moves each; none ends the game.

    Each ply is drawn uniformly from the legal moves. Opening number ``i`` depends only on the seed,
    the game and the openings before it. Openings differ as long as new ones are found; with 0 plies
    all are empty. Raises ``OpeningError`` if nearly all random games end within ``plies``.
    """
    known: set[str] = set()
    for number in count():
        opening = _draw_new(game, plies, f"{seed}/{game.code}/{number}", known)
        known.add(" ".join(opening))  # a fifth of the memory of a tuple of moves
        yield opening


def _draw_new(game: Variant, plies: int, seed: str, known: set[str]) -> Opening:
    """The first draw that is not in ``known``, or a known one if no draw is new."""
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


def _draw(game: Variant, plies: int, source: random.Random) -> Opening | None:
    """Random moves from the start; None if the game ended during them."""
    history = History(game)
    for _ in range(plies):
        if history.play(source.choice(list(history.position.legal_moves()))).decided:
            return None
    return tuple(history.moves)
