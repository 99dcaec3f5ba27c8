"""What scores are worth in points, and which moves of a game lost most of them."""

from __future__ import annotations

import pytest

from engines.protocol import RESIGN, Score
from engines.records import MoveNote
from engines.rules.base import Side
from engines.rules.registry import GAMES
from tournament.arithmetic.mistakes import (
    Evaluated,
    Mistake,
    expected_points,
    find_mistakes,
    points_by_ply,
    points_of_white,
)
from tournament.settings import ROOT

MOVES = ("c1+", "c2-", "d1+", "d2-")
SCALE = 100.0


def evaluated(*scores: float | Score, move: str = "a1+") -> list[Evaluated]:
    """Evaluations of successive positions, White to move in the first; scores are of the side to move."""
    notes = [one if isinstance(one, Score) else Score(centipawns=round(100 * one)) for one in scores]
    return [Evaluated(ply, list(Side)[ply % 2], move, MoveNote(score)) for ply, score in enumerate(notes)]


def found(said: list[Evaluated], final: dict[int, float] | None = None, given: int = 0) -> list[Mistake]:
    points = points_by_ply(said, SCALE, final or {})
    return list(find_mistakes(said, points, MOVES, given))


def marks(said: list[Evaluated], final: dict[int, float] | None = None) -> list[tuple[int, str]]:
    return [(one.ply, one.mark) for one in found(said, final)]


@pytest.mark.parametrize(
    ("score", "points"),
    [
        (Score(0), 0.5),
        (Score(100), 0.731),
        (Score(-100), 0.269),
        (Score(300), 0.953),
        (Score(mate=9), 1.0),
        (Score(mate=-2), 0.0),
        (Score(10**12), 1.0),
        (Score(-(10**12)), 0.0),
    ],
)
def test_a_score_is_worth_points_by_the_logistic_function(score: Score, points: float) -> None:
    assert expected_points(score, SCALE) == pytest.approx(points, abs=0.001)
    assert points_of_white(score, Side.BLACK, SCALE) == pytest.approx(1 - points, abs=0.001)


@pytest.mark.parametrize("code", GAMES)
def test_the_scale_of_a_ladder_is_the_documented_one(code: str) -> None:
    scale = GAMES[code].score_scale
    assert f"| {code} | {scale / 100:g} |" in (ROOT / "docs" / "tournaments.md").read_text("utf-8")


@pytest.mark.parametrize(
    ("after", "mark"), [(-0.5, ""), (0, "?!"), (0.35, "?"), (1, "??"), (Score(mate=3), "??")]
)
def test_a_mark_depends_on_the_points_that_a_move_lost(after: float | Score, mark: str) -> None:
    """White expects 0.62 before its move; ``after`` is Black's score."""
    assert marks(evaluated(0.5, after)) == ([(1, mark)] if mark else [])


def test_a_lead_that_wins_anyway_counts_little() -> None:
    assert marks(evaluated(9, -4)) == []
    assert marks(evaluated(0, 5)) == [(1, "??")]


def test_black_s_mistakes_are_seen_from_black() -> None:
    (mistake,) = found(evaluated(-1, 1, 1))
    assert (mistake.ply, mistake.side, mistake.score) == (2, Side.BLACK, "+1.00")
    assert (round(mistake.before, 2), round(mistake.after, 2)) == (0.73, 0.27)
    assert mistake.line == ("a1+",)


def test_the_bot_s_own_move_a_given_one_and_gaps_are_no_mistakes() -> None:
    assert found(evaluated(3, 3, move="c1+")) == []
    assert found(evaluated(0, 5), given=1) == []
    said = evaluated(5, 0, 0)
    assert found([said[0], said[2]]) == []
    assert found([Evaluated(0, Side.WHITE, "", MoveNote(Score(300))), said[1]]) == []
    assert found([Evaluated(0, Side.WHITE, RESIGN, MoveNote(Score(300))), *evaluated(0, 9)[1:]]) == []


def test_a_move_into_a_lost_end_is_judged_by_the_result() -> None:
    assert marks(evaluated(0, 0, 0, 0), {4: 1.0}) == [(4, "??")]
    assert marks(evaluated(0, 0, 0, 0), {4: 0.0}) == []


def test_a_side_that_moves_twice_keeps_its_sign() -> None:
    twice = [
        Evaluated(ply, Side.WHITE, "a1+", MoveNote(Score(score))) for ply, score in enumerate((100, -100))
    ]
    assert marks(twice) == [(1, "??")]
