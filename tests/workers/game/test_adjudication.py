"""Games that end early because both engines agree on the score."""

from __future__ import annotations

from dataclasses import replace

import pytest

from engines.protocol import Score
from engines.records import ONE_SIDED, MoveNote, Termination, verify_record
from engines.rules.base import Result
from tests.support.bad_engines import LINE
from tests.support.players import ScriptedPlayer, answer, record_of_played, setup_of
from workers.game.adjudication import Adjudicator
from workers.game.referee import PlayedGame, play_game
from workers.jobs import DrawRule, ResignRule

DRAW = DrawRule(move_number=3, moves=2, score=10)
RESIGN = ResignRule(moves=2, score=500)


def played(scores: str, draw: DrawRule | None = DRAW, resign: ResignRule | None = RESIGN) -> PlayedGame:
    """A game whose engines send these scores in turn: hundredths, mates after ``#``, ``-`` for none."""
    answers = [answer(token, note=note_of(word)) for token, word in zip(LINE, scores.split(), strict=False)]
    setup = setup_of(adjudicator=Adjudicator(draw, resign), ply_limit=len(answers))
    return play_game(setup, ScriptedPlayer(answers[0::2]), ScriptedPlayer(answers[1::2]))


def note_of(word: str) -> MoveNote | None:
    if word == "-":
        return None
    is_mate = word.startswith("#")
    return MoveNote(score=Score(mate=int(word[1:])) if is_mate else Score(centipawns=int(word)))


@pytest.mark.parametrize(
    ("scores", "result", "plies"),
    [
        ("10 -10 0 5 0 0 0 0", Result.DRAW, 5),
        ("90 90 90 0 0 0 0 0", Result.DRAW, 7),
        ("0 600 600 -600 600 -600 0 0", Result.WHITE_WINS, 6),
        ("-500 500 -500 500 0 0 0 0", Result.BLACK_WINS, 4),
        ("#3 #-2 #1 #-1 0 0 0 0", Result.WHITE_WINS, 4),
    ],
)
def test_a_game_ends_when_both_scores_agree_long_enough(scores: str, result: Result, plies: int) -> None:
    ended = played(scores)
    assert (ended.termination, ended.result, len(ended.moves)) == (Termination.ADJUDICATION, result, plies)
    assert verify_record(record_of_played(ended, ply_limit=8)) == []


@pytest.mark.parametrize(
    ("scores", "result", "plies"),
    [("0 0 -600 0 -600 0 0 0", Result.BLACK_WINS, 5), ("-20 -500 -30 #-3 0 0 0 0", Result.WHITE_WINS, 4)],
)
def test_a_one_sided_rule_needs_the_loser_s_scores_alone_and_the_record_says_so(
    scores: str, result: Result, plies: int
) -> None:
    ended = played(scores, draw=None, resign=ResignRule(2, 500, two_sided=False))
    assert (ended.termination, ended.result, len(ended.moves)) == (Termination.ADJUDICATION, result, plies)
    assert ended.evidence == ONE_SIDED
    assert verify_record(record_of_played(ended, ply_limit=8)) == []
    assert verify_record(record_of_played(replace(ended, evidence=""), ply_limit=8)) != []


def test_a_one_sided_rule_is_not_met_by_the_winner_s_scores() -> None:
    ended = played("900 0 900 0 900 0", draw=None, resign=ResignRule(2, 500, two_sided=False))
    assert ended.termination is Termination.PLY_LIMIT


@pytest.mark.parametrize(
    "scores",
    [
        "0 900 0 900 0 900 0 900",
        "900 -499 900 -499 900 -499 900 -499",
        "-900 -900 -900 -900 -900 -900 -900 -900",
        "0 0 0 - 0 0 0 -",
        "0 0 0 11 0 0 11 0",
    ],
    ids=["one alone", "not lost enough", "both lose", "no score", "interrupted"],
)
def test_scores_that_do_not_agree_long_enough_end_no_game(scores: str) -> None:
    assert played(scores).termination is Termination.PLY_LIMIT


def test_without_rules_no_score_ends_a_game() -> None:
    assert played("0 0 0 0 0 0 0 0", draw=None).termination is Termination.PLY_LIMIT
    assert played("#1 #-1 #1 #-1 #1 #-1 0 0", resign=None).termination is Termination.PLY_LIMIT


def test_the_end_by_the_rules_precedes_adjudication() -> None:
    assert played("0 0 0 0 0").termination is Termination.PLY_LIMIT
