"""DuAlma: the placement phase. One test for each sentence of the rules."""

from __future__ import annotations

import pytest

from engines.rules import Position, Side, find_game, perft
from tests.support.hexagons import drawn
from tests.support.moves import assert_illegal, moves

DUALMA = find_game("dualma").position
PLACED = "a1 a2 a3 a4 a5 b1 b2 b3 b4 b5 b6 i5 i6 i7 i8 i9 h4 h5 h6 h7 h8 h9".split()
"""Eleven pairs of cells, away from the centre."""


def all_placements() -> list[Position]:
    """The positions from the start to the end of a placement phase."""
    positions = [DUALMA.initial()]
    for black, white in zip(PLACED[::2], PLACED[1::2], strict=True):
        positions.append(positions[-1].play(f"{black}:{white}"))
    return positions


def test_eleven_discs_a_colour() -> None:
    spelled = "".join(all_placements()[-1].board().values())
    assert (spelled.count("b"), spelled.count("w")) == (11, 11)


def test_the_board_is_empty_at_first() -> None:
    rows = drawn("""
            . . . . .
           . . . . . .
          . . . . . . .
         . . . . . . . .
        . . . . . . . . .
         . . . . . . . .
          . . . . . . .
           . . . . . .
            . . . . .
    """)
    assert str(DUALMA.initial()) == f"{rows} b 0"


def test_black_starts() -> None:
    assert DUALMA.initial().side is Side.BLACK


def test_a_turn_places_one_black_and_one_white_disc() -> None:
    rows = drawn("""
            . . . . .
           . . . . . .
          . . . . . . .
         . . . w . . . .
        . . . b . . . . .
         . . . . . . . .
          . . . . . . .
           . . . . . .
            . . . . .
    """)
    assert str(DUALMA.initial().play("e4:f5")) == f"{rows} w 1"


def test_on_two_different_empty_cells_neither_of_them_the_centre() -> None:
    after = DUALMA.initial().play("a1:a2")
    tokens = moves(after)
    assert len(set(tokens)) == len(tokens) == 58 * 57
    for token in ("e5:f5", "f5:e5"):
        assert_illegal(after, token, "centre")
    assert_illegal(after, "f5:f5", "both discs on one cell")
    for token in ("a1:b2", "b2:a2", "a1:a2"):
        assert_illegal(after, token, "occupied")


@pytest.mark.parametrize(
    "token",
    ["f5-f6", "f5", "f5:", ":f5", "f5:f6:f7", "F5:f6", "f1:f6", "j1:f6", " f5:f6", "f5:f6 ", "pass", ""],
)
def test_a_placement_is_spelled_as_two_cells_joined_by_a_colon(token: str) -> None:
    assert_illegal(DUALMA.initial(), token, "two cells")


def test_eleven_turns_in_all_six_by_black_and_five_by_white() -> None:
    *placing, moving = all_placements()
    assert [position.side for position in placing].count(Side.BLACK) == 6
    assert [position.side for position in placing].count(Side.WHITE) == 5
    assert all(":" in next(position.legal_moves()) for position in placing)
    assert_illegal(moving, "e4:f5", "spelled")


def test_in_the_movement_phase_white_starts_then_turns_alternate() -> None:
    moving = all_placements()[-1]
    rows = drawn("""
            w b w b w
           b w b w b w
          . . . . . . .
         . . . . . . . .
        . . . . . . . . .
         . . . . . . . .
          . . . . . . .
           w b w b w b
            b w b w b
    """)
    assert str(moving) == f"{rows} w 11"
    sides = []
    for token in ("b1-c1", "b2-c2", "b3-c3"):
        sides.append(moving.side)
        moving = moving.play(token)
    assert sides == [Side.WHITE, Side.BLACK, Side.WHITE]


def test_fewer_than_twenty_two_discs_on_the_board_is_the_placement_phase() -> None:
    for position in all_placements():
        placing = len("".join(position.board().values())) < 22
        assert (":" in next(position.legal_moves())) == placing


def test_every_ordered_pair_of_cells_but_the_centre_opens_and_has_as_many_answers() -> None:
    start = DUALMA.initial()
    assert start.count_moves() == perft(start, 1) == 60 * 59 == 3540
    assert perft(start, 2) == 3540 * 58 * 57 == 11703240


def test_the_first_of_many_placements_is_had_without_the_others() -> None:
    tokens = DUALMA.initial().legal_moves()
    assert [next(tokens), next(tokens)] == ["a1:a2", "a1:a3"]
