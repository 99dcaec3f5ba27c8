"""Perft of the commands: the counts of the rules, and an end by Ctrl-C."""

from __future__ import annotations

import signal
from types import FrameType

import pytest

from engines.counting import perft, perft_until
from engines.rules import GAMES
from engines.rules import perft as rules_perft


@pytest.mark.slow
@pytest.mark.parametrize("code", GAMES)
def test_it_counts_as_the_rules_do(code: str) -> None:
    start = GAMES[code].position.initial()
    for depth in range(3 if code == "duploline" else 4):
        assert perft(start, depth) == rules_perft(start, depth)


def test_counts_end_before_one_that_would_play_too_many_moves() -> None:
    start = GAMES["dogon-kulei"].position.initial()
    assert perft_until(start, 4, 1_000) == [8, 70, 558, 4882]
    assert perft_until(start, 4, 500) == [8, 70, 558]
    assert perft_until(start, 2, 10**9) == [8, 70]


def test_a_position_that_is_over_counts_no_moves_at_any_depth() -> None:
    over = GAMES["dogon-kulei"].position.parse("0,1,0,0,0,0/0,0,1,0,0,0 b 23 23 - - 21")
    assert perft_until(over, 5, 0) == [0] * 5


class Interrupted(Exception):
    """Raised by the signal."""


def interrupt(number: int, frame: FrameType | None) -> None:
    raise Interrupted


@pytest.mark.parametrize("code", GAMES)
def test_a_count_that_would_take_days_ends_by_a_signal(code: str) -> None:
    before = signal.signal(signal.SIGVTALRM, interrupt)
    try:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0.05)
        with pytest.raises(Interrupted):
            perft(GAMES[code].position.initial(), 60)
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)
