"""The overall table: standardised ratings, never one pool of different games."""

from __future__ import annotations

import pytest

from tournament.arithmetic.overall import overall_scores


def test_the_scale_of_a_ladder_does_not_matter() -> None:
    small, large = {1: 1.0, 2: 2.0, 3: 3.0}, {1: 300.0, 2: 200.0, 3: 100.0}
    scores = {one.bot: one for one in overall_scores({"a": small, "b": large})}
    assert scores[1].score == pytest.approx(0)
    assert scores[1].by_ladder["a"] == pytest.approx(-scores[1].by_ladder["b"])
    assert scores[3].coverage == 2


def test_the_best_come_first_and_missing_ladders_are_left_out_of_the_mean() -> None:
    scores = overall_scores({"a": {1: 1.0, 2: 2.0, 3: 3.0}, "b": {1: 1.0, 2: 2.0, 4: 3.0}})
    assert [one.bot for one in scores] == [3, 4, 2, 1]
    assert [one.coverage for one in scores] == [1, 1, 2, 2]


def test_a_ladder_with_few_or_equal_bots_is_left_out() -> None:
    assert overall_scores({"a": {1: 1.0, 2: 2.0}, "b": {1: 5.0, 2: 5.0, 3: 5.0}}) == []
