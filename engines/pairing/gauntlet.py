"""Gauntlets: one player against each of the others."""

from __future__ import annotations

from engines.pairing.berger import Pair


def gauntlet_rounds(players: int) -> list[list[Pair]]:
    """Player 1 meets each of the others, one in each round, as (first, second).

    Raises ``ValueError`` for fewer than two players.
    """
    if players < 2:
        raise ValueError(f"a gauntlet needs at least two players, not {players}")
    return [[(1, other)] for other in range(2, players + 1)]
