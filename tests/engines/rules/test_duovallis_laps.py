"""Duovallis: the detection of endless sowings, against counting all laps."""

from __future__ import annotations

import random

import pytest

from engines.rules import duovallis
from engines.rules.duovallis import ENDLESS, MAX_LAPS, RING, Stones


def stones_on_path(places: list[int]) -> Stones:
    """One colour's stones, so many at each place of the mover's path and none in the opponent's rows."""
    return duovallis._pack_all([*places, *[0] * 10])


def test_the_shortcut_for_endless_sowings_gives_the_verdict_of_counting_laps() -> None:
    rng = random.Random(11)
    verdicts = set()
    for _ in range(3000):
        own, other = [0] * RING, [0] * RING
        for stones, number in ((own, rng.randint(3, 15)), (other, rng.randint(0, 4))):
            for _ in range(number):
                stones[rng.randrange(RING)] += 1
        start = max(range(RING), key=lambda place: (own[place] >= other[place], own[place] + other[place]))
        end = duovallis._sow(stones_on_path(own), stones_on_path(other), start)[2]
        laps = count_laps(own, other, start)
        assert (end == ENDLESS) == (laps > MAX_LAPS)
        verdicts.add(laps > MAX_LAPS)
    assert verdicts == {True, False}


@pytest.mark.parametrize(
    ("own", "other", "start", "laps"),
    [
        ([3, 4, 3, 5, 3, 2, 3, 6, 3, 0, 4, 0, 2, 2], [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 1, 0], 3, 9_097),
        ([5, 4, 2, 5, 4, 3, 4, 1, 4, 1, 2, 1, 4, 3], [0, 0, 1, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0], 2, 10_382),
    ],
)
def test_the_last_lap_allowed_is_the_limit_itself(
    own: list[int], other: list[int], start: int, laps: int
) -> None:
    def ends_within(limit: int) -> bool:
        return duovallis._sow(stones_on_path(own), stones_on_path(other), start, limit)[2] != ENDLESS

    assert ends_within(laps)
    assert not ends_within(laps - 1)


def count_laps(own: list[int], other: list[int], place: int) -> int:
    """The laps of a sowing, stone after stone, in place; no more than one over the limit."""
    for lap in range(1, MAX_LAPS + 1):
        stones = [other] * other[place] + [own] * own[place]
        own[place] = other[place] = 0
        occupied = False
        for colour in stones:
            place = (place + 1) % RING
            occupied = own[place] + other[place] > 0
            colour[place] += 1
        if not occupied or own[place] < other[place]:
            return lap
    return MAX_LAPS + 1
