"""The interval of the first move's advantage when openings repeat."""

from __future__ import annotations

import json
import math

import pytest

from engines.arithmetic.intervals import student_limit
from engines.arithmetic.statistics import CONFIDENCE
from engines.estimation.estimates import Estimate
from engines.rules.base import Result
from tests.support.estimating import PairTally, Tally, estimate

WHITE, BLACK = Result.WHITE_WINS, Result.BLACK_WINS


def estimate_pairs(*openings: tuple[str, int, int]) -> Estimate:
    """Each with the pairs that White won twice, and those that Black won twice."""
    pairs = [
        PairTally(1, 2, result, result, count, name)
        for name, *counts in openings
        for result, count in zip((WHITE, BLACK), counts, strict=True)
    ]
    return estimate([1, 2], [], pairs)


def test_the_widening_is_that_of_means_over_openings() -> None:
    """Of three openings with 10 pairs, White scores 0.8, 0.5 and 0.2: the mean's variance is 0.09 / 3.

    Over 30 pairs it is 0.25 / 30. Student's limit with two degrees of freedom is 4.30265.
    """
    found = estimate_pairs(("a", 8, 2), ("b", 5, 5), ("c", 2, 8))
    expected = math.sqrt(0.09 / 3 / (0.25 / 30)) * 4.30265 / 1.95996
    assert found.widening.factor == pytest.approx(expected, rel=1e-5)
    usual = estimate_pairs(("", 15, 15))
    assert found.advantage.error == pytest.approx(usual.advantage.error * expected, rel=1e-5)
    assert found.strengths == usual.strengths


@pytest.mark.parametrize(
    "openings", [[("", 15, 15)], [("", 15, 15), ("a", 5, 5)], [("a", 3, 0), ("b", 5, 0)]]
)
def test_nothing_is_widened_without_openings_with_one_among_others_or_without_differences(
    openings: list[tuple[str, int, int]],
) -> None:
    assert estimate_pairs(*openings).widening.factor == 1.0


@pytest.mark.parametrize("openings", [[("a", 15, 15)], [("a", 5, 0)], [("a", 15, 5), ("", 2, 2)]])
def test_with_a_single_opening_the_advantage_is_unknown_and_strengths_are_not(
    openings: list[tuple[str, int, int]],
) -> None:
    found = estimate_pairs(*openings)
    assert found.advantage.error == math.inf
    assert found.advantage.superiority == 0.5
    assert 0 < found.difference(1, 2).error < 1_000
    stored = json.loads(json.dumps(found.to_json()))
    assert Estimate.from_json(stored, found.covariance).advantage == found.advantage


def test_an_opening_of_each_pair_widens_by_what_few_pairs_cost() -> None:
    found = estimate_pairs(*((str(n), n % 2, (n + 1) % 2) for n in range(400)))
    assert 1.0 < found.widening.factor < 1.01


def test_pairs_from_the_start_position_are_independent() -> None:
    """A hundredth of the games, from two openings, takes nothing from what the others tell."""
    found = estimate_pairs(("", 5_000, 5_000), ("a", 30, 20), ("b", 20, 30))
    assert 1.0 < found.widening.factor < 1.05
    assert found.widening.games == 20_200


def test_one_opening_of_very_different_size_does_not_make_the_interval_endless() -> None:
    found = estimate_pairs(("a", 500, 500), ("b", 1, 0))
    assert found.widening.factor < 13


def test_single_games_count_as_pairs_of_one() -> None:
    singles = [Tally(1, 2, WHITE, 10), Tally(1, 2, BLACK, 10)]
    pairs = [PairTally(1, 2, WHITE, WHITE, 3, "a"), PairTally(1, 2, BLACK, BLACK, 3, "b")]
    found = estimate([1, 2], singles, pairs).widening
    within, between = 20 * 1 + 6 * 4, 2 * 36 * 2
    variance = between / within + 20 / 32
    limit = student_limit((variance * within / between) ** 2)
    assert found.factor == pytest.approx(math.sqrt(variance) * limit / CONFIDENCE)
