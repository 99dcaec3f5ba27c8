"""Estimates of strength: known values, error bars, order."""

from __future__ import annotations

import json
import math
import random
from collections import Counter

import numpy as np
import pytest

from engines.arithmetic.statistics import CONFIDENCE, ELO, superiority
from engines.estimation import interpolation
from engines.estimation.estimates import Estimate
from engines.rules.base import Result
from tests.support.estimating import PairTally, Tally, estimate
from tests.support.leads import Pair, said_and_seen

WHITE, BLACK, DRAW = Result.WHITE_WINS, Result.BLACK_WINS, Result.DRAW
FLAT = 1e6
"""A prior without influence."""


def both_ways(wins: int, losses: int) -> list[Tally]:
    """Player 1 against 2 with either colour, so that the advantage of moving first is zero."""
    return [
        Tally(1, 2, WHITE, wins),
        Tally(2, 1, BLACK, wins),
        Tally(1, 2, BLACK, losses),
        Tally(2, 1, WHITE, losses),
    ]


def test_sixty_to_forty_is_seventy_elo() -> None:
    found = estimate([1, 2], both_ways(3_000, 2_000), prior_elo=FLAT).difference(1, 2)
    assert found.elo == pytest.approx(400 * math.log10(1.5), abs=0.1)
    assert found.error == pytest.approx(1.96 * ELO / math.sqrt(10_000 * 0.6 * 0.4), rel=0.01)


def test_sixteen_times_the_games_give_a_quarter_of_the_error() -> None:
    few = estimate([1, 2], both_ways(30, 20), prior_elo=FLAT).difference(1, 2)
    many = estimate([1, 2], both_ways(480, 320), prior_elo=FLAT).difference(1, 2)
    assert many.error == pytest.approx(few.error / 4, rel=0.02)


def test_strengths_are_relative_to_their_mean() -> None:
    found = estimate([1, 2], both_ways(60, 40))
    assert found.strengths[1].elo == pytest.approx(-found.strengths[2].elo)
    assert found.strengths[1].elo == pytest.approx(found.difference(1, 2).elo / 2)


def test_an_anchor_is_zero_and_the_differences_stay() -> None:
    free = estimate([1, 2, 3], [*both_ways(60, 40), Tally(2, 3, WHITE, 60), Tally(3, 2, WHITE, 40)])
    fixed = free.anchored(3)
    assert fixed.strengths[3].elo == 0
    assert fixed.anchor == free.strengths[3]
    assert fixed.difference(1, 2).elo == pytest.approx(free.difference(1, 2).elo)
    assert Estimate.from_json(json.loads(json.dumps(fixed.to_json())), fixed.covariance) == fixed
    with pytest.raises(ValueError, match="anchor already"):
        fixed.anchored(1)
    with pytest.raises(KeyError):
        free.anchored(9)


def test_without_games_nothing_is_estimated() -> None:
    found = estimate([1, 2, 3], [])
    assert all(abs(strength.elo) < 1e-6 for strength in found.strengths.values())
    assert found.superiority(1, 2) == pytest.approx(0.5)
    assert all(strength.error > 500 for strength in found.strengths.values())


def test_a_clean_score_stays_finite() -> None:
    found = estimate([1, 2], both_ways(50, 0))
    assert 400 < found.difference(1, 2).elo < 2_000
    assert found.superiority(1, 2) > 0.999


def test_draws_among_equals_widen_the_margin() -> None:
    """Half the games drawn between equals: tanh(margin / 2) is a half."""
    found = estimate([1, 2], [*both_ways(500, 500), Tally(1, 2, DRAW, 1_000), Tally(2, 1, DRAW, 1_000)])
    assert math.tanh(found.margin / ELO / 2) == pytest.approx(0.5, abs=0.001)
    assert found.difference(1, 2).elo == pytest.approx(0, abs=1e-6)


def test_the_advantage_of_moving_first_is_separate_from_strength() -> None:
    found = estimate(
        [1, 2],
        [Tally(1, 2, WHITE, 640), Tally(1, 2, BLACK, 360), Tally(2, 1, WHITE, 640), Tally(2, 1, BLACK, 360)],
    )
    assert found.advantage.elo == pytest.approx(400 * math.log10(640 / 360), abs=1)
    assert found.difference(1, 2).elo == pytest.approx(0, abs=1e-6)


def test_order_and_grouping_do_not_matter_to_the_bit() -> None:
    source = random.Random(3)
    pairs = [source.sample(range(8), 2) for _ in range(300)]
    tallies = [Tally(white, black, source.choice([WHITE, BLACK, DRAW])) for white, black in pairs]
    found = estimate(range(8), tallies)
    source.shuffle(tallies)
    assert estimate(range(8), tallies) == found


def make_pairs(source: random.Random, players: int, count: int) -> list[PairTally]:
    """Of players in the order of their strength; the opening's bias favours White in both games."""
    found = []
    for _ in range(count):
        one, other = source.sample(range(players), 2)
        bias, gap = source.gauss(0.2, 0.8), (other - one) / players * 3
        found.append(PairTally(one, other, play(source, bias + gap), play(source, bias - gap)))
    return found


def play(source: random.Random, lead: float) -> Result:
    drawn = source.random()
    if drawn < 1 / (1 + math.exp(0.3 - lead)):
        return WHITE
    return DRAW if drawn < 1 / (1 + math.exp(-0.3 - lead)) else BLACK


@pytest.mark.parametrize("grid", [False, True])
def test_order_and_grouping_of_pairs_do_not_matter_to_the_bit(
    grid: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With ``one`` and ``other`` exchanged, in any order, and equal pairs counted together or not."""
    evaluate(monkeypatch, grid=grid)
    source = random.Random(4)
    pairs = make_pairs(source, 8, 400)
    singles = [Tally(p.one, p.other, p.first) for p in make_pairs(source, 8, 200)]
    found = estimate(range(8), singles, pairs)
    counts = Counter(
        source.choice([(p.one, p.other, p.first, p.second), (p.other, p.one, p.second, p.first)])
        for p in pairs
    )
    grouped = [PairTally(*key, count) for key, count in counts.items()]
    source.shuffle(grouped)
    source.shuffle(singles)
    again = estimate(range(8), singles, grouped)
    assert again == found
    assert np.array_equal(again.covariance, found.covariance)


def test_functions_interpolated_on_a_grid_give_the_same_estimate(monkeypatch: pytest.MonkeyPatch) -> None:
    source = random.Random(5)
    pairs = make_pairs(source, 25, 4_000)
    singles = [Tally(p.one, p.other, p.first) for p in make_pairs(source, 25, 500)]
    evaluate(monkeypatch, grid=False)
    exact = estimate(range(25), singles, pairs)
    evaluate(monkeypatch, grid=True)
    found = estimate(range(25), singles, pairs)
    assert numbers(found) == pytest.approx(numbers(exact), abs=1e-6, rel=0)
    assert numbers(found) != numbers(exact), "both were evaluated in the same way"
    # The covariance of strengths has a common part without meaning; that of differences has not.
    assert errors(found) == pytest.approx(errors(exact), rel=1e-6)


def evaluate(monkeypatch: pytest.MonkeyPatch, *, grid: bool) -> None:
    """On a grid, or at the cells themselves, whatever their number."""
    monkeypatch.setattr(interpolation, "PLACES_A_POINT", 0.0 if grid else math.inf)


def numbers(found: Estimate) -> list[float]:
    """Everything in Elo but the errors."""
    strengths = [strength.elo for strength in found.strengths.values()]
    return [*strengths, found.advantage.elo, found.margin, found.opening_spread]


def errors(found: Estimate) -> list[float]:
    differences = [found.difference(0, other).error for other in range(1, len(found.strengths))]
    return [*(strength.error for strength in found.strengths.values()), found.advantage.error, *differences]


def test_unknown_players_and_undecided_games_are_left_out() -> None:
    odd = [Tally(1, 9, WHITE, 50), Tally(1, 1, WHITE, 5), Tally(1, 2, Result.UNDECIDED, 5)]
    assert estimate([1, 2], [*both_ways(6, 4), *odd]) == estimate([1, 2], both_ways(6, 4))


def test_the_error_bars_cover_the_truth() -> None:
    """Of 95 % intervals over simulated pools about 95 % hold the true difference."""
    source, held, asked = random.Random(11), 0, 0
    for _ in range(40):
        truth = [source.gauss(0, 150) for _ in range(6)]
        tallies = []
        for _ in range(150):
            a, b = source.sample(range(6), 2)
            wins = source.random() < 1 / (1 + 10 ** ((truth[b] - truth[a]) / 400))
            tallies.append(Tally(a, b, WHITE if wins else BLACK))
        found = estimate(range(6), tallies)
        for other in range(1, 6):
            gap = found.difference(0, other)
            held += abs(gap.elo - (truth[0] - truth[other])) <= gap.error
            asked += 1
    assert 0.90 <= held / asked <= 0.99


@pytest.mark.slow
@pytest.mark.parametrize("pairs", [1, 2, 4])
def test_the_likelihood_of_superiority_is_right_as_often_as_it_says(pairs: int) -> None:
    def likelihood(match: tuple[Pair, ...]) -> float:
        found = estimate([1, 2], [], [PairTally(1, 2, *results) for results in match])
        return found.difference(1, 2).superiority

    said, seen = said_and_seen(likelihood, pairs)
    assert said - 0.03 < seen


def test_the_prior_of_superiority_matters_only_for_few_games() -> None:
    few, many = (estimate([1, 2], both_ways(*won)).difference(1, 2) for won in ((3, 1), (1_100, 1_000)))
    usual = [superiority(one.elo * CONFIDENCE / one.error) for one in (few, many)]
    assert 0.03 < usual[0] - few.superiority < 0.1
    assert many.superiority == pytest.approx(usual[1], abs=2e-3)
