"""Estimates of strength: known values, error bars, order."""

from __future__ import annotations

import math
import random

import pytest

from engines.rules.base import Result
from tournament.arithmetic.estimates import estimate
from tournament.arithmetic.standings import Tally
from workers.statistics import ELO

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
