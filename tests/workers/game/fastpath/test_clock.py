"""Clocks: the limits of a move, the charged time, and increments."""

from __future__ import annotations

import pytest

from engines.timecontrol import parse_time_control
from workers.game.fastpath.clock import GameClock

MS = 1_000_000


def clock(control: str, margin_ms: int = 50) -> GameClock:
    return GameClock(parse_time_control(control), margin_ms)


def test_the_margin_is_granted_on_each_move_and_not_taken_from_the_clock() -> None:
    ours = clock("1+0")
    assert ours.allowance_ns == 1050 * MS
    ours.charge(400 * MS)
    assert (ours.left_ms, ours.allowance_ns) == (600, 650 * MS)


@pytest.mark.parametrize(
    ("control", "used_ns", "left_ns", "left_ms"),
    [
        ("1+0", 1, 1000 * MS - 1, 999),  # an engine is never told more than it has
        ("1+0.5", 200 * MS, 1300 * MS, 1300),  # the increment is added after the move
        ("1+0", 1049 * MS, 0, 0),  # a move within the margin leaves nothing
        ("1+0.5", 1049 * MS, 500 * MS, 500),  # but the increment
    ],
)
def test_a_move_is_charged_and_the_increment_added(
    control: str, used_ns: int, left_ns: int, left_ms: int
) -> None:
    ours = clock(control)
    ours.charge(used_ns)
    assert (ours.left_ns, ours.left_ms) == (left_ns, left_ms)
    assert ours.allowance_ns == left_ns + 50 * MS


@pytest.mark.parametrize(
    ("control", "allowance_ms"),
    [("0.1/move", 150), ("10+0;0.1/move", 150), ("0.05+0;0.1/move", 100), ("10+1;nodes=5", 10_050)],
)
def test_the_shortest_limit_holds_with_the_margin_on_top(control: str, allowance_ms: int) -> None:
    assert clock(control).allowance_ns == allowance_ms * MS


def test_a_time_for_the_move_is_the_same_on_each() -> None:
    ours = clock("0.1/move", margin_ms=0)
    ours.charge(90 * MS)
    assert ours.left_ms is None
    assert ours.allowance_ns == 100 * MS


def test_without_a_time_no_flag_can_fall() -> None:
    ours = clock("nodes=1000;depth=3")
    ours.charge(10**12)
    assert (ours.left_ms, ours.allowance_ns) == (None, None)
