"""The intervals of the ladders' estimate hold the truth as often as they say, in short simulations."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from benchmarks.coverage import ADVANTAGE_ELO, BIAS_ELO, BOOK, LEAST, MOST, measure, simulate
from tests.support.estimating import Tally, estimate

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("bias", [0.0, BIAS_ELO])
def test_intervals_hold_the_truth_with_independent_games_and_with_shared_openings(bias: float) -> None:
    differences, strengths, _ = measure(10, 300, bias, pools=40).shares
    assert LEAST <= differences <= MOST
    assert LEAST <= strengths <= MOST


@pytest.mark.parametrize("bias", [0.0, BIAS_ELO])
def test_intervals_hold_the_advantage_with_openings_that_repeat(bias: float) -> None:
    held = measure(10, 300, bias, pools=100, book=BOOK).advantage
    assert 90 <= held <= 99


def test_without_their_openings_the_same_games_seem_to_tell_more_of_the_advantage() -> None:
    """Shows that the test above can fail."""
    held, source = 0, np.random.default_rng(1)
    for _ in range(60):
        pool = simulate(source, 10, 300, BIAS_ELO, BOOK)
        found = estimate(range(10), [], [replace(pair, opening="") for pair in pool.pairs])
        held += abs(found.advantage.elo - ADVANTAGE_ELO) <= found.advantage.error
    assert held < 50


def test_without_the_pairs_the_same_simulation_fails() -> None:
    """Shows that the test above can fail: games of biased openings, counted as if they were independent."""
    held = asked = 0
    source = np.random.default_rng(1)
    for _ in range(40):
        pool = simulate(source, 10, 900, BIAS_ELO)
        games = [Tally(p.one, p.other, p.first) for p in pool.pairs]
        games += [Tally(p.other, p.one, p.second) for p in pool.pairs]
        found = estimate(range(10), games)
        for other in range(1, 10):
            gap = found.difference(0, other)
            held += abs(gap.elo - (pool.truth[0] - pool.truth[other])) <= gap.error
            asked += 1
    assert held / asked < 0.92
