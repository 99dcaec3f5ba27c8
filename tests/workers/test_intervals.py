"""Intervals for few games: cautious after one pair, and right how often they say."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import factorial, fsum, prod

import pytest

from workers.intervals import interval
from workers.statistics import Counts, Pentanomial, Wdl, elo_of_score, estimate, score_of_elo


def test_one_won_pair_is_no_certainty() -> None:
    found = interval(Pentanomial(ww=1))
    assert 0.7 < found.los < 0.8
    assert found.low < -100
    assert found.high == found.elo == pytest.approx(1199.8, abs=0.1)


def test_a_few_equal_pairs_leave_the_difference_open() -> None:
    found = interval(Pentanomial(dd=3))
    assert (found.elo, found.los) == pytest.approx((0.0, 0.5))
    assert found.high == pytest.approx(-found.low)
    assert 100 < found.high < 200


@pytest.mark.parametrize("counts", [Pentanomial(), Wdl()])
def test_without_games_nothing_is_known(counts: Counts) -> None:
    found = interval(counts)
    assert (found.elo, found.los) == pytest.approx((0.0, 0.5))
    assert found.high == pytest.approx(-found.low)
    assert found.high > 300


@pytest.mark.parametrize("counts", [Pentanomial(10789, 19328, 33806, 19402, 10543), Wdl(9600, 11100, 13600)])
def test_for_many_games_it_is_the_usual_interval(counts: Counts) -> None:
    found, usual = interval(counts), estimate(counts)
    assert found.elo == pytest.approx(usual.elo, abs=1e-3)
    assert (found.high - found.low) / 2 == pytest.approx(usual.error, rel=1e-2)
    assert found.los == pytest.approx(usual.los, abs=1e-3)


@dataclass(frozen=True, slots=True)
class Decided(Counts):
    """Games without draws."""

    losses: int
    wins: int

    games_each = 1


@pytest.mark.parametrize("counts", [Decided(2, 3), Decided(0, 4), Decided(30, 7)])
def test_for_two_cells_it_is_that_of_the_beta_distribution(counts: Decided) -> None:
    """Compared with sums over the density."""
    losses, wins = counts.cells
    steps = 200_000
    scores = [(step + 0.5) / steps for step in range(steps)]
    density = [score ** (wins - 0.5) * (1 - score) ** (losses - 0.5) for score in scores]
    found = interval(counts)
    low, high = score_of_elo(found.low), score_of_elo(found.high)

    def share(least: float, most: float) -> float:
        return fsum(d for s, d in zip(scores, density, strict=True) if least < s < most) / fsum(density)

    assert share(0.0, low) == pytest.approx(0.025, abs=1e-3)
    if losses:
        assert share(high, 1.0) == pytest.approx(0.025, abs=1e-3)
    assert found.los == pytest.approx(share(0.5, 1.0), abs=1e-3)


def outcomes(number: int, cells: int) -> Iterator[tuple[int, ...]]:
    """All counts of ``number`` pairs."""
    if cells == 1:
        yield (number,)
        return
    for count in range(number + 1):
        for rest in outcomes(number - count, cells - 1):
            yield (count, *rest)


STRENGTHS = {
    "even": (0.25, 0.0, 0.5, 0.0, 0.25),
    "drawish": (0.01, 0.04, 0.9, 0.04, 0.01),
    "stronger": (0.05, 0.2, 0.4, 0.25, 0.1),
    "much stronger": (0.01, 0.04, 0.15, 0.3, 0.5),
    "crushing": (0.0, 0.01, 0.03, 0.06, 0.9),
    "all or nothing": (0.5, 0.0, 0.0, 0.0, 0.5),
}


@pytest.mark.parametrize("pairs", [3, 10])
def test_it_contains_the_true_difference_about_as_often_as_it_says(pairs: int) -> None:
    """Computed over all outcomes."""
    found = [(counts, interval(Pentanomial(*counts))) for counts in outcomes(pairs, 5)]
    for name, shares in STRENGTHS.items():
        true = elo_of_score(sum(share * place / 4 for place, share in enumerate(shares)))
        covered = sum(
            factorial(pairs) * prod(share**n / factorial(n) for share, n in zip(shares, counts, strict=True))
            for counts, one in found
            if one.low - 1e-9 <= true <= one.high + 1e-9
        )
        assert covered > (0.87 if pairs == 3 else 0.93), name
