"""Elo and SPRT of counts, against published numbers and against the definition."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engines.arithmetic.statistics import (
    FARTHEST_ELO,
    Counts,
    Model,
    Pentanomial,
    StatisticsError,
    Wdl,
    bounds,
    elo_of_score,
    estimate,
    llr,
    parse_counts,
    score_of_elo,
)

LOGISTIC, NORMALIZED = Model.LOGISTIC, Model.NORMALIZED
STOCKFISH = Pentanomial(10789, 19328, 33806, 19402, 10543)
QUIET = Pentanomial(39, 2226, 31451, 2412, 40)

cell = st.one_of(st.just(0), st.integers(0, 10), st.integers(0, 50_000))
counted = st.one_of(st.builds(Wdl, cell, cell, cell), st.builds(Pentanomial, cell, cell, cell, cell, cell))


@pytest.mark.parametrize(
    ("counts", "elo", "error", "nelo", "los"),
    [  # fishtest's stat_util.get_elo; nelo by the definition beside its LLR_normalized_alt
        (STOCKFISH, -0.7735773359165423, 1.2775798957280218, -0.9516290044726476, 0.1176588580327751),
        (QUIET, 0.902981048809024, 0.6625314859816553, 3.450799606946096, 0.9962220973354207),
        (Pentanomial(0, 3, 10, 5, 2), 52.49112967044888, 66.49054926047955, 87.42081659113526, 0.9442410565),
        (Pentanomial(50, 400, 1000, 450, 60), 6.204866471, 6.235842323937144, 10.825692474, 0.9744626991857),
    ],
)
def test_estimates_are_those_of_fishtest(
    counts: Counts, elo: float, error: float, nelo: float, los: float
) -> None:
    found = estimate(counts)
    assert (found.elo, found.error, found.nelo, found.los) == pytest.approx((elo, error, nelo, los), rel=1e-9)


def test_an_empty_cell_counts_as_on_fishtest_and_not_as_in_fastchess() -> None:
    """There it counts nothing, as in the definition, which gives -508.4353."""
    cells, scores = (356.0, 1e-3, 34.0), (0.0, 0.5, 1.0)
    mean = sum(cell * score for cell, score in zip(cells, scores, strict=True)) / sum(cells)
    variance = sum(cell * (score - mean) ** 2 for cell, score in zip(cells, scores, strict=True)) / sum(cells)
    found = estimate(Wdl(356, 0, 34)).nelo
    assert found == pytest.approx((mean - 0.5) / math.sqrt(variance) * 800 / math.log(10), rel=1e-12)
    assert found == pytest.approx(-508.4332772809, abs=1e-9)
    share = 34 / 390
    defined = (share - 0.5) / math.sqrt(share * (1 - share)) * 800 / math.log(10)
    assert found - defined == pytest.approx(0.00205, abs=1e-5)


@pytest.mark.parametrize(
    ("counts", "elo", "nelo", "los"),
    [  # fastchess's own tests, which give two decimals
        (Wdl(89, 123, 76), None, (-20.76, 40.13), 0.1553),
        (Wdl(96, 111, 136), (40.70, 30.43), (49.77, 36.77), 0.9960),
        (Pentanomial(34, 54, 31 + 32, 64, 75), (55.58, 27.65), (57.94, 28.28), 1.0),
        (Pentanomial(332, 433, 457 + 41, 333, 334), (-8.64, 10.33), (-9.17, 10.96), 0.0505),
        (Pentanomial(7895, 8757, 5485 + 200, 568, 9999), (-21.04, 2.95), (-19.01, 2.65), None),
    ],
)
def test_estimates_are_those_of_fastchess(
    counts: Counts, elo: tuple[float, float] | None, nelo: tuple[float, float], los: float | None
) -> None:
    found = estimate(counts)
    assert (found.nelo, found.nelo_error) == pytest.approx(nelo, abs=0.005)
    if elo is not None:
        assert (found.elo, found.error) == pytest.approx(elo, abs=0.005)
    if los is not None:
        assert found.los == pytest.approx(los, abs=5e-5)


@pytest.mark.parametrize(
    ("counts", "elo0", "elo1", "model", "ratio"),
    [  # fishtest's LLRcalc
        (STOCKFISH, -3, 1, LOGISTIC, 2.1310678117855),
        (QUIET, 0.2, 0.9, LOGISTIC, 2.16254258004908),
        (Pentanomial(0, 10, 20, 50, 20), 0, 5, LOGISTIC, 1.4286861064744),
        (Pentanomial(3, 20, 45, 25, 7), 0, 10, LOGISTIC, 0.6959726064981),
        (STOCKFISH, -3, 1, NORMALIZED, 0.3008697855),
        (STOCKFISH, 0, 5, NORMALIZED, -26.8384486398),
        (STOCKFISH, 0, 20, NORMALIZED, -340.2492043700),
        (QUIET, 0.764, 3.439, NORMALIZED, 2.1629408696),
        (QUIET, -5, 0, NORMALIZED, 17.8322236),
        (Pentanomial(0, 10, 20, 50, 20), 0, 5, NORMALIZED, 1.268896404),
        (Pentanomial(0, 3, 10, 5, 2), -3, 1, NORMALIZED, 0.1215767130),
        (Pentanomial(100, 200, 400, 250, 150), 0, 20, NORMALIZED, 7.0048630945),
        (Pentanomial(365, 16618, 36229, 16974, 390), 0, 2, NORMALIZED, 2.2503677036),
    ],
)
def test_ratios_are_those_of_fishtest(
    counts: Counts, elo0: float, elo1: float, model: Model, ratio: float
) -> None:
    assert llr(counts, elo0, elo1, model) == pytest.approx(ratio, rel=2e-9, abs=1e-10)


@pytest.mark.parametrize(
    ("counts", "elo0", "elo1", "model", "ratio"),
    [  # fastchess's own tests
        (Wdl(36027, 68692, 36433), 0, 2, NORMALIZED, 0.92),
        (Wdl(10650, 20431, 10871), -1.75, 0.25, NORMALIZED, 2.30),
        (Wdl(21184, 40708, 21404), 0.5, 2.5, LOGISTIC, -1.57),
        (Wdl(57030, 106593, 57433), 0, 2, LOGISTIC, -2.59),
        (Pentanomial(127, 4883, 10311 + 401, 5150, 104), -1.75, 0.25, NORMALIZED, 3.01),
        (Pentanomial(223, 9863, 20279 + 1000, 10037, 246), 0.5, 2.5, LOGISTIC, -3.07),
        (Pentanomial(871, 26175, 55003 + 980, 26678, 821), 0, 2, LOGISTIC, -4.98),
    ],
)
def test_ratios_are_those_of_fastchess(
    counts: Counts, elo0: float, elo1: float, model: Model, ratio: float
) -> None:
    assert llr(counts, elo0, elo1, model) == pytest.approx(ratio, abs=0.01)


def test_the_ratio_of_all_pairs_won_is_that_of_the_two_point_distribution() -> None:
    """Of mean m on the two ends a share m wins both; normalized: (m - 1/2) = t sqrt(m (1 - m))."""
    t = 5.0 * math.sqrt(2.0) * math.log(10.0) / 800.0
    share = 0.5 + t / (2.0 * math.sqrt(1.0 + t * t))
    found = llr(Pentanomial(ww=104), 0.0, 5.0, NORMALIZED)
    assert found == pytest.approx(104 * math.log(share / 0.5), rel=1e-3)


def test_all_games_drawn_favour_the_nearer_hypothesis() -> None:
    """t = sqrt(w) with w the fewest wins that can give it, each at the cost of a draw."""
    t = 5.0 * math.log(10.0) / 800.0
    assert llr(Wdl(draws=16700), 0.0, 5.0, NORMALIZED) == pytest.approx(-16700 * t * t, rel=0.01)


@given(counted, st.floats(-200, 200), st.floats(-200, 200), st.sampled_from(Model))
def test_a_match_seen_from_the_other_side_mirrors_its_ratio(
    counts: Counts, elo0: float, elo1: float, model: Model
) -> None:
    mirrored = type(counts)(*reversed(counts.cells))
    scale = 1.0 + abs(llr(counts, elo0, elo1, model))
    assert llr(mirrored, -elo0, -elo1, model) == pytest.approx(
        llr(counts, elo0, elo1, model), abs=1e-6 * scale
    )


@given(counted, st.sampled_from(Model))
def test_every_match_has_numbers(counts: Counts, model: Model) -> None:
    found = estimate(counts)
    values = (found.elo, found.error, found.nelo, found.nelo_error, found.los)
    assert all(map(math.isfinite, values))
    assert abs(found.elo) < 1200
    assert 0 <= found.los <= 1
    assert math.isfinite(llr(counts, -FARTHEST_ELO[model], FARTHEST_ELO[model], model))


def test_without_games_both_hypotheses_are_equal() -> None:
    found = estimate(Wdl())
    assert (found.elo, found.nelo, found.los) == (0.0, 0.0, 0.5)
    assert abs(llr(Pentanomial(), 0.0, 5.0, LOGISTIC)) < 1e-3


def test_pairs_of_equal_games_have_smaller_errors_than_their_games_alone() -> None:
    pairs, games = Pentanomial(ll=1, dd=98, ww=1), Wdl(losses=100, wins=100)
    assert (pairs.games, games.games) == (200, 200)
    assert estimate(pairs).error < estimate(games).error / 5


def test_elo_and_score_undo_each_other() -> None:
    assert [elo_of_score(score_of_elo(elo)) for elo in (-400.0, 0.0, 7.5)] == pytest.approx(
        [-400.0, 0.0, 7.5]
    )
    assert score_of_elo(400.0) == pytest.approx(10 / 11)


def test_a_test_of_five_percent_ends_at_the_usual_bounds() -> None:
    assert bounds(0.05, 0.05) == pytest.approx((-2.94443897917, 2.94443897917))
    assert bounds(0.05, 0.1) == pytest.approx((math.log(0.1 / 0.95), math.log(0.9 / 0.05)))


@pytest.mark.parametrize(("alpha", "beta"), [(0.0, 0.05), (0.05, 0.0), (0.5, 0.5), (math.nan, 0.05)])
def test_impossible_risks_are_refused(alpha: float, beta: float) -> None:
    with pytest.raises(StatisticsError, match=f"not {alpha} and {beta}"):
        bounds(alpha, beta)


@pytest.mark.parametrize("elo", [201.0, -201.0, math.inf, math.nan])
def test_hypotheses_out_of_reach_are_refused(elo: float) -> None:
    with pytest.raises(StatisticsError, match=f"hypothesis of {elo} Elo"):
        llr(STOCKFISH, 0.0, elo, NORMALIZED)


def test_three_counts_are_of_games_and_five_of_pairs() -> None:
    assert parse_counts("1,2,3") == Wdl(losses=1, draws=2, wins=3)
    assert parse_counts("1,2,3,4,5") == Pentanomial(ll=1, ld=2, dd=3, wd=4, ww=5)


@pytest.mark.parametrize(
    "text", ["", "1,2", "1,2,3,4", "1,2,3,4,5,6", "1, 2,3", "1,2,x", "1,2,-3", "1;2;3", "1,2,3\n"]
)
def test_other_counts_are_refused_by_name(text: str) -> None:
    with pytest.raises(StatisticsError, match="cannot read the counts"):
        parse_counts(text)
