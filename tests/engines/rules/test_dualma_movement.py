"""DuAlma: how discs move, bounce and are stuck. One test for each sentence of the rules."""

from __future__ import annotations

import pytest

from engines.rules import UNDECIDED, Position, Side
from tests.literal.hexagon import DIRECTIONS, cells, neighbours, step
from tests.support.hexagons import changed, dualma
from tests.support.moves import assert_illegal, moves

MIDDLE = """
            b w b w b
           w . . . . b
          . . wb . . . .
         . . . . . . . .
        . . b . bw b w . .
         . . . w . . . .
          . . . . . . .
           b . . . . w
            w b w b w
"""
"""Around the centre: e3 b, e5 bw, e6 b, e7 w; below it d4 w; above it g5 wb."""


def from_cell(position: Position, cell: str) -> str:
    """What the legal moves from a cell have after its name, sorted."""
    return " ".join(sorted(token[3:] for token in position.legal_moves() if token.startswith(f"{cell}-")))


def test_the_mover_moves_one_disc_of_his_colour() -> None:
    white, black = dualma(MIDDLE), dualma(MIDDLE, "b")
    for position, letter in ((white, "w"), (black, "b")):
        board = position.board()
        assert {board[token[:2]][-1] for token in position.legal_moves()} == {letter}
    for token in ("e3-e4", "g5-g7"):
        assert_illegal(white, token, "no active disc")


def test_the_topmost_disc_of_a_stack_of_height_one_or_two_is_active() -> None:
    assert from_cell(dualma(MIDDLE), "d4") != ""
    assert from_cell(dualma(MIDDLE), "e5") != ""
    assert from_cell(dualma(MIDDLE, "b"), "g5") != ""


def test_the_disc_beneath_it_is_not_active() -> None:
    assert from_cell(dualma(MIDDLE, "b"), "e5") == ""
    assert_illegal(dualma(MIDDLE, "b"), "e5-e4", "no active disc")
    uncovered = dualma(MIDDLE).play("e5-g7")
    assert uncovered.board()["e5"] == "b"
    assert from_cell(uncovered, "e5") == "d4 d5 e4 e6 f5 f6"


def test_it_moves_in_one_of_the_six_directions_over_exactly_as_many_cells_as_its_stack_is_high() -> None:
    position = dualma("""
            . . . . .
           . . . . . .
          . . . . . . .
         . . . . . . . .
        . w . . . bw . . .
         . . . . . . . .
          . . . . . . .
           . . . . . .
            . . . . .
    """)
    assert from_cell(position, "e2") == "d1 d2 e1 e3 f2 f3"
    assert from_cell(position, "e6") == "c4 c6 e4 e8 g6 g8"
    for token in ("e2-e4", "e6-e7"):
        assert_illegal(position, token, "exactly as many cells")


def test_what_lies_between_does_not_matter() -> None:
    position = dualma("""
            . . . . .
           . . . . . .
          . . . . . . .
         . . . . b w . .
        . . . . wb bw ww . .
         . . . . bb b . .
          . . . . . . .
           . . . . . .
            . . . . .
    """)
    assert from_cell(position, "e6") == "c4 c6 e4 e8 g6 g8"


def test_it_ends_on_an_empty_cell_or_on_a_single_disc_of_any_colour_making_a_stack_of_two() -> None:
    position = dualma("""
            . . . . .
           . . . . . .
          . . . . . . .
         . . . . . . . .
        . . . w w b . . .
         . . . . . . . .
          . . . . . . .
           . . . . . .
            . . . . .
    """)
    assert changed(position, position.play("e5-d5")) == {"e5": "", "d5": "w"}
    assert changed(position, position.play("e5-e4")) == {"e5": "", "e4": "ww"}
    assert changed(position, position.play("e5-e6")) == {"e5": "", "e6": "bw"}


def test_never_on_a_stack_of_two() -> None:
    position = dualma(MIDDLE)
    for token in ("d4-e5", "e5-g5", "e5-g5-g6"):
        assert_illegal(position, token, "stack of two")


def test_never_off_the_board() -> None:
    position = dualma("""
            . . . . .
           . . . . . .
          . . . . . . .
         . . . . . . . .
        w . . . . . . bw .
         . . . . . . . .
          . . . . . . .
           . . . . . .
            . . . . .
    """)
    assert from_cell(position, "e1") == "d1 e2 f2"
    assert from_cell(position, "e8") == "c6 e6 g8"


@pytest.mark.parametrize(
    "token",
    [
        *("a1-a0", "e5-e8", "e5-e9", "d4-d4", "d4-f5", "e5-e7-e5", "d4-d5-d6", "e7-e6-e5"),
        *("d4:d5", "d4d5", "D4-d5", "d4-d5 ", " d4-d5", "d4-", "-d5", "d4--d5", "d4", "", "PASS"),
    ],
)
def test_a_movement_is_spelled_from_to_and_a_bounce_from_single_disc_landing_cell(token: str) -> None:
    assert_illegal(dualma(MIDDLE), token, "spelled")


@pytest.mark.parametrize(
    ("token", "cells_after"),
    [
        ("d4-d5", {"d4": "", "d5": "w"}),
        ("e7-e6", {"e7": "", "e6": "bw"}),
        ("e5-e7", {"e5": "b", "e7": "ww"}),
        ("e5-e3", {"e5": "b", "e3": "bw"}),
        ("e5-c3", {"e5": "b", "c3": "w"}),
        ("e5-e3-f4", {"e5": "b", "f4": "w"}),
    ],
)
def test_a_movement_changes_the_cells_it_names_and_nothing_else(
    token: str, cells_after: dict[str, str]
) -> None:
    before = dualma(MIDDLE)
    text = str(before)
    after = before.play(token)
    assert changed(before, after) == cells_after
    assert (after.side, after.ply) == (Side.BLACK, before.ply + 1)
    assert str(before) == text


# Bounces


def test_a_disc_that_leaves_a_stack_of_two_and_lands_on_a_single_disc_may_bounce_from_there() -> None:
    onto_b = "e3 e3-d2 e3-d3 e3-e2 e3-e4 e3-f3 e3-f4"
    onto_w = "e7 e7-d6 e7-d7 e7-e8 e7-f7 e7-f8"
    assert from_cell(dualma(MIDDLE), "e5") == f"c3 c5 {onto_b} {onto_w} g7"


def test_a_disc_that_leaves_a_single_cell_never_bounces() -> None:
    position = dualma(MIDDLE)
    assert position.is_legal("e7-e6")
    for token in ("e7-e6-d6", "e7-e6-f6"):
        assert_illegal(position, token)


def test_a_bounce_goes_off_a_single_disc_alone() -> None:
    assert_illegal(dualma(MIDDLE), "e5-g7-g8", "only off a single disc")


def test_a_bounce_goes_to_any_empty_cell_adjacent_to_that_single_disc() -> None:
    position = dualma(MIDDLE)
    assert_illegal(position, "e5-e7-e6", "only to an empty cell")
    assert_illegal(position, "e5-e3-d4", "spelled")  # adjacent to the cell left, not to e3
    after = position.play("e5-e3-f4")
    assert changed(position, after) == {"e5": "b", "f4": "w"}


def test_the_cell_it_left_is_never_adjacent_to_it() -> None:
    for cell in cells(5):
        for target in jumps_from(cell):
            assert cell not in neighbours(5, target)
    assert_illegal(dualma(MIDDLE), "e5-e7-e5", "spelled")


def test_the_cell_it_jumped_over_is_adjacent_and_may_be_used_if_empty() -> None:
    position = dualma("""
            . . . . .
           . . . . . .
          . . . . . . .
         . . . . . . . .
        . . . . bw . b . .
         . . . . . . . .
          . . . . . . .
           . . . . . .
            . . . . .
    """)
    assert changed(position, position.play("e5-e7-e6")) == {"e5": "b", "e6": "w"}


def test_a_bounce_stays_on_the_board() -> None:
    position = dualma("""
            . . . . .
           . . . . . .
          . . . . . . .
         . . . . . . . .
        . . . . . . bw . b
         . . . . . . . .
          . . . . . . .
           . . . . . .
            . . . . .
    """)
    assert from_cell(position, "e7") == "c5 c7 e5 e9 e9-d8 e9-e8 e9-f9 g7 g9"


def test_the_centre_may_be_used_in_the_movement_phase() -> None:
    position = dualma("""
            . . . . .
           . . . . . .
          . . . . . . .
         . . . . . . . .
        . . . w . . b . .
         . . . . bw . . .
          . . bw . . . .
           . . . . . .
            . . . . .
    """)
    for token in ("e4-e5", "c3-e5", "d5-d3"):
        assert position.is_legal(token)
    assert position.play("e4-e5").board()["e5"] == "w"
    assert position.play("c3-e5").board()["e5"] == "w"


# Passing


STUCK = """
        . . . . .
       . . . . . .
      . . . . . . .
     . . . . . . . .
    wb . wb . wb . wb . .
     . . . . . . . .
      wb . wb . wb . wb
       . . . . . .
        wb . wb . wb
"""
CORNERED = """
        . . . . .
       . . . . . .
      . . . . . . .
     . . . b . . . .
    wb . wb . wb . wb . .
     . . . . . . . .
      wb . wb . wb . .
       wb wb . . . .
        w wb . . .
"""
"""White's one active disc, a1, looks onto stacks of two."""


@pytest.mark.parametrize("board", [STUCK, CORNERED])
def test_a_player_with_no_legal_move_must_pass(board: str) -> None:
    position = dualma(board)
    assert moves(position) == ["pass"]
    assert position.outcome() is UNDECIDED
    after = position.play("pass")
    assert changed(position, after) == {}
    assert (after.side, after.ply) == (Side.BLACK, position.ply + 1)


def test_pass_is_legal_only_then() -> None:
    assert_illegal(dualma(MIDDLE), "pass", "there is a legal move")
    after = dualma(STUCK).play("pass")
    assert_illegal(after, "pass", "there is a legal move")


def test_that_both_are_stuck_cannot_happen() -> None:
    # Eleven stacks never fill a class of cells linked by jumps of two.
    sizes = []
    left = set(cells(5))
    while left:
        linked: set[str] = set()
        border = {min(left)}
        while border:
            linked |= border
            border = {cell for one in border for cell in jumps_from(one)} - linked
        left -= linked
        sizes.append(len(linked))
        assert ("e5" in linked) == (len(linked) == 19)
    assert sorted(sizes) == [14, 14, 14, 19]


def jumps_from(cell: str) -> list[str]:
    """The cells two steps away in a straight line."""
    steps = [step(5, cell, direction, 2) for direction in DIRECTIONS]
    return [target for target in steps if target is not None]
