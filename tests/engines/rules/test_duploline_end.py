"""DuploLine: how a game ends. One test for each sentence of the rules."""

from __future__ import annotations

import pytest

from engines.rules import UNDECIDED, Outcome, Reason, Result, find_game
from tests.support.hexagons import changed, duploline
from tests.support.moves import assert_illegal, moves

DUPLOLINE = find_game("duploline").position

THREE_DISCS = """
       . . . .
      . . . . .
     . . r . . .
    Dr D DR . . . .
     . . . . . .
      . . . . .
       . . . .
"""
THREE_RINGS = """
       . . . .
      . . . . .
     . . . D . .
    . . . . r . .
     . . . r . .
      . . Dr . .
       . . . .
"""
NEARLY_FULL = """
       d d d r
      d D D d d
     D D d d D D
    DR dR dR D D d d
     d D r d d D
      D D d D d
       . Dr D d
"""
"""One empty cell, a1; white rings on d1, d2 and d3."""


def test_a_player_wins_at_once_even_after_the_first_action_of_his_turn_with_a_line_of_four_discs() -> None:
    before = duploline(THREE_DISCS)
    after = before.play("Dd4")
    assert changed(before, after) == {"d4": "D"}
    assert after.outcome() == Outcome(Result.WHITE_WINS, Reason.FOUR_DISCS)
    assert DUPLOLINE.parse(str(after)).outcome() == after.outcome()
    assert_illegal(before, "Dd4:Re5", "the first action wins already")


def test_no_move_can_be_played_after_the_end() -> None:
    after = duploline(THREE_DISCS).play("Dd4")
    assert moves(after) == []
    for token in ("De5:Re6", "Rd4", ""):
        assert_illegal(after, token, "the game is over")


def test_the_second_action_may_win_as_well() -> None:
    before = duploline(THREE_DISCS)
    assert before.play("Re5:Dd4").outcome() == Outcome(Result.WHITE_WINS, Reason.FOUR_DISCS)
    assert before.play("Re5:Df4").outcome() is UNDECIDED


def test_or_of_four_rings_of_his_colour() -> None:
    before = duploline(THREE_RINGS, "b")
    assert before.play("Re6").outcome() == Outcome(Result.BLACK_WINS, Reason.FOUR_RINGS)


@pytest.mark.parametrize("side", ["w", "b"])
def test_a_line_of_more_than_four_wins_too(side: str) -> None:
    position = duploline(
        """
           . . . .
          . . . . .
         . . . . . .
        . D D D D D .
         . . . . . .
          . . . . .
           . . . .
        """,
        side,
    )
    assert position.outcome() == Outcome(Result.WHITE_WINS, Reason.FOUR_DISCS)


@pytest.mark.parametrize(
    ("d_row", "outcome"),
    [
        ("dR dr d dR . . .", Outcome(Result.BLACK_WINS, Reason.FOUR_DISCS)),
        ("DR dR R dR . . .", Outcome(Result.WHITE_WINS, Reason.FOUR_RINGS)),
        (". . . Dr dr Dr r", Outcome(Result.BLACK_WINS, Reason.FOUR_RINGS)),
    ],
)
def test_what_shares_the_cells_does_not_matter(d_row: str, outcome: Outcome) -> None:
    position = duploline(f"""
           . . . .
          . . . . .
         . . . . . .
        {d_row}
         . . . . . .
          . . . . .
           . . . .
    """)
    assert position.outcome() == outcome


@pytest.mark.parametrize("d_row", ["D D D . . . .", "D D D d D . .", "D D D R . . .", "D D R R . . ."])
def test_the_cells_are_consecutive_and_of_one_kind_and_colour(d_row: str) -> None:
    position = duploline(f"""
           . . . .
          . . . . .
         . . . . . .
        {d_row}
         . . . . . .
          . . . . .
           . . . .
    """)
    assert position.outcome() is UNDECIDED


def test_the_cells_are_on_one_line() -> None:
    position = duploline("""
           . . . .
          . . . . .
         . . D . . .
        D D D . . . .
         . . . . . .
          . . . . .
           . . . .
    """)
    assert position.outcome() is UNDECIDED


@pytest.mark.parametrize("side", ["w", "b"])
def test_there_are_three_lines_through_a_cell(side: str) -> None:
    upper_left = """
           . . . .
          . . . . .
         . . . . . .
        . . . r . . .
         . . . r . .
          . . . r .
           . . . r
    """
    upper_right = """
           . . . .
          . . . . .
         . . . . . .
        . . . d . . .
         . . d . . .
          . d . . .
           d . . .
    """
    assert duploline(upper_right, side).outcome() == Outcome(Result.BLACK_WINS, Reason.FOUR_DISCS)
    assert duploline(upper_left, side).outcome() == Outcome(Result.BLACK_WINS, Reason.FOUR_RINGS)


def test_of_several_given_lines_that_of_the_player_who_moved_last_counts_and_discs_before_rings() -> None:
    both = """
           . . . .
          . . . . .
         . . . . . .
        DR DR DR DR . . .
         d d d d . .
          . . . . .
           . . . .
    """
    assert duploline(both, "w").outcome() == Outcome(Result.BLACK_WINS, Reason.FOUR_DISCS)
    assert duploline(both, "b").outcome() == Outcome(Result.WHITE_WINS, Reason.FOUR_DISCS)


def test_if_a_turn_ends_without_a_win_and_every_cell_holds_at_least_one_piece_the_game_is_drawn() -> None:
    before = duploline(NEARLY_FULL)
    after = before.play("Da1:Ra1")
    assert changed(before, after) == {"a1": "DR"}
    assert after.outcome() == Outcome(Result.DRAW, Reason.BOARD_FULL)
    assert DUPLOLINE.parse(str(after)).outcome() == after.outcome()
    assert_illegal(after, "Dg7:Rg6", "the game is over")


def test_that_is_judged_at_the_end_of_the_turn() -> None:
    # the first action fills the board, the second wins
    after = duploline(NEARLY_FULL).play("Da1:Rd4")
    assert after.outcome() == Outcome(Result.WHITE_WINS, Reason.FOUR_RINGS)


def test_if_at_the_start_of_a_turn_neither_kind_has_a_legal_form_or_a_replacement_the_game_is_drawn() -> None:
    locked = """
           . . . .
          . . . . .
         . . . . . .
        . . . DR . . .
         . . . . . .
          . . . . .
           . . . .
    """
    position = duploline(locked)
    assert position.outcome() == Outcome(Result.DRAW, Reason.NO_ACTION)
    assert moves(position) == []
    for token in ("Dd4", "Rd4", "De4", "Dd4-d5"):
        assert not position.is_legal(token)
    assert duploline(locked, "b").outcome() is UNDECIDED


@pytest.mark.parametrize("reason", [Reason.REPETITION, Reason.PLY_LIMIT])
def test_repetition_and_the_ply_limit_are_a_draw(reason: Reason) -> None:
    assert duploline(THREE_DISCS).outcome_by_match_rule(reason) == Outcome(Result.DRAW, reason)
