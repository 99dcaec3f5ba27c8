"""An event's meetings in the order of play: any first part of it is as even as can be."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from workers.pairing.berger import Pair


@dataclass(frozen=True, slots=True)
class PlannedMeeting:
    """Two players who meet on a ladder. All meetings of a cycle on one ladder share their openings.

    ``cycle`` counts from 0, ``round`` from 1 over all cycles, ``number`` from 1 over the ladders of a round.
    """

    ladder: str
    cycle: int
    round: int
    number: int
    first: int
    second: int


def plan_meetings(tables: Mapping[str, Sequence[Sequence[Pair]]], cycles: int) -> Iterator[PlannedMeeting]:
    """The rounds of each ladder's table, ``cycles`` times; ladders with fewer rounds wait for the others.

    Everybody meets everybody of the table on every ladder before anybody meets again, and is second
    in the next cycle where he was first in this.
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
