"""The intervals of the ladders' estimate hold the truth as often as they say, in short simulations."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.coverage import BIAS_ELO, LEAST, MOST, measure, simulate
from tournament.arithmetic.estimates import estimate
from tournament.arithmetic.standings import Tally

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("bias", [0.0, BIAS_ELO])
def test_intervals_hold_the_truth_with_independent_games_and_with_shared_openings(bias: float) -> None:
    differences, strengths = measure(10, 300, bias, pools=40).shares
    assert LEAST <= differences <= MOST
    assert LEAST <= strengths <= MOST


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
