from __future__ import annotations

import pytest

from engines.rules import UNDECIDED, History, IllegalMove, Outcome, Reason, Result, find_game
from engines.rules.history import replay_until_end

KULEI = find_game("dogon-kulei")
DUOVALLIS = find_game("duovallis")

CIRCLE = KULEI.position.parse("0,1,0,0,0,3/1,0,0,0,1,1 w 16 25 - - 0")
ONCE_ROUND = [
    *("pass", "f2-", "e1+", "pass", "f1-", "pass", "d1-", "pass", "c1-", "pass", "b1-", "pass", "a1-", "b2+"),
    *("pass", "a2-", "pass", "c2-", "pass", "d2-", "pass", "e2-"),
]
"""Twenty-two plies that lead back to where they began."""


def test_a_new_game_is_undecided_at_the_initial_position() -> None:
    history = History(KULEI)
    assert history.position == history.start == KULEI.position.initial()
    assert (history.moves, history.outcome, history.ply_limit) == ([], UNDECIDED, 500)


def test_moves_are_kept_in_the_order_played() -> None:
    history = History(DUOVALLIS)
    for token in ("c1", "d4", "e1"):
        assert history.play(token) is UNDECIDED
    assert history.moves == ["c1", "d4", "e1"]
    assert history.position.ply == 3


def test_a_refused_move_changes_nothing() -> None:
    history = History(DUOVALLIS)
    history.play("c1")
    before = history.position
    with pytest.raises(IllegalMove):
        history.play("c1")
    assert (history.position, history.moves, history.outcome) == (before, ["c1"], UNDECIDED)


def test_a_position_that_occurs_for_the_third_time_ends_the_game_the_start_is_a_first_occurrence() -> None:
    history = History(KULEI, CIRCLE)
    for token in ONCE_ROUND * 2:
        assert not history.outcome.decided
        history.play(token)
    assert history.position.key() == CIRCLE.key()
    assert history.outcome == Outcome(Result.BLACK_WINS, Reason.REPETITION, 16 + 3, 25 + 4)


def test_no_move_can_be_played_after_the_end() -> None:
    history = History(KULEI, CIRCLE)
    for token in ONCE_ROUND * 2:
        history.play(token)
    with pytest.raises(IllegalMove, match=r"the game is over \(repetition\)"):
        history.play("pass")
    assert history.position.is_legal("pass")


def test_a_line_that_goes_on_after_the_end_is_replayed_until_the_end() -> None:
    history = replay_until_end(KULEI, [*ONCE_ROUND * 2, "pass", "f2-"], CIRCLE)
    assert history.outcome.reason is Reason.REPETITION
    assert history.moves == ONCE_ROUND * 2


def test_the_ply_limit_is_reached_when_the_position_string_s_ply_field_is_not_less_than_it() -> None:
    history = History(DUOVALLIS, ply_limit=2)
    assert history.play("c1") is UNDECIDED
    assert history.play("d4") == Outcome(Result.DRAW, Reason.PLY_LIMIT)


def test_the_ply_limit_counts_the_plies_before_a_given_start() -> None:
    start = DUOVALLIS.position.initial().play("c1").play("d4")
    assert not History(DUOVALLIS, start, ply_limit=3).outcome.decided
    for limit in (0, 1, 2):
        assert History(DUOVALLIS, start, ply_limit=limit).outcome.reason is Reason.PLY_LIMIT


def test_at_the_ply_limit_of_dogon_each_player_receives_the_seeds_in_his_own_holes() -> None:
    start = KULEI.position.parse("4,4,4,4,4,4/4,4,4,4,4,3 w 0 1 - - 500")
    assert History(KULEI, start).outcome == Outcome(Result.BLACK_WINS, Reason.PLY_LIMIT, 23, 25)


def test_the_start_position_is_judged_too() -> None:
    over = KULEI.position.parse("0,1,0,0,0,0/0,0,1,0,0,0 b 23 23 - - 1")
    history = History(KULEI, over)
    assert history.outcome == Outcome(Result.DRAW, Reason.SEEDS, 24, 24)
    with pytest.raises(IllegalMove, match=r"the game is over \(seeds\)"):
        history.play("pass")


def test_the_order_of_endings_is_the_rules_of_the_game_before_the_ply_limit() -> None:
    over = KULEI.position.parse("0,1,0,0,0,0/0,0,1,0,0,0 b 23 23 - - 501")
    assert History(KULEI, over).outcome.reason is Reason.SEEDS


def test_the_order_of_endings_is_repetition_before_the_ply_limit() -> None:
    history = History(KULEI, CIRCLE, ply_limit=len(ONCE_ROUND) * 2)
    for token in ONCE_ROUND * 2:
        history.play(token)
    assert history.outcome.reason is Reason.REPETITION


def test_a_copy_is_continued_separately_and_remembers_what_occurred() -> None:
    history = History(KULEI, CIRCLE)
    for token in ONCE_ROUND:
        history.play(token)
    assert history.occurrence == 2
    copied = history.copy()
    for token in ONCE_ROUND:
        copied.play(token)
    assert (copied.occurrence, copied.outcome.reason) == (3, Reason.REPETITION)
    assert (history.occurrence, history.outcome, history.moves) == (2, UNDECIDED, ONCE_ROUND)
    assert (copied.start, copied.ply_limit) == (history.start, history.ply_limit)
