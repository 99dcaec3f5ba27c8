"""Round robins by the Berger tables.

Source: FIDE Handbook C.05 annex 1. Players are numbers from 1.
"""

from __future__ import annotations

Pair = tuple[int, int]


def berger_rounds(players: int) -> list[list[Pair]]:
    """The rounds of one cycle, each a list of (first, second); everybody meets everybody once.

    With an odd number of players one of them rests each round. Raises
    ``ValueError`` for fewer than two.
    """
    if players < 2:
        raise ValueError(f"a round robin needs at least two players, not {players}")
    seats = players + players % 2
    pairs_by_round = [_round(seats, number) for number in range(seats - 1)]
    return [[pair for pair in pairs if max(pair) <= players] for pairs in pairs_by_round]


def _round(seats: int, number: int) -> list[Pair]:
    """Round ``number`` (from 0): the last seat meets whoever the table's wheel has on top."""
    wheel = seats - 1
    top = number * (seats // 2) % wheel
    opening: Pair = (top + 1, seats) if number % 2 == 0 else (seats, top + 1)
    return [opening] + [((top + step) % wheel + 1, (top - step) % wheel + 1) for step in range(1, seats // 2)]
