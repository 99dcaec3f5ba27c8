"""The meetings of an event in the order of play, so that all players progress evenly."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from engines.pairing.berger import Pair

GAMES_A_PAIR = 2
"""With one opening and opposite colours."""


@dataclass(frozen=True, slots=True)
class PlannedMeeting:
    """A meeting of two players on a ladder. All meetings of a cycle on one ladder have the same openings.

    ``cycle`` counts from 0, ``round`` from 1 over all cycles, ``number`` from 1 over the ladders of a round.
    """

    ladder: str
    cycle: int
    round: int
    number: int
    first: int
    second: int


def plan_meetings(tables: Mapping[str, Sequence[Sequence[Pair]]], cycles: int) -> Iterator[PlannedMeeting]:
    """All meetings: the rounds of each ladder's table, ``cycles`` times.

    The next cycle begins when all ladders have finished theirs, and reverses first and second in every pair.
    """
    rounds = max(len(table) for table in tables.values())
    for cycle in range(cycles):
        for step in range(rounds):
            number = 0
            for ladder, table in tables.items():
                for pair in table[step] if step < len(table) else ():
                    number += 1
                    first, second = reversed(pair) if cycle % 2 else pair
                    yield PlannedMeeting(ladder, cycle, cycle * rounds + step + 1, number, first, second)
