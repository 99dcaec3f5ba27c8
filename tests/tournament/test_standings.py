"""Crosstables, by hand."""

from __future__ import annotations

import pytest

from engines.rules.base import Result
from tournament.standings import Tally, crosstable

WHITE, BLACK, DRAW = Result.WHITE_WINS, Result.BLACK_WINS, Result.DRAW


def test_points_and_scores_are_counted_by_opponent_and_colour() -> None:
    table = crosstable([1, 2], [Tally(1, 2, WHITE, 3), Tally(2, 1, DRAW), Tally(2, 1, WHITE, 2)])
    first, second = table.rows
    assert (first.player, first.score.points, first.score.games) == (1, 3.5, 6)
    assert (first.versus[2].wins, first.versus[2].draws, first.versus[2].losses) == (3, 1, 2)
    assert (first.as_white.points, first.as_black.points) == (3.0, 0.5)
    assert (second.score.points, second.score.share) == (2.5, 2.5 / 6)
    assert table.games == 6


def test_sonneborn_berger_parts_equal_points() -> None:
    """1 beats 2, 2 beats 3, 3 draws 4, 4 beats... : equal on points, the better victims rank higher."""
    table = crosstable(
        [1, 2, 3, 4],
        [Tally(1, 2, WHITE), Tally(2, 3, WHITE), Tally(3, 4, WHITE), Tally(2, 4, DRAW), Tally(1, 3, BLACK)],
    )
    assert [(r.player, r.score.points, r.sonneborn_berger, r.rank) for r in table.rows] == [
        (3, 2.0, 1.5, 1),
        (2, 1.5, 2.25, 2),
        (1, 1.0, 1.5, 3),
        (4, 0.5, 0.75, 4),
    ]


def test_equal_players_share_a_rank_and_keep_their_order() -> None:
    table = crosstable([7, 8, 9], [Tally(7, 8, DRAW)])
    assert [(r.player, r.rank) for r in table.rows] == [(7, 1), (8, 1), (9, 3)]


def test_strangers_self_play_and_open_games_are_left_out() -> None:
    table = crosstable([1, 2], [Tally(1, 9, WHITE), Tally(1, 1, WHITE), Tally(1, 2, Result.UNDECIDED)])
    assert table.games == 0
    assert all(row.performance is None for row in table.rows)


@pytest.mark.parametrize(("wins", "losses", "performance"), [(5, 5, 0), (3, 1, 147), (9, 0, 512)])
def test_performance_is_elo_over_the_field(wins: int, losses: int, performance: int) -> None:
    table = crosstable([1, 2], [Tally(1, 2, WHITE, wins), Tally(1, 2, BLACK, losses)])
    row = next(row for row in table.rows if row.player == 1)
    assert row.performance == performance
