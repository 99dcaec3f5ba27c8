"""Crosstables, computed by hand."""

from __future__ import annotations

import pytest

from engines.arithmetic.standings import GameScore, crosstable
from engines.formats import FORMATS
from engines.rules.base import Result

SWISS = FORMATS["swiss"].order

WHITE, BLACK, DRAW = Result.WHITE_WINS, Result.BLACK_WINS, Result.DRAW


def games(
    white: int, black: int, result: Result, count: int = 1, *, is_walkover: bool = False
) -> tuple[int, int, GameScore]:
    """So many games with the same players, colours and result."""
    if result is Result.UNDECIDED:
        return white, black, GameScore(given_up=count)
    won, lost = ("walkovers", "defaults") if is_walkover else ("wins", "losses")
    column = {WHITE: won, BLACK: lost, DRAW: "draws"}[result]
    return white, black, GameScore(**{column: count})


def test_points_and_scores_are_counted_by_opponent() -> None:
    table = crosstable([1, 2], [games(1, 2, WHITE, 3), games(2, 1, DRAW), games(2, 1, WHITE, 2)])
    first, second = table.rows
    assert (first.player, first.score.points, first.score.games) == (1, 3.5, 6)
    assert (first.versus[2].wins, first.versus[2].draws, first.versus[2].losses) == (3, 1, 2)
    assert (second.score.points, second.score.share) == (2.5, 2.5 / 6)
    assert table.games == 6


def test_sonneborn_berger_parts_equal_points() -> None:
    """1 beats 2, 2 beats 3, 3 draws 4, 4 beats... : equal on points, the better victims rank higher."""
    table = crosstable(
        [1, 2, 3, 4],
        [games(1, 2, WHITE), games(2, 3, WHITE), games(3, 4, WHITE), games(2, 4, DRAW), games(1, 3, BLACK)],
    )
    assert [(r.player, r.score.points, r.sonneborn_berger, r.rank) for r in table.rows] == [
        (3, 2.0, 1.5, 1),
        (2, 1.5, 2.25, 2),
        (1, 1.0, 1.5, 3),
        (4, 0.5, 0.75, 4),
    ]


def test_equal_players_share_a_rank_and_keep_their_order() -> None:
    table = crosstable([7, 8, 9], [games(7, 8, DRAW)])
    assert [(r.player, r.rank) for r in table.rows] == [(7, 1), (8, 1), (9, 3)]


def test_unknown_players_and_self_play_are_left_out() -> None:
    table = crosstable([1, 2], [games(1, 9, WHITE), games(1, 1, WHITE)])
    assert table.games == 0
    assert all(row.performance is None for row in table.rows)


@pytest.mark.parametrize(("wins", "losses", "performance"), [(5, 5, 0), (3, 1, 147), (9, 0, 512)])
def test_performance_is_elo_over_the_field(wins: int, losses: int, performance: int) -> None:
    table = crosstable([1, 2], [games(1, 2, WHITE, wins), games(1, 2, BLACK, losses)])
    row = next(row for row in table.rows if row.player == 1)
    assert row.performance == performance


def test_a_halted_game_is_half_a_point_for_both_and_no_performance() -> None:
    table = crosstable([1, 2], [games(1, 2, Result.UNDECIDED, 2), games(2, 1, BLACK)])
    assert [(row.player, row.points, row.score.games, row.score.given_up) for row in table.rows] == [
        (1, 2.0, 1, 2),
        (2, 1.0, 1, 2),
    ]
    assert table.games == 1
    assert table.rows[0].performance == crosstable([1, 2], [games(1, 2, WHITE)]).rows[0].performance


def test_walkovers_count_points_and_no_performance() -> None:
    played = [games(1, 2, WHITE, 2), games(2, 1, WHITE), games(1, 3, Result.DRAW)]
    walkovers = [games(1, 3, WHITE, 9, is_walkover=True), games(3, 2, BLACK, 9, is_walkover=True)]
    before, after = crosstable([1, 2, 3], played), crosstable([1, 2, 3], played + walkovers)
    performance = {row.player: row.performance for row in before.rows}
    assert {row.player: row.performance for row in after.rows} == performance
    assert {row.player: row.points for row in after.rows} == {1: 11.5, 2: 10.0, 3: 0.5}
    only = crosstable([1, 3], walkovers)
    assert [row.performance for row in only.rows] == [None, None]


def test_buchholz_adds_up_the_points_of_those_met_once_a_meeting() -> None:
    """Four players, two rounds of two games; 3 and 4 are level until the points of those they met."""
    table = crosstable(
        [1, 2, 3, 4],
        [
            *[games(1, 3, WHITE, 2), games(2, 4, WHITE), games(4, 2, WHITE)],
            *[games(1, 2, WHITE), games(2, 1, WHITE), games(3, 4, DRAW, 2)],
        ],
        order=SWISS,
        meetings=[(1, 3), (2, 4), (1, 2), (3, 4)],
    )
    assert [(row.player, row.points, row.buchholz, row.rank) for row in table.rows] == [
        (1, 3.0, 3.0, 1),
        (2, 2.0, 5.0, 2),
        (4, 2.0, 3.0, 3),
        (3, 1.0, 5.0, 4),
    ]


def test_a_bye_scores_its_points_and_counts_as_a_win_over_oneself() -> None:
    table = crosstable(
        [1, 2, 3],
        [games(1, 2, WHITE), games(2, 1, DRAW)],
        order=SWISS,
        meetings=[(1, 2)],
        byes={3: [2]},
    )
    assert [(r.player, r.points, r.buchholz, r.sonneborn_berger, r.byes) for r in table.rows] == [
        (3, 2.0, 2.0, 4.0, 1),
        (1, 1.5, 0.5, 0.75, 0),
        (2, 0.5, 1.5, 0.75, 0),
    ]


def test_the_games_among_equals_decide_last() -> None:
    """2 and 4 have the same points and Sonneborn-Berger; 2 won their game."""
    tallies = [
        *[games(1, 2, WHITE), games(1, 3, WHITE), games(1, 4, DRAW)],
        *[games(2, 3, DRAW), games(2, 4, WHITE), games(3, 4, BLACK)],
    ]
    table = crosstable([4, 3, 2, 1], tallies)
    assert [(row.player, row.points, row.sonneborn_berger, row.rank) for row in table.rows] == [
        (1, 2.5, 2.75, 1),
        (2, 1.5, 1.75, 2),
        (4, 1.5, 1.75, 3),
        (3, 0.5, 0.75, 4),
    ]


def test_equals_who_have_not_all_met_stay_equal() -> None:
    tallies = [games(1, 2, WHITE), games(2, 3, WHITE), games(4, 3, WHITE), games(4, 5, BLACK)]
    table = crosstable([5, 4, 2, 1, 3], tallies, order=(*SWISS[:1], SWISS[-1]))
    assert [(row.player, row.rank) for row in table.rows] == [(5, 1), (4, 1), (2, 1), (1, 1), (3, 5)]


def test_a_gauntlet_goes_by_the_share_of_the_points() -> None:
    """The challenger plays more games than anybody else."""
    tallies = [games(1, 2, WHITE), games(1, 3, DRAW), games(1, 4, BLACK)]
    table = crosstable([1, 2, 3, 4], tallies, order=FORMATS["gauntlet"].order)
    assert [(row.player, row.score.share, row.rank) for row in table.rows] == [
        (4, 1.0, 1),
        (1, 0.5, 2),
        (3, 0.5, 3),
        (2, 0.0, 4),
    ]


def test_a_knock_out_goes_by_matches_won_and_then_by_seed() -> None:
    table = crosstable(
        [1, 2, 3, 4], [games(1, 2, WHITE)], order=FORMATS["knock-out"].order, matches={3: 2, 2: 1}
    )
    assert [(row.player, row.rank) for row in table.rows] == [(3, 1), (2, 2), (1, 3), (4, 3)]
