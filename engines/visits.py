"""The positions that a game visits, so that those of many games can be counted together.

Positions that a symmetry of the rules maps onto each other count as one, and so do their moves. An explorer
and a book of openings are counts of visits.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence
from typing import Final, NamedTuple

from engines.rules.base import Position, Side
from engines.rules.symmetry import Symmetry

PLIES: Final = 40
"""Plies of a game that are counted: later positions hardly ever meet."""


class Visit(NamedTuple):
    """A position of a game, and the move that was played in it."""

    form: Hashable
    """The canonical form of the position."""
    side: Side
    """The side to move."""
    move: str
    """The move as ``canonical_move`` spells it."""


def visits(start: Position, moves: Iterable[str], most: int = PLIES) -> Iterator[Visit]:
    """The first ``most`` plies of a game; a repeated position is visited once. Raises ``IllegalMove``."""
    position, seen = start, set[Hashable]()
    for _, token in zip(range(most), moves, strict=False):
        form, symmetries = position.canonical()
        after = position.play(token)
        if form not in seen:
            seen.add(form)
            yield Visit(form, position.side, canonical_move(symmetries, token))
        position = after


def canonical_move(symmetries: Sequence[Symmetry], token: str) -> str:
    """A move in the canonical form: the least of its names after the symmetries that lead to the form."""
    return min([symmetry.turn(token) for symmetry in symmetries])
