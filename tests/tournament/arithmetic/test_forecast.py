"""Forecasts of games, against queues simulated by hand."""

from __future__ import annotations

import itertools
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tournament.arithmetic.forecast import LadderPairs, PlannedStart, QueuedPair, forecast
from tournament.arithmetic.matchmaker import DrawnPair


def pair(first: int, second: int, seconds: float = 10.0) -> QueuedPair:
    return QueuedPair("dualma", (first, second), 2, seconds)


def ladder(code: str, *drawn: tuple[int, int], due_s: float = 0.0, interval_s: float = 60.0) -> LadderPairs:
    pairs = [DrawnPair(number, *two) for number, two in enumerate(drawn, start=1)]
    return LadderPairs(code, due_s, interval_s, pairs, 2, 10.0)


def test_idle_slots_take_queued_pairs_at_once() -> None:
    starts = forecast(2, [], [pair(1, 2), pair(3, 4), pair(1, 3)], 0, []).starts
    assert starts["dualma", 1] == starts["dualma", 2] == PlannedStart(0.0, 0, True)
    assert starts["dualma", 3] == starts["dualma", 4] == PlannedStart(0.0, 2, True)


def test_a_queued_pair_begins_as_soon_as_a_slot_is_free() -> None:
    starts = forecast(2, [4.0, 7.0], [pair(1, 2), pair(3, 4), pair(5, 6), pair(5, 1)], 0, []).starts
    assert [starts["dualma", player].seconds for player in (1, 3, 5)] == [4.0, 7.0, 14.0]
    assert starts["dualma", 5].ahead == 4


def test_a_version_waits_on_each_ladder_by_itself() -> None:
    queued = [pair(1, 2), QueuedPair("duploline", (1, 3), 2, 5.0)]
    starts = forecast(1, [], queued, 0, []).starts
    assert starts["dualma", 1].seconds == 0
    assert starts["duploline", 1].seconds == 10


def test_a_ladder_s_pairs_come_when_they_are_due() -> None:
    found = forecast(1, [], [], 0, [ladder("dualma", (1, 2), (3, 2), (1, 4), due_s=20)])
    assert found.starts["dualma", 2] == PlannedStart(20.0, 0, False)
    assert found.starts["dualma", 3] == PlannedStart(80.0, 2, False)
    assert found.starts["dualma", 4] == PlannedStart(140.0, 4, False)
    assert found.ladders_s == {"dualma": 140.0}


def test_ladders_wait_until_all_of_the_queue_is_taken() -> None:
    queued = [pair(number, number + 1) for number in range(1, 21, 2)]
    found = forecast(2, [], queued, 0, [ladder("duploline", (1, 2))])
    assert found.drained_s == 40.0
    assert found.starts["duploline", 1].seconds == 50.0
    later = forecast(2, [], queued, 1_000, [ladder("duploline", (1, 2))])
    assert later.drained_s == later.starts["duploline", 1].seconds == 550.0


def test_ladders_share_the_slots_in_the_order_in_which_they_are_due() -> None:
    ladders = [ladder("dualma", (1, 2), (3, 4)), ladder("duploline", (1, 2), (3, 4), due_s=5)]
    starts = forecast(1, [], [], 0, ladders).starts
    assert [starts[code, 1].seconds for code in ("dualma", "duploline")] == [0.0, 10.0]
    assert [starts[code, 3].seconds for code in ("dualma", "duploline")] == [60.0, 70.0]


def test_a_rate_above_that_of_the_slots_is_limited_to_theirs() -> None:
    drawn = [(number, number + 1) for number in range(1, 21, 2)]
    found = forecast(2, [], [], 0, [ladder("dualma", *drawn, interval_s=0.1)])
    assert found.starts["dualma", 19].seconds == pytest.approx(40, abs=1)


def test_idle_slots_take_the_early_pairs_of_ladders_in_turns() -> None:
    dualma = replace(ladder("dualma", (1, 2), (3, 4), (5, 6), due_s=25), early=2)
    duploline = replace(ladder("duploline", (1, 2), (3, 4), due_s=60), early=1)
    starts = forecast(1, [], [], 0, [dualma, duploline]).starts
    assert [starts["dualma", player].seconds for player in (1, 3, 5)] == [0.0, 20.0, 30.0]
    assert [starts["duploline", player].seconds for player in (1, 3)] == [10.0, 60.0]


def test_a_pair_that_is_due_comes_before_early_ones() -> None:
    later = replace(ladder("dualma", (1, 2), (3, 4), due_s=100), early=2)
    found = forecast(1, [], [], 0, [later, ladder("duploline", (5, 6), due_s=0)])
    assert found.starts["duploline", 5].seconds == 0.0
    assert [found.starts["dualma", player].seconds for player in (1, 3)] == [10.0, 20.0]


@given(
    st.integers(1, 4),
    st.lists(st.floats(0, 100), max_size=6),
    st.lists(st.tuples(st.integers(1, 9), st.integers(1, 9), st.floats(0, 50)), max_size=20),
)
def test_starts_follow_the_order_of_the_queue(
    slots: int, playing: list[float], rows: list[tuple[int, int, float]]
) -> None:
    found = forecast(slots, playing, [pair(*row) for row in rows], 0, [])
    starts = sorted(found.starts.values(), key=lambda start: start.ahead)
    assert all(one.seconds <= other.seconds for one, other in itertools.pairwise(starts))
    assert all(start.seconds <= found.drained_s for start in starts)
