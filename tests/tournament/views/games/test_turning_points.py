"""The turning points of games that are written out: one game for each rule."""

from __future__ import annotations

import pytest

from engines.records import RecordMove, parse_note
from engines.rules.base import Side
from engines.rules.registry import find_game
from tournament.views.games.replay import Replay, build_replay
from tournament.views.games.turning_points import MOST, find_turning_points


def game_with(scores: str) -> Replay:
    """A game of DuAlma, where Black begins with ``a1:a2`` and nothing is captured.

    Of each move the score that its engine gave, ``-`` for none; the players make the first legal move.
    """
    rules = find_game("dualma")
    position, moves = rules.position.initial(), []
    for score in scores.split():
        token = next(position.legal_moves())
        moves.append(RecordMove(token, parse_note("" if score == "-" else score)))
        position = position.play(token)
    return build_replay(rules, "", moves)


def told(replay: Replay, winner: Side | None = None) -> list[tuple[int, str]]:
    return [(point.ply, point.text) for point in find_turning_points(replay, winner)]


def test_an_even_game_without_captures_has_none() -> None:
    assert told(game_with("+0.10 -0.10 +0.20 -0.30 +0.10 +0.20")) == []
    assert told(game_with("- - - -"), Side.WHITE) == []


@pytest.mark.parametrize(
    ("scores", "text"),
    [
        (
            "+0.20 +0.30 +1.50 +1.20 +2.00 +2.00",
            "Both engines see themselves ahead: Black +1.50, White +1.20.",
        ),
        (
            "+0.20 +0.30 -1.50 -1.20 -2.00 -2.00",
            "Both engines see themselves behind: Black -1.50, White -1.20.",
        ),
    ],
)
def test_the_first_disagreement_about_who_is_ahead_is_one(scores: str, text: str) -> None:
    assert told(game_with(scores)) == [(4, text)]


def test_a_disagreement_by_less_than_a_tenth_of_a_point_is_none() -> None:
    assert told(game_with("+0.70 +3.00 +0.70 +3.00")) == []


def test_the_scores_of_one_engine_cannot_disagree() -> None:
    assert told(game_with("- +2.00 - +2.00 - +1.00")) == []


def test_the_loser_s_last_hope_is_followed_by_the_ply_at_which_it_saw_itself_behind_for_good() -> None:
    scores = "+0.50 -0.40 -0.20 +0.10 +0.30 +0.20 -0.50 +0.90 -0.60 +1.50"
    assert told(game_with(scores), Side.WHITE) == [
        (7, "Black's score falls from +0.30 to -0.50 and stays below even.")
    ]
    assert told(game_with(scores), Side.BLACK) == []  # White's engine saw itself ahead to the end
    assert told(game_with(scores), None) == []


def test_a_loser_that_was_always_behind_was_never_turned() -> None:
    assert told(game_with("-0.50 +0.40 -0.60 +0.50"), Side.WHITE) == []


def test_the_first_win_that_each_engine_announces_is_one() -> None:
    scores = "+9.00 -9.00 +9.00 -9.00 #+5 #-4 #+3 #-2 #+1"
    assert told(game_with(scores), Side.BLACK) == [(5, "Black's engine announces a win in 5 plies.")]
    assert told(game_with("- - - #+1")) == [(4, "White's engine announces a win in 1 ply.")]


@pytest.mark.parametrize(
    ("before", "after", "verb"),
    [("+1.30", "-1.30", "falls"), ("-2.00", "+0.80", "rises"), ("+2.00", "#-7", "falls")],
)
def test_a_score_that_swings_from_one_move_to_the_next_is_one(before: str, after: str, verb: str) -> None:
    text = f"After b2:b3 Black's score {verb} from {before} to {after}."
    assert told(game_with(f"- - {before} - {after}")) == [(5, text)]


def test_a_great_lead_that_grows_and_a_score_after_a_gap_are_no_swings() -> None:
    assert told(game_with("+6.00 - +30.00 - +90.00")) == []
    assert told(game_with("+3.00 - - - -3.00")) == []


def test_a_capture_of_many_seeds_is_one() -> None:
    rules, fen = find_game("dogon-kulei"), "3,1,2,1,2,1/2,0,2,0,0,5 w 14 15 - - 20"
    replay = build_replay(rules, fen, [RecordMove("f1+")])
    assert told(replay, Side.WHITE) == [(1, "White plays f1+ and captures 12 seeds.")]


def test_a_capture_of_many_stones_is_one() -> None:
    fen = "6b,6b,0,0,4b,4b/0,7w,0,1w,7w,0/3w2b,0,4b,4b,4b,3w/7w,2w,0,6w,1w,2w b 1 0 5"
    replay = build_replay(find_game("duovallis"), fen, [RecordMove("b4")])
    assert told(replay, Side.BLACK) == [(1, "Black plays b4 and captures 6 stones.")]


def test_one_event_is_told_once_by_its_greatest_swing() -> None:
    scores = "+0.00 +0.00 +0.00 +3.00 -4.00 +3.00"
    assert [ply for ply, _ in told(game_with(scores))] == [5]


def test_there_are_at_most_six_in_the_order_of_the_plies() -> None:
    leads = ["+2.00", "-2.00", "+9.00", "-9.00", "+8.00", "-8.00", "+7.00", "-7.00"]
    scores = " ".join(f"{lead} - {lead} -" for lead in leads)
    plies = [ply for ply, _ in told(game_with(scores))]
    assert plies == [9, 13, 17, 21, 25, 29]  # not the smallest swing, at ply 5
    assert len(plies) == MOST
