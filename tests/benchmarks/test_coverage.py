"""The intervals of the ladders' estimate hold the truth as often as they say, in short simulations."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks import coverage
from benchmarks.coverage import BIAS_ELO, LEAST, MOST, measure, simulate
from engines.rules.base import Result
from tournament.arithmetic.estimates import estimate
from tournament.arithmetic.standings import Tally

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("bias", [0.0, BIAS_ELO])
def test_intervals_hold_the_truth_with_independent_games_and_with_shared_openings(bias: float) -> None:
    differences, strengths, _ = measure(10, 300, bias, pools=40).shares
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


def test_a_pair_shares_the_bias_of_its_opening() -> None:
    """Moving first decides most games if the bias is far above the strengths."""
    pool = simulate(np.random.default_rng(2), 4, 500, 3_000.0)
    split = sum(pair.first == pair.second != Result.DRAW for pair in pool.pairs)
    assert split > 400


def test_the_command_prints_a_row_for_each_simulation(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(coverage, "POOLS", ((4, 30),))
    code = coverage.main(["--pools", "2"])
    *head, independent, shared = capsys.readouterr().out.splitlines()
    assert head == coverage.HEAD.splitlines()
    assert ("| independent | 4 | 30 |" in independent, "| shared bias | 4 | 30 |" in shared) == (True, True)
    assert code in {0, 1}
