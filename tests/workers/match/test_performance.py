"""An engine's Elo from its score against opponents of known Elo."""

from __future__ import annotations

import pytest

from engines.arithmetic.intervals import interval
from engines.arithmetic.statistics import Pentanomial, Wdl, score_of_elo
from workers.match.performance import performance

WON = Wdl(losses=0, draws=0, wins=10)


@pytest.mark.parametrize("elo", [-300.0, 0.0, 250.0])
def test_against_one_opponent_it_is_the_difference_added_to_his_elo(elo: float) -> None:
    counts = Pentanomial(ll=1, ld=2, dd=5, wd=4, ww=8)
    difference, found = interval(counts), performance(counts, [elo] * counts.games)
    assert (found.elo, found.low, found.high) == pytest.approx(
        (elo + difference.elo, elo + difference.low, elo + difference.high), abs=1e-6
    )


def test_an_even_score_against_two_opponents_is_between_them() -> None:
    found = performance(Wdl(losses=10, draws=0, wins=10), [-200.0] * 10 + [200.0] * 10)
    assert found.elo == pytest.approx(0.0, abs=1e-6)
    assert found.low < 0 < found.high


def test_the_expected_score_at_the_performance_is_the_score() -> None:
    opponents = [0.0] * 3 + [150.0] * 5 + [700.0] * 2
    found = performance(Wdl(losses=4, draws=2, wins=4), opponents)
    expected = sum(score_of_elo(found.elo - elo) for elo in opponents)
    assert expected == pytest.approx(5.0, abs=1e-6)


def test_a_perfect_score_is_finite_and_above_every_opponent() -> None:
    found = performance(WON, [300.0] * 10)
    assert 300 < found.low < found.elo <= found.high < 300 + 2000
