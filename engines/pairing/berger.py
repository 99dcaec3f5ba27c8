"""Round robins by the Berger tables.

Source: FIDE Handbook C.05 annex 1. Players are numbers from 1.
"""

from __future__ import annotations

Pair = tuple[int, int]


def berger_rounds(players: int) -> list[list[Pair]]:
    """The rounds of one cycle, each a list of (first, second); all players meet each other once.

    With an odd number of players one player has a bye in each round. Raises ``ValueError`` for fewer than two
    players.
    """
    if players < 2:
        raise ValueError(f"a round robin needs at least two players, not {players}")
    even = players + players % 2
    pairs_by_round = [_round(even, number) for number in range(even - 1)]
    return [[pair for pair in pairs if max(pair) <= players] for pairs in pairs_by_round]


def _round(players: int, number: int) -> list[Pair]:
    """Round ``number`` (from 0) of an even number of players: the last one stays, the others rotate."""
    others = players - 1
    top = number * (players // 2) % others
    last: Pair = (top + 1, players) if number % 2 == 0 else (players, top + 1)
    steps = range(1, players // 2)
    return [last] + [((top + step) % others + 1, (top - step) % others + 1) for step in steps]
