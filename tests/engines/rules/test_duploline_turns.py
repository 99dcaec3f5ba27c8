"""DuploLine: turns, actions and replacements. One test for each sentence of the rules."""

from __future__ import annotations

import pytest

from engines.rules import UNDECIDED, IllegalMove, Position, Side, find_game
from tests.literal.hexagon import cells
from tests.support.hexagons import changed, duploline
from tests.support.moves import assert_illegal, moves

DUPLOLINE = find_game("duploline").position

TRIO = """
           . . . .
          . . . . .
         . . r . . .
        . . D R . . .
         . . . . . .
          . . . . .
           . . . .
"""
"""A white disc and a white ring side by side, both beside a black ring."""
CHAIN = """
           . . . .
          . . . . .
         . . r . . .
        . r D R . . .
         . . . . . .
          . . . . .
           . . . .
"""
"""The same with a black ring that hangs on the white disc alone."""
ALONE = """
           . . . .
          . . . . .
         . . . D . .
        . . . . DR . .
         . . R D . .
          . . . . .
           . . . .
"""
"""No black piece, so nothing can be added; the disc on c4 holds the ring on c3 to the others."""


def first_actions(position: Position) -> str:
    return " ".join(sorted({token.partition(":")[0] for token in position.legal_moves()}))


def answers_to(position: Position, action: str) -> str:
    """The second actions of the legal turns that begin with this one; a turn of it alone shows as ``-``."""
    turns = [token.partition(":") for token in position.legal_moves()]
    return " ".join(sorted(second or "-" for first, _, second in turns if first == action))


# Turns


def test_a_cell_can_hold_one_disc_and_one_ring_and_nothing_more() -> None:
    position = duploline("""
           . . . .
          . . . . .
         . . dr . . .
        . . D R . . .
         . . . . . .
          . . . . .
           . . . .
    """)
    assert position.play("Dd3-d4:Re3").board()["d4"] == "DR"
    for token in ("Dd3-e4:Re3", "Rd4-e4:De3"):
        assert_illegal(position, token, "single piece of the other kind")
    assert_illegal(position, "De4:Re3", "holds a piece of this kind")


def test_white_starts_by_placing_one_of_his_pieces_disc_or_ring_on_any_cell() -> None:
    start = DUPLOLINE.initial()
    assert start.side is Side.WHITE
    assert moves(start) == sorted(f"{kind}{cell}" for kind in "DR" for cell in cells(4))
    assert start.outcome() is UNDECIDED


@pytest.mark.parametrize("token", ["Dd4:Re5", "Dd4-d5", "Rd4:", "d4", "rd4", "Xd4", "Dd8", "De1", "", "pass"])
def test_that_turn_is_a_single_action(token: str) -> None:
    with pytest.raises(IllegalMove, match=r"first turn adds a single piece|spelled"):
        DUPLOLINE.initial().play(token)
    assert not DUPLOLINE.initial().is_legal(token)


def test_from_then_on_black_first_each_turn_is_a_disc_action_and_a_ring_action() -> None:
    position = DUPLOLINE.initial().play("Dd4")
    assert position.side is Side.BLACK
    for token in position.legal_moves():
        first, _, second = token.partition(":")
        assert {first[0], second[0]} == {"D", "R"}
    for token in ("De4:De5", "Re4:Re5"):
        assert_illegal(position, token, "a disc action and a ring action")
    for token in ("De4", "Re4"):
        assert_illegal(position, token, "a second action is possible")


def test_in_the_order_the_mover_chooses() -> None:
    position = duploline(TRIO)
    assert changed(position, position.play("De5:Rd4-e5")) == {"d4": "", "e5": "DR"}
    assert_illegal(position, "Rd4-e5:De5", "single piece of the other kind")


# Adding


def test_a_disc_is_added_to_an_empty_cell_adjacent_to_at_least_one_cell_with_an_opponent_s_piece() -> None:
    position = duploline(TRIO)
    adds = [action for action in first_actions(position).split() if action[0] == "D" and "-" not in action]
    assert adds == ["De3", "De5", "Df4", "Df5"]
    assert_illegal(position, "Dd2:Re3", "must touch an opponent's piece")  # beside White's own disc alone
    assert changed(position, position.play("De3:Rf4")) == {"e3": "D", "f4": "R"}


def test_a_ring_is_added_likewise() -> None:
    position = duploline(TRIO)
    adds = [action for action in first_actions(position).split() if action[0] == "R" and "-" not in action]
    assert adds == ["Re3", "Re5", "Rf4", "Rf5"]
    assert_illegal(position, "Rd2:De3", "must touch an opponent's piece")


def test_a_cell_that_both_players_share_is_one_with_an_opponent_s_piece() -> None:
    position = duploline("""
           . . . .
          . . . . .
         . . . . . .
        . . . Dr . . .
         . . . . . .
          . . . . .
           . . . .
    """)
    assert position.is_legal("De4:Re5")


def test_an_add_comes_from_the_supply() -> None:
    # Black has all eighteen discs on the board, and many rings left
    position = duploline(REPLACED, "b")
    assert_illegal(position, "Da1:Rg7-g6", "supply is used up")
    assert first_actions(position).split()[:3] == ["Df6-g7", "Df7-g7", "Dg6-g7"]
    assert position.is_legal("Ra1:Dg6-g7")


# Moving


def test_an_unlocked_disc_moves_to_an_adjacent_cell_that_holds_a_ring_of_any_colour_and_no_disc() -> None:
    position = duploline(TRIO)
    discs = [action for action in first_actions(position).split() if action.startswith("Dd3-")]
    assert discs == ["Dd3-d4", "Dd3-e4"]
    assert_illegal(position, "Dd3-c3:Re3", "single piece of the other kind")  # an empty cell
    assert_illegal(position, "Dd3-d5:Re3", "spelled")  # not adjacent


def test_an_unlocked_ring_moves_to_an_adjacent_cell_that_holds_a_disc_of_any_colour_and_no_ring() -> None:
    position = duploline("""
           . . . .
          . . . . .
         . . d r . .
        . . D R . . .
         . . . . . .
          . . . . .
           . . . .
    """)
    rings = [action for action in first_actions(position).split() if action.startswith("Rd4-")]
    assert rings == ["Rd4-d3", "Rd4-e4"]
    assert_illegal(position, "Rd4-e5:De3", "single piece of the other kind")


def test_only_his_own_pieces_move() -> None:
    position = duploline(TRIO)
    for token in ("De3-e4:Rf4", "Dd4-d3:Re3", "Re4-d3:De3"):
        assert_illegal(position, token, "no such piece")


def test_a_disc_and_a_ring_that_share_a_cell_are_locked_and_neither_moves_again() -> None:
    after = duploline(TRIO).play("Dd3-d4:Re3").play("De2:Rd2")
    assert after.board()["d4"] == "DR"
    assert_illegal(after, "Dd4-e4:Rf4", "locked")
    assert_illegal(after, "Rd4-e4:Df4", "locked")


def test_a_turn_changes_the_cells_it_names_and_nothing_else() -> None:
    before = duploline(TRIO)
    after = before.play("Rd4-d3:Df5")
    assert changed(before, after) == {"d4": "", "d3": "DR", "f5": "D"}
    assert (after.side, after.ply) == (Side.BLACK, 11)


def test_the_second_action_is_taken_on_the_board_the_first_one_leaves() -> None:
    position = duploline(TRIO)
    assert answers_to(position, "De3") == "Rd4-d3 Re5 Rf4 Rf5"
    assert answers_to(position, "Dd3-d4") == "Rd3 Re3 Re5 Rf4 Rf5"  # d3 is empty now, the ring on d4 locked
    assert answers_to(position, "Rd4-d3") == "Dd4 De3 De5 Df4 Df5"  # the disc on d3 is locked
    assert answers_to(position, "Re3") == "Dd3-d4 Dd3-e3 Dd3-e4 De5 Df4 Df5"
    assert answers_to(position, "De5") == "Rd4-d3 Rd4-e5 Re3 Rf4 Rf5"  # onto the disc just added


# The connection rule


def test_a_move_after_which_the_occupied_cells_do_not_form_one_connected_group_is_illegal() -> None:
    position = duploline(CHAIN)
    for move in ("Dd3-d2", "Dd3-d4", "Dd3-e4"):
        assert_illegal(position, f"{move}:Rf4", "would not form one group")
    assert position.is_legal("Rd4-d3:De3")


def test_it_is_judged_after_each_action() -> None:
    # a ring on the cell left would join the groups again, but comes too late; one added first does
    position = duploline(CHAIN)
    assert_illegal(position, "Dd3-d4:Rd3", "would not form one group")
    assert position.is_legal("Re3:Dd3-d4")


# Replacements

REPLACED = """
           d d d r
          d D D d d
         D D d d D D
        D d d D D d d
         d D D d d D
          D D d D d
           . D D d
"""


def test_an_action_due_without_a_legal_form_is_replaced_by_a_piece_on_a_cell_of_the_other_kind() -> None:
    # no disc of White's has an add or a move, nor has a ring
    position = duploline(REPLACED)
    tokens = moves(position)
    assert len(set(tokens)) == len(tokens) == 70
    assert position.is_legal("Dg7:Rg6")
    assert position.is_legal("Rg6:Dg7")
    assert changed(position, position.play("Dg7:Rg6")) == {"g7": "Dr", "g6": "dR"}
    assert not position.is_legal("Da1:Rg6")


def test_a_disc_goes_to_any_cell_holding_a_ring_and_no_disc() -> None:
    position = duploline(ALONE)
    assert changed(position, position.play("Dc3:Rc4")) == {"c3": "DR", "c4": "DR"}


def test_a_ring_goes_to_any_cell_holding_a_disc_and_no_ring() -> None:
    lonely = duploline("""
           . . . .
          . . . . .
         . . . . . .
        . . . D . . .
         . . . . . .
          . . . . .
           . . . .
    """)
    assert moves(lonely) == ["Rd4"]
    assert changed(lonely, lonely.play("Rd4")) == {"d4": "DR"}


@pytest.mark.parametrize("token", ["De4:Re3", "De3:Re3"])
def test_an_action_with_a_legal_form_is_not_replaced(token: str) -> None:
    assert_illegal(duploline(TRIO), token, "only an action with no legal form is replaced")
    assert_illegal(duploline(ALONE), "Re5:Dc3", "only an action with no legal form is replaced")


def test_a_kind_whose_supply_is_used_up_has_no_replacement() -> None:
    # all eighteen white rings are on the board and locked; many discs stand alone
    position = duploline("""
           dR dR dR r
          dR D D dR dR
         D D dR dR D D
        D dR dR D D dR dR
         dR D D dR dR D
          D D dR D dR
           . D D dR
    """)
    assert moves(position) == ["Dg7"]
    assert_illegal(position, "Dg7:Rf4", "the supply is used up")


def test_replacement_is_decided_action_by_action() -> None:
    # Disc first: e5 and c4 have no legal move, so the ring on c3 is joined by a disc from the supply;
    # then no ring can move, so a ring joins a disc. Ring first: c3-c4 is a move, so nothing is
    # replaced; then there is no disc to move and no single ring to join, and the turn ends.
    assert moves(duploline(ALONE)) == ["Dc3:Rc4", "Dc3:Re5", "Rc3-c4"]


def test_the_mover_may_begin_with_either_kind_that_has_a_legal_form_or_a_replacement_at_that_moment() -> None:
    assert first_actions(duploline(TRIO)) == "Dd3-d4 Dd3-e4 De3 De5 Df4 Df5 Rd4-d3 Re3 Re5 Rf4 Rf5"
    assert {token[0] for token in duploline(REPLACED).legal_moves()} == {"D", "R"}


def test_if_the_second_action_then_has_neither_the_turn_ends_after_one_action() -> None:
    position = duploline(ALONE)
    after = position.play("Rc3-c4")
    assert changed(position, after) == {"c3": "", "c4": "DR"}
    assert after.side is Side.BLACK
    assert_illegal(position, "Rc3-c4:De5", "holds a piece of this kind")


def test_such_a_turn_may_be_chosen_even_if_another_choice_would_have_allowed_two() -> None:
    position = duploline(ALONE)
    assert position.is_legal("Rc3-c4")
    assert position.is_legal("Dc3:Rc4")
    assert_illegal(position, "Dc3", "a second action is possible")


# How turns are written


def test_an_action_is_written_with_its_kind_and_cell_or_both_cells_of_a_move() -> None:
    assert first_actions(duploline(TRIO)).split()[:3] == ["Dd3-d4", "Dd3-e4", "De3"]


@pytest.mark.parametrize(
    "token",
    [
        *("Dd3-d3:Re3", "De3:Rd4-d3:Re5", "De3:", ":De3", "De3 :Re5", "De3: Re5", " De3:Re5", "De3:Re5 "),
        *("de3:re5", "DE3:RE5", "Dd3d4:Re3", "Dd3-:Re3", "Dd3--d4:Re3", "e3:e5", "De3+Re5", "pass", "", ":"),
    ],
)
def test_a_turn_joins_two_with_a_colon_first_action_first(token: str) -> None:
    position = duploline(TRIO)
    assert position.is_legal("Dd3-d4:Re3")
    assert_illegal(position, token, "spelled")


def test_a_turn_of_one_action_has_no_colon() -> None:
    assert DUPLOLINE.initial().is_legal("Dd4")
    assert duploline(ALONE).is_legal("Rc3-c4")
    assert not duploline(ALONE).is_legal("Rc3-c4:")


def test_the_two_orders_of_the_same_two_actions_are_two_moves() -> None:
    position = DUPLOLINE.initial().play("Dd4")
    assert {"De4:Re5", "Re5:De4"} <= set(position.legal_moves())
    assert position.play("De4:Re5") == position.play("Re5:De4")
