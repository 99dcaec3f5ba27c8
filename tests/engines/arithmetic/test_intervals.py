"""Intervals for few games and the sequential test over pairs: cautious, and right how often they say."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator
from dataclasses import dataclass
from math import factorial, fsum, prod

import pytest

from engines.arithmetic.intervals import interval, student_limit
from engines.arithmetic.statistics import (
    NORMALIZED_ELO,
    Counts,
    Model,
    Pentanomial,
    StatisticsError,
    Wdl,
    elo_of_score,
    estimate,
    score_of_elo,
)
from engines.rules.base import Result
from tests.support.leads import Pair, said_and_seen
from workers.sequential import SequentialTest, Sprt

WON = {Result.WHITE_WINS: 2, Result.DRAW: 1, Result.BLACK_WINS: 0}
"""White's half points."""


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


@pytest.mark.parametrize(
    ("freedom", "limit"),
    [(1, 12.7062), (2, 4.30265), (10, 2.22814), (29, 2.04523), (1e4, 1.96020), (float("inf"), 1.95996)],
)
def test_student_s_limit_is_that_of_printed_tables(freedom: float, limit: float) -> None:
    assert student_limit(freedom) == pytest.approx(limit, abs=1e-5 * limit)


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
    found = interval(counts)
    low, high = score_of_elo(found.low), score_of_elo(found.high)

    def share(least: float, most: float, prior: float = 0.5) -> float:
        exponents = (wins + prior - 1, losses + prior - 1)
        density = [score ** exponents[0] * (1 - score) ** exponents[1] for score in scores]
        return fsum(d for s, d in zip(scores, density, strict=True) if least < s < most) / fsum(density)

    assert share(0.0, low) == pytest.approx(0.025, abs=1e-3)
    if losses:
        assert share(high, 1.0) == pytest.approx(0.025, abs=1e-3)
    assert found.los == pytest.approx(share(0.5, 1.0, prior=2.5), abs=1e-3)


@pytest.mark.slow
@pytest.mark.parametrize("pairs", [2, 3, 4, 8])
def test_the_likelihood_of_superiority_is_right_as_often_as_it_says(pairs: int) -> None:
    """Of games that are counted as if each were independent; 0.85 was said of the matches of 4 games."""

    def likelihood(match: tuple[Pair, ...]) -> float:
        points = [one for white, black in match for one in (WON[white], 2 - WON[black])]
        return interval(Wdl(points.count(0), points.count(1), points.count(2))).los

    said, seen = said_and_seen(likelihood, pairs)
    assert said - 0.03 < seen


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


@pytest.mark.slow
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


WEIGHTS = (1, 4, 6, 4, 1)
"""Of the pairs' scores between equal engines: those of two engines that draw half of their games."""


def numbers(first: int = 1) -> map[str]:
    return map(str, itertools.count(first))


def test_a_resumed_test_goes_on_with_the_same_bits() -> None:
    source, question = random.Random(1), Sprt(0.0, 30.0)
    whole = SequentialTest(question, numbers())
    for number in range(1, 41):
        resumed = SequentialTest(question, numbers(number), whole.counts)
        assert resumed.ratio == whole.ratio
        points = source.choices(range(5), WEIGHTS)[0]
        for test in (whole, resumed):
            test.add(str(number), points)
        assert (resumed.counts, resumed.ratio) == (whole.counts, whole.ratio)


def test_a_test_that_is_decided_takes_no_further_pair() -> None:
    test = SequentialTest(Sprt(0.0, 100.0), numbers())
    for number in range(1, 1000):
        test.add(str(number), 4)
        if test.is_decided:
            break
    before = test.counts, test.ratio
    test.add(str(number + 1), 0)
    assert (test.verdict, test.counts, test.ratio) == ("H1", *before)


def draws_of(elo: float) -> list[float]:
    """Weights whose normalized Elo is ``elo``: those of equal engines, tilted.

    The tilt moves the mean by ``shift`` and leaves the mean square ``spread`` around 1/2 as it is.
    """
    spread = sum(w * (p / 4 - 0.5) ** 2 for p, w in enumerate(WEIGHTS)) / sum(WEIGHTS)
    deviations = elo / NORMALIZED_ELO
    shift = deviations * (2 * spread / (1 + 2 * deviations**2)) ** 0.5
    return [w * (1 + shift * (p / 4 - 0.5) / spread) for p, w in enumerate(WEIGHTS)]


def verdict_at(elo: float, seed: int, question: Sprt) -> tuple[str, int]:
    """The verdict of a simulated test of engines that differ by ``elo``, and the number of its games."""
    source, weights = random.Random(seed), draws_of(elo)
    test = SequentialTest(question, numbers())
    for number in itertools.count(1):
        test.add(str(number), source.choices(range(5), weights)[0])
        if test.is_decided:
            return test.verdict, test.counts.games
    raise AssertionError("unreachable")


@pytest.mark.thorough
def test_the_errors_of_many_tests_are_as_frequent_as_their_risks() -> None:
    """With 150 tests a share of 5 % is within 0 and 11 %, except in one of a thousand samples."""
    question, tests = Sprt(0.0, 120.0), 150
    null = [verdict_at(0.0, seed, question) for seed in range(tests)]
    alternative = [verdict_at(120.0, seed + tests, question) for seed in range(tests)]
    false_alarms = sum(verdict == "H1" for verdict, _ in null)
    misses = sum(verdict == "H0" for verdict, _ in alternative)
    assert 0 < false_alarms <= 0.11 * tests
    assert 0 < misses <= 0.11 * tests
    mean = sum(games for _, games in null + alternative) / (2 * tests)
    assert mean == pytest.approx(question.expected_games(), rel=0.35)


@pytest.mark.parametrize(
    ("question", "sentence"),
    [
        (Sprt(5.0, 5.0), "elo0 must be below elo1, not 5 and 5"),
        (Sprt(0.0, 201.0), r"elo0 and elo1 must be at most 200 from 0 \(normalized model\)"),
        (Sprt(-1001.0, 0.0, model=Model.LOGISTIC), r"must be at most 1000 from 0 \(logistic model\)"),
        (Sprt(0.0, 5.0, alpha=0.0), "alpha and beta must be above 0"),
        (Sprt(float("nan"), 5.0), "elo0 must be below elo1, not nan and 5"),
    ],
)
def test_impossible_questions_are_refused_in_a_sentence(question: Sprt, sentence: str) -> None:
    with pytest.raises(StatisticsError, match=sentence):
        question.check()


def test_without_pairs_nothing_is_decided() -> None:
    test = SequentialTest(Sprt(0.0, 5.0), numbers(), Pentanomial())
    assert (test.ratio, test.verdict) == (0.0, "")
