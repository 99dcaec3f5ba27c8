"""The sequential test over pairs: resuming it, and how often it errs."""

from __future__ import annotations

import random
from itertools import count

import pytest

from workers.sequential import SequentialTest, Sprt
from workers.statistics import NORMALIZED_ELO, Model, Pentanomial, StatisticsError

WEIGHTS = (1, 4, 6, 4, 1)
"""Of the pairs' scores between equal engines: those of two engines that draw half of their games."""


def numbers(first: int = 1) -> map[str]:
    return map(str, count(first))


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
    for number in count(1):
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
