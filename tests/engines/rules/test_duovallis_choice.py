"""Duovallis: which holes may be chosen, endless sowings, the end. One test for each sentence of the rules."""

from __future__ import annotations

import pytest

from engines.rules import UNDECIDED, Outcome, Reason, Result, Side, find_game
from tests.support.mancala import duovallis
from tests.support.moves import assert_illegal, moves

DUOVALLIS = find_game("duovallis").position


def test_a_move_starts_from_an_own_hole_with_at_least_two_stones_half_of_them_the_mover_s_colour() -> None:
    position = duovallis("""
        4 |  .    .  .    .  . . |
        3 |  .    .  .    .  . . |
        2 |  .    .  .    .  . . |
        1 | 1w 1w1b 2b 2w3b 3w . |
             a    b  c    d  e f
    """)
    assert moves(position) == ["b1", "e1"]
    for token in ("a1", "c1", "d1", "f1"):
        assert_illegal(position, token, "two stones or more, at least half of them of the mover's colour")


def test_a_front_row_hole_may_be_chosen_only_if_no_back_row_hole_can_be() -> None:
    both = duovallis("""
        4 |  .  . . . . . |
        3 |  . 4w . . . . |
        2 |  .  . . . . . |
        1 | 2w  . . . . . |
             a  b c d e f
    """)
    assert moves(both) == ["a1"]
    assert_illegal(both, "b3", "only if no back-row hole can be")
    front = duovallis("""
        4 |  .  . . . . . |
        3 |  . 4w . . . . |
        2 |  .  . . . . . |
        1 | 1w  . . . . . |
             a  b c d e f
    """)
    assert moves(front) == ["b3"]


@pytest.mark.parametrize("token", ["a2", "a3", "f2", "f3"])
def test_neutral_holes_never_start_a_move(token: str) -> None:
    position = duovallis("""
        4 |  . . . . .  . |
        3 | 4w . . . . 4w |
        2 | 4w . . . . 4w |
        1 |  . . . . .  . |
             a b c d e  f
    """)
    assert moves(position) == []
    assert_illegal(position, token, "no hole of the side to move")


# Sowings that do not end


ONE_ENDLESS = """
    4 | 2b  .  .  .  .    . |
    3 | 1w  . 1w  . 1b    . |
    2 |  .  .  .  .  .   1w |
    1 | 1b 2w  . 1b  . 1w1b |
         a  b  c  d  e    f
"""
BACK_ROW_ENDLESS = """
    4 |  .  .  . .  .  . |
    3 | 3w 2w 1w . 1w  . |
    2 |  .  .  . .  . 3w |
    1 | 1w 3w 1w . 1w  . |
         a  b  c d  e  f
"""
"""Only b1 of the back row has two stones, and its sowing never ends."""
LONG_BUT_ENDING = """
    4 |    .  .    .  .  .  . |
    3 | 2w1b  . 4w1b  . 3w 6w |
    2 |   2w  .    .  .  . 3w |
    1 |   3w 4w   3w 5w 3w 2w |
           a  b    c  d  e  f
"""
"""d1 takes 9,097 laps."""
TOO_LONG = """
    4 |  .  .    .    .  .  . |
    3 | 4w 1w   2w 1w2b 4w 1w |
    2 | 3w  .    .    .  . 4w |
    1 | 5w 4w 2w1b   5w 4w 3w |
         a  b    c    d  e  f
"""
"""c1 would end after 10,382 laps."""


def test_a_sowing_of_more_than_ten_thousand_laps_is_not_a_legal_move() -> None:
    endless = duovallis(ONE_ENDLESS)
    assert moves(endless) == ["f1"]
    assert_illegal(endless, "b1", "more than 10000 laps")


def test_the_ten_thousandth_lap_may_be_the_last_one() -> None:
    # the first lap of c1 leads to the second board, and takes one lap more
    ten_thousand_and_one = duovallis("""
        4 |  .  .    . .  .    . |
        3 | 2w 3w 1w1b . 1w 6w1b |
        2 | 7w  .    . .  .   1w |
        1 |  . 3w   2w . 3w   2w |
             a  b    c d  e    f
    """)
    ten_thousand = duovallis("""
        4 |  .  .    .  .  .    . |
        3 | 2w 3w 1w1b  . 1w 6w1b |
        2 | 7w  .    .  .  .   1w |
        1 |  . 3w    . 1w 4w   2w |
             a  b    c  d  e    f
    """)
    assert_illegal(ten_thousand_and_one, "c1", "more than 10000 laps")
    assert ten_thousand.is_legal("e1")
    assert ten_thousand.play("e1").ply == 1


def test_some_would_end_only_after_more_laps_and_are_not_legal_either() -> None:
    assert_illegal(duovallis(TOO_LONG), "c1", "more than 10000 laps")


def test_a_long_sowing_of_fewer_laps_is_legal() -> None:
    position = duovallis(LONG_BUT_ENDING)
    assert "d1" in moves(position)
    assert position.play("d1").side is Side.BLACK


def test_it_does_not_count_as_a_back_row_hole_that_can_be_chosen() -> None:
    position = duovallis(BACK_ROW_ENDLESS)
    assert moves(position) == ["b3"]
    assert position.is_legal("b3")
    assert position.play("b3").ply == 1


def test_without_any_other_sowing_the_player_has_lost() -> None:
    position = duovallis("""
        4 | 2b  .  .  . .    . |
        3 |  . 1w  . 1b .   1w |
        2 | 1w  .  .  . . 1w1b |
        1 |  . 1b 2w  . 1b   . |
             a  b  c  d e    f
    """)
    assert moves(position) == []
    assert position.outcome() == Outcome(Result.BLACK_WINS, Reason.NO_MOVE)


# The end


def test_a_player_who_has_no_legal_move_at_his_turn_loses_even_if_the_mover_could_not_move_either() -> None:
    stuck = """
        4 |  .  . . . .  . |
        3 |  .  . . . .  . |
        2 |  .  . . . .  . |
        1 | 1w 1w . . . 3b |
             a  b c d e  f
    """
    assert duovallis(stuck).outcome() == Outcome(Result.BLACK_WINS, Reason.NO_MOVE)
    assert duovallis(stuck, "b").outcome() == Outcome(Result.WHITE_WINS, Reason.NO_MOVE)


def test_the_rules_know_no_other_end() -> None:
    # two stones are left, and the game goes on
    position = duovallis("""
        4 |  . . . . . . |
        3 |  . . . . . . |
        2 |  . . . . . . |
        1 | 2w . . . . . |
             a b c d e f
    """)
    assert position.outcome() is UNDECIDED


@pytest.mark.parametrize("reason", [Reason.REPETITION, Reason.PLY_LIMIT])
def test_repetition_and_the_ply_limit_are_match_rules_and_make_a_draw(reason: Reason) -> None:
    assert DUOVALLIS.initial().outcome_by_match_rule(reason) == Outcome(Result.DRAW, reason)
