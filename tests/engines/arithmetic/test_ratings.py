"""The closed form against the ``trueskill`` package, and the fold."""

from __future__ import annotations

import math
import random

import pytest

from engines.arithmetic.ratings import (
    NEW_VERSION_SIGMA,
    Fold,
    RatedGame,
    Rating,
    Scale,
    Standing,
    fingerprint,
    ladder_scale,
    tournament_scale,
)
from engines.rules.base import Result
from tests.support.trueskill_package import rate_by_definition

WHITE, BLACK, DRAW = Result.WHITE_WINS, Result.BLACK_WINS, Result.DRAW


def distance(one: tuple[Rating, Rating], other: tuple[Rating, Rating]) -> float:
    return max(max(abs(a.mu - b.mu), abs(a.sigma - b.sigma)) for a, b in zip(one, other, strict=True))


@pytest.mark.parametrize(("result", "tolerance"), [(WHITE, 1e-12), (BLACK, 1e-12), (DRAW, 6e-11)])
def test_the_closed_form_agrees_with_the_package(result: Result, tolerance: float) -> None:
    source = random.Random(20260101)
    for _ in range(2_000):
        scale = Scale(source.choice([0.0, 0.008, 25 / 300]), 10 ** source.uniform(-3, -0.05))
        white = Rating(source.uniform(0, 50), source.uniform(0.5, 9))
        black = Rating(source.uniform(0, 50), source.uniform(0.5, 9))
        rated = scale.rate(white, black, result)
        assert distance(rated, rate_by_definition(scale, white, black, result)) < tolerance


def test_the_first_game_of_two_newcomers_is_the_known_one() -> None:
    """The example of the package's own pages: 25 ± 8.333 each, draws 10 %."""
    white, black = Scale(25 / 300, 0.10).rate(Rating(), Rating(), WHITE)
    assert [round(x, 3) for x in (white.mu, white.sigma, black.mu, black.sigma)] == [
        29.396,
        7.171,
        20.604,
        7.171,
    ]


@pytest.mark.parametrize("gap", [0.0, 10.0, 240.0, 1e3, 1e5, 1e8])
@pytest.mark.parametrize("result", [WHITE, BLACK, DRAW])
@pytest.mark.parametrize("probability", [0.0, 0.001, 0.5, 0.9, 1.0])
def test_ratings_stay_finite_after_any_surprise(gap: float, result: Result, probability: float) -> None:
    scale = Scale(0.0, probability)
    before = Rating(gap, 2.0), Rating(0.0, 5.0)
    for rating, was in zip(scale.rate(*before, result), before, strict=True):
        assert math.isfinite(rating.mu)
        assert 0 < rating.sigma <= was.sigma


@pytest.mark.parametrize("surprise", [34.9, 35.0, 35.1])
@pytest.mark.parametrize("result", [BLACK, DRAW])
def test_the_tail_continues_where_the_error_function_ends(surprise: float, result: Result) -> None:
    scale = Scale(0.0, 0.1)
    c = math.sqrt(2 * (25 / 6) ** 2 + 2.0)

    def moved(t: float) -> float:
        return scale.rate(Rating(t * c, 1.0), Rating(0.0, 1.0), result)[0].mu - t * c

    step = moved(surprise + 0.2) - moved(surprise)
    assert step == pytest.approx(moved(surprise + 0.4) - moved(surprise + 0.2), rel=1e-2)


def test_the_share_of_draws_is_kept_within_reason() -> None:
    assert Scale(0.0, 0.0).draw_probability == 0.001
    assert Scale(0.0, 1.0).draw_probability == 0.9


def test_swapping_the_colours_swaps_the_ratings() -> None:
    one, other, scale = Rating(30, 4), Rating(21, 6), ladder_scale("dualma")
    assert scale.rate(one, other, WHITE) == scale.rate(other, one, BLACK)[::-1]
    assert scale.rate(one, other, DRAW) == scale.rate(other, one, DRAW)[::-1]


def test_an_undecided_game_is_not_rated() -> None:
    with pytest.raises(ValueError, match="cannot be rated"):
        Scale().rate(Rating(), Rating(), Result.UNDECIDED)


def test_only_ladders_drift() -> None:
    assert ladder_scale("duovallis").tau == 0.008
    assert tournament_scale("duovallis").tau == 0.0


def test_a_fold_counts_and_rates_in_order() -> None:
    fold = Fold(ladder_scale("duploline"))
    a, b = ("Ada", 1), ("Bob", 1)
    changes = [fold.add(RatedGame(a, b, WHITE)), fold.add(RatedGame(b, a, DRAW))]
    assert changes[0][0].before == Rating()
    assert changes[1][0].before == changes[0][1].after
    standing = fold.standings[a]
    assert (standing.games, standing.wins, standing.draws, standing.losses) == (2, 1, 1, 0)
    assert standing.rating == changes[1][1].after


def test_a_new_version_starts_from_the_rating_of_the_latest_earlier_one_with_more_uncertainty() -> None:
    fold = Fold(ladder_scale("duploline"))
    for _ in range(30):
        fold.add(RatedGame(("Ada", 1), ("Bob", 1), WHITE))
    fold.add(RatedGame(("Ada", 3), ("Bob", 1), WHITE))
    parent = fold.standings["Ada", 3].rating
    change, _ = fold.add(RatedGame(("Ada", 4), ("Bob", 1), WHITE))
    assert change.before == Rating(parent.mu, max(NEW_VERSION_SIGMA, parent.sigma))
    change, _ = fold.add(RatedGame(("Ada", 2), ("Bob", 1), WHITE))
    assert change.before.mu == fold.standings["Ada", 1].rating.mu
    assert change.before.sigma == fold.standings["Ada", 1].rating.sigma > NEW_VERSION_SIGMA


def test_a_new_version_has_at_least_the_sigma_of_new_versions() -> None:
    sure = Standing(Rating(30, 0.7), wins=500)
    fold = Fold(ladder_scale("duploline"), {("Ada", 1): sure})
    change, _ = fold.add(RatedGame(("Ada", 2), ("Bob", 1), WHITE))
    assert change.before == Rating(30, NEW_VERSION_SIGMA)


def test_a_fold_of_part_of_the_table_takes_the_same_step() -> None:
    whole = Fold(ladder_scale("dualma"))
    players = [("Ada", 1), ("Bob", 1), ("Cy", 1)]
    source = random.Random(5)
    for _ in range(50):
        white, black = source.sample(players, 2)
        part = Fold(whole.scale, {p: s for p, s in whole.standings.items() if p in (white, black)})
        game = RatedGame(white, black, source.choice([WHITE, BLACK, DRAW]))
        assert part.add(game) == whole.add(game)
        assert part.standings == {player: whole.standings[player] for player in part.standings}


def test_the_best_rating_is_the_highest_after_a_game() -> None:
    fold = Fold(ladder_scale("dualma"))
    a, b = ("Ada", 1), ("Bob", 1)
    results = [WHITE] * 9 + [BLACK] * 9 + [WHITE]
    after = [fold.add(RatedGame(a, b, result))[0].after.conservative for result in results]
    assert fold.standings[a].best == max(after) > after[-1]
    assert Fold(ladder_scale("dualma"), fold.standings).standings == fold.standings


def test_a_game_against_itself_does_not_rate_a_version() -> None:
    with pytest.raises(ValueError, match="against itself"):
        Fold(Scale()).add(RatedGame(("Ada", 1), ("Ada", 1), WHITE))


def test_games_differ_by_players_colours_start_and_moves() -> None:
    a, b = ("Ada", 1), ("Bob", 1)
    marks = {
        fingerprint(a, b, "s", ["x", "y"]),
        fingerprint(b, a, "s", ["x", "y"]),
        fingerprint(a, b, "t", ["x", "y"]),
        fingerprint(a, b, "s", ["xy"]),
        fingerprint(("Ada", 2), b, "s", ["x", "y"]),
    }
    assert len(marks) == 5
    assert fingerprint(a, b, "s", ("x", "y")) in marks
