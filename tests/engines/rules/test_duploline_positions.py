"""DuploLine: the notation of positions. One test for each sentence of the rules."""

from __future__ import annotations

import random

import pytest

from engines.rules import PositionError, Result, find_game
from tests.support.hexagons import duploline

GAME = find_game("duploline")
DUPLOLINE = GAME.position
START = "4/5/6/7/6/5/4 w 0"
AFTER_TWO = "4/5/2,d,r,2/3,D,3/6/5/4 w 2"
BOTH_REPLACED = "d,d,d,r/d,D,D,d,d/D,D,d,d,D,D/D,d,d,D,D,d,d/d,D,D,d,d,D/D,D,d,D,d/1,D,D,d w 36"
MIXED = """
           . . . .
          . . . . .
         . r dR . . .
        . . Dr d D . .
         . . . . R .
          . . . . .
           . . . .
"""


def test_a_position_is_rows_side_ply_with_the_rows_from_g_down_to_a() -> None:
    rows = "4/5/1,r,dR,3/2,Dr,d,D,2/4,R,1/5/4"
    assert str(duploline(MIXED)) == f"{rows} w 10"
    assert str(duploline(MIXED, "b")) == f"{rows} b 11"


def test_a_cell_is_a_disc_or_a_ring_capitals_white_or_disc_then_ring_when_both() -> None:
    board = duploline(MIXED).board()
    names = ("d5", "d4", "c5", "e3", "d3", "e4", "a1")
    assert [board[name] for name in names] == ["D", "d", "R", "r", "Dr", "dR", ""]
    assert len(board) == 37


def test_the_start_is_written_like_this() -> None:
    assert str(DUPLOLINE.initial()) == START


@pytest.mark.parametrize("text", [START, AFTER_TWO, BOTH_REPLACED, "4/5/6/3,DR,3/6/5/4 b 999999999"])
def test_a_position_string_reads_and_writes_the_same(text: str) -> None:
    assert str(DUPLOLINE.parse(text)) == text


def test_the_rules_page_shows_positions_that_are_read() -> None:
    assert f"`{START}`" in GAME.rules
    assert f"`{AFTER_TWO}`" in GAME.rules


def test_every_field_of_the_position_string_except_the_ply_counts_for_repetition() -> None:
    position = duploline(MIXED)
    later = DUPLOLINE.parse(str(position).replace("w 10", "w 12"))
    assert later.key() == position.key()
    assert later != position
    others = [
        duploline(MIXED, "b"),
        duploline(MIXED.replace("dR", "Dr")),
        duploline(MIXED.replace("dR", "dr")),
        duploline(MIXED.replace("dR", "R")),
        duploline(MIXED.replace("d D", "D d")),
    ]
    assert len({each.key() for each in (position, *others)}) == len(others) + 1


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", ["position", "1 field instead of 3"]),
        ("4/5/6/7/6/5/4 w", ["position", "2 fields"]),
        ("4/5/6/7/6/5/4 w 0 0", ["position", "4 fields"]),
        ("4/5/6/7/6/5/4  w 0", ["position", "4 fields"]),
        ("4/5/6/7/6/5/4 b 0", ["side 'b'", "ply 0"]),
        ("4/5/6/7/6/5/4 W 0", ["side 'W'"]),
        (AFTER_TWO.replace("w 2", "w 3"), ["side 'w'", "ply 3"]),
        (AFTER_TWO.replace("w 2", "w 02"), ["ply '02'"]),
        (AFTER_TWO.replace("w 2", "w +2"), ["ply '+2'"]),
        (AFTER_TWO.replace("w 2", "w 1000000000"), ["ply '1000000000'"]),
        ("4/5/6/3,rD,3/6/5/4 w 2", ["rows", "row d", "'rD'"]),
        ("4/5/6/3,Dd,3/6/5/4 w 2", ["rows", "row d", "'Dd'"]),
        ("4/5/6/3,RR,3/6/5/4 w 2", ["rows", "row d", "'RR'"]),
        ("4/5/6/3,DRr,3/6/5/4 w 2", ["rows", "row d", "'DRr'"]),
        ("4/5/6/3,w,3/6/5/4 w 2", ["rows", "row d", "'w'"]),
        ("4/5/6/1,2,D,3/6/5/4 w 2", ["rows", "row d", "'1,2,D,3'"]),
        ("4/5/6/3,D,4/6/5/4 w 2", ["rows", "row d", "8 cells instead of 7"]),
        ("4/5/6/3,D,3/6/5 w 2", ["rows", "6 rows instead of 7"]),
    ],
)
def test_anything_but_the_canonical_spelling_is_refused_with_a_message_that_names_the_field(
    text: str, words: list[str]
) -> None:
    assert_refused(text, *words)


def assert_refused(text: str, *words: str) -> None:
    with pytest.raises(PositionError) as refused:
        DUPLOLINE.parse(text)
    assert all(word in str(refused.value) for word in words), str(refused.value)


@pytest.mark.parametrize("letter", "DdRr")
def test_more_than_eighteen_pieces_of_a_kind_are_refused(letter: str) -> None:
    full = "L,L,L,L/L,L,L,L,L/L,L,L,L,L,L/L,L,L,{}/6/5/4 w 36".replace("L", letter)
    assert_refused(full.format(f"{letter},3"), "rows", f"19 pieces {letter!r}")
    assert str(DUPLOLINE.parse(full.format("4"))) == full.format("4")


@pytest.mark.parametrize("rows", ["4/5/6/D,1,D,4/6/5/4", "4/5/6/6,D/D,5/5/4", "4/5/6/D,6/5,D/5/4"])
def test_pieces_in_more_than_one_group_are_refused(rows: str) -> None:
    assert_refused(f"{rows} w 2", "rows", "one connected group")


@pytest.mark.parametrize("turn", ["w 2", "b 1", "w 999999998"])
def test_an_empty_board_other_than_the_start_is_refused(turn: str) -> None:
    assert_refused(f"4/5/6/7/6/5/4 {turn}", "rows", "empty only at the start")


@pytest.mark.parametrize("seed", range(6))
def test_a_supply_is_18_less_the_pieces_on_the_board(seed: int) -> None:
    rng = random.Random(seed)
    position = DUPLOLINE.initial()
    while not position.outcome().decided:
        token = position.move_at(rng.randrange(position.count_moves()))
        after = position.play(token)
        before, spelled = ("".join(each.board().values()) for each in (position, after))
        assert len(spelled) - len(before) == sum("-" not in action for action in token.split(":"))
        assert max(map(spelled.count, "DRdr")) <= 18
        # what is read again has one group and no more pieces than there are
        assert DUPLOLINE.parse(str(after)).outcome() == after.outcome()
        position = after
    if position.outcome().result is not Result.DRAW:
        assert position.outcome().result is Result.win_for(position.side.other)
