"""DuAlma: the notation of positions. One test for each sentence of the rules."""

from __future__ import annotations

import pytest

from engines.rules import PositionError, find_game
from tests.engines.rules.test_dualma_movement import MIDDLE
from tests.support.hexagons import drawn, dualma

GAME = find_game("dualma")
DUALMA = GAME.position
START = "5/6/7/8/9/8/7/6/5 b 0"
STUCK = "5/6/7/8/wb,1,wb,1,wb,1,wb,2/8/wb,1,wb,1,wb,1,wb/6/wb,1,wb,1,wb w 21"
PLACING = "5/6/7/3,w,4/3,b,5/8/7/6/5"
ELEVEN_PAIRS = "b,w,b,w,b/w,b,w,b,w,w/7/8/9/8/7/w,b,w,b,w,b/b,w,b,w,b"


def test_a_position_is_rows_side_ply_with_the_rows_from_i_down_to_a() -> None:
    rows = "b,w,b,w,b/w,4,b/2,wb,4/8/2,b,1,bw,b,w,2/3,w,4/7/b,4,w/w,b,w,b,w"
    assert str(dualma(MIDDLE)) == f"{rows} w 31"
    assert str(dualma(MIDDLE, "b")) == f"{rows} b 32"


def test_a_cell_is_w_or_b_or_a_stack_bottom_first_then_top() -> None:
    position = dualma(MIDDLE)
    assert [position.board()[cell] for cell in ("d4", "e6", "e5", "g5", "e4")] == ["w", "b", "bw", "wb", ""]
    assert len(position.board()) == 61
    assert position.is_legal("e5-e7")  # the top of bw is White's
    assert not position.is_legal("g5-g7")  # the top of wb is Black's


def test_a_number_stands_for_that_many_empty_cells_in_a_row() -> None:
    for row in ("1,1,1,b,5", "2,1,b,5", "0,3,b,5", "3,b,05", "3,b,2,3", "3,b", "3,b,6", "03,b,5"):
        with pytest.raises(PositionError, match="row"):
            DUALMA.parse(f"5/6/7/3,w,4/{row}/8/7/6/5 w 1")
    assert DUALMA.parse(f"{PLACING} w 1").board()["e4"] == "b"


def test_the_start_is_written_like_this() -> None:
    assert str(DUALMA.initial()) == START


@pytest.mark.parametrize(
    "text", [START, STUCK, f"{PLACING} w 1", f"{ELEVEN_PAIRS} w 11", f"{drawn(MIDDLE)} b 999999998"]
)
def test_a_position_string_reads_and_writes_the_same(text: str) -> None:
    assert str(DUALMA.parse(text)) == text


def test_the_rules_page_shows_positions_that_are_read() -> None:
    assert f"`{START}`" in GAME.rules
    assert f"`{STUCK}`" in GAME.rules


def test_every_field_of_the_position_string_except_the_ply_counts_for_repetition() -> None:
    position = dualma(MIDDLE)
    later = DUALMA.parse(f"{drawn(MIDDLE)} w 33")
    assert later.key() == position.key()
    assert later != position
    others = [
        dualma(MIDDLE, "b"),
        dualma(MIDDLE.replace("bw b w", "b bw w")),
        dualma(MIDDLE.replace("bw b w", "wb b w")),
        dualma(MIDDLE.replace(". wb .", ". bw .")),
        dualma(MIDDLE.replace(". wb .", ". ww .").replace("bw b w", "bb b w")),
    ]
    keys = {each.key() for each in (position, *others)}
    assert len(keys) == len(others) + 1


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", ["position", "1 field instead of 3"]),
        (f"{PLACING} w", ["position", "2 fields"]),
        (f"{PLACING} w 1 -", ["position", "4 fields"]),
        (f"{PLACING}  w 1", ["position", "4 fields"]),
        (f"{PLACING} w 1 ", ["position", "4 fields"]),
        (f"{PLACING}\tw 1", ["position", "2 fields"]),
        (f"{PLACING} W 1", ["side 'W'"]),
        (f"{PLACING} x 1", ["side 'x'"]),
        (f"{PLACING} b 1", ["side 'b'", "ply 1"]),
        (f"{PLACING} w 01", ["ply '01'"]),
        (f"{PLACING} w -1", ["ply '-1'"]),
        (f"{PLACING} w 1.0", ["ply '1.0'"]),
        (f"{drawn(MIDDLE)} b 1000000000", ["ply '1000000000'"]),
        (STUCK.replace("8/wb,1", "8/wbb,1"), ["rows", "'wbb'"]),
        (STUCK.replace("8/wb,1", "8/Wb,1"), ["rows", "'Wb'"]),
        (STUCK.replace("5/6", "5/1,5"), ["rows", "row h", "'1,5'"]),
        (STUCK.replace("5/6", "5/7"), ["rows", "row h", "'7'"]),
        (STUCK.replace("5/6", "5/5"), ["rows", "row h", "5 cells instead of 6"]),
        (STUCK.replace("5/6", "5/6/"), ["rows", "10 rows instead of 9"]),
    ],
)
def test_anything_but_the_canonical_spelling_is_refused_with_a_message_that_names_the_field(
    text: str, words: list[str]
) -> None:
    assert_refused(text, *words)


def assert_refused(text: str, *words: str) -> None:
    with pytest.raises(PositionError) as refused:
        DUALMA.parse(text)
    assert all(word in str(refused.value) for word in words), str(refused.value)


def test_more_than_eleven_discs_a_colour_are_refused() -> None:
    assert_refused(f"{ELEVEN_PAIRS.replace('/7/8/', '/7/w,b,6/')} w 11", "rows", "12 white and 12 black")
    assert_refused(f"{ELEVEN_PAIRS.replace('/7/8/', '/7/w,7/')} w 11", "rows", "12 white")


def test_unequal_numbers_of_discs_are_refused() -> None:
    assert_refused("5/6/7/3,w,4/9/8/7/6/5 w 1", "rows", "1 white and 0 black")
    assert_refused(f"{ELEVEN_PAIRS.replace('w,w/7/', 'w,1/7/')} w 11", "rows", "10 white and 11 black")


def test_in_the_placement_phase_a_stack_is_refused() -> None:
    assert_refused("5/6/7/3,wb,4/9/8/7/6/5 w 1", "rows", "stack")


def test_in_the_placement_phase_a_disc_on_the_centre_is_refused() -> None:
    assert_refused("5/6/7/8/4,w,4/3,b,4/7/6/5 w 1", "rows", "centre")


def test_in_the_placement_phase_a_ply_that_is_not_the_number_of_discs_a_colour_is_refused() -> None:
    assert_refused(f"{PLACING} w 3", "ply '3'", "1 discs")
    assert_refused("5/6/7/8/9/8/7/6/5 b 2", "ply '2'")


def test_in_the_movement_phase_a_ply_under_eleven_is_refused() -> None:
    assert_refused(f"{drawn(MIDDLE)} w 9", "ply '9'", "11 plies")
    assert_refused(f"{ELEVEN_PAIRS} b 10", "ply '10'")
    assert str(DUALMA.parse(f"{ELEVEN_PAIRS} w 11"))


@pytest.mark.parametrize("index", [-1, 4000, 1 << 64, -(1 << 64)])
@pytest.mark.parametrize("text", [START, STUCK, f"{drawn(MIDDLE)} w 31"])
def test_there_is_no_move_at_an_index_out_of_range_however_far(text: str, index: int) -> None:
    with pytest.raises(IndexError, match=str(index)):
        DUALMA.parse(text).move_at(index)
