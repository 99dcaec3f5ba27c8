"""Duovallis: the notation of moves and positions. One test for each sentence of the rules."""

from __future__ import annotations

import pytest

from engines.rules import PositionError, find_game
from tests.support.mancala import duovallis
from tests.support.moves import assert_illegal, moves

DUOVALLIS = find_game("duovallis").position
START = "4b,4b,4b,4b,4b,4b/0,4w,4w,4w,4w,0/0,4b,4b,4b,4b,0/4w,4w,4w,4w,4w,4w w 0 0 0"
BLANK = "0,0,0,0,0,0"


@pytest.mark.parametrize("token", ["a4", "b2", "A1", "a1 ", " a1", "a", "", "a5", "g1", "a1+", "pass", "1a"])
def test_a_move_is_the_starting_hole_and_nothing_else(token: str) -> None:
    position = DUOVALLIS.initial()
    assert moves(position) == ["a1", "b1", "c1", "d1", "e1", "f1"]
    assert_illegal(position, token, "no hole of the side to move")


def test_a_position_is_rank4_to_rank1_side_white_kept_black_kept_ply() -> None:
    position = duovallis(
        """
        4 |   2b  . 1w 2w1b  .    . |
        3 |   1w  .  .    . 1b    . |
        2 |    .  .  .    .  .   1w |
        1 | 12b   2w .  1b  .  1w1b |
               a  b  c    d  e    f
        """,
        "b",
        kept="1 2",
    )
    assert str(position) == "2b,0,1w,2w1b,0,0/1w,0,0,0,1b,0/0,0,0,0,0,1w/12b,2w,0,1b,0,1w1b b 1 2 1"


@pytest.mark.parametrize(("hole", "stones"), [("c3", "0"), ("b1", "4w"), ("b2", "3b"), ("e4", "2w3b")])
def test_a_hole_is_0_or_4w_or_3b_or_2w3b_white_first(hole: str, stones: str) -> None:
    board = duovallis("""
        4 | . .  . . 2w3b . |
        3 | . .  . . .    . |
        2 | . 3b . . .    . |
        1 | . 4w . . .    . |
            a b  c d e    f
    """).board()
    assert board[hole] == stones
    assert len(board) == 24


def test_white_kept_is_black_stones_in_front_of_white_and_black_kept_white_stones_in_front_of_black() -> None:
    # White captures two black stones, then Black two white ones
    position = duovallis("""
        4 |  . . . . . 2b |
        3 |  . . . 2w . . |
        2 |  . . 2b . . . |
        1 | 2w . . . .  . |
             a b c d e  f
    """)
    fields = [str(each).split(" ")[2:4] for each in (position.play("a1"), position.play("a1").play("f4"))]
    assert fields == [["2", "0"], ["2", "2"]]


def test_the_start_is_written_like_this() -> None:
    assert str(DUOVALLIS.initial()) == START


def test_every_field_of_the_position_string_except_the_ply_counts_for_repetition() -> None:
    texts = [
        f"4b,0,0,0,0,0/{BLANK}/{BLANK}/4w,0,0,0,0,0 w 1 0 0",
        f"4b,0,0,0,0,0/{BLANK}/{BLANK}/4w,0,0,0,0,0 b 1 0 1",
        f"4b,0,0,0,0,0/{BLANK}/{BLANK}/4w,0,0,0,0,0 w 0 1 0",
        f"4w,0,0,0,0,0/{BLANK}/{BLANK}/4b,0,0,0,0,0 w 1 0 0",
    ]
    assert len({DUOVALLIS.parse(text).key() for text in texts}) == len(texts)
    later = DUOVALLIS.parse(f"{texts[0][:-1]}4")
    assert later.key() == DUOVALLIS.parse(texts[0]).key()
    assert later != DUOVALLIS.parse(texts[0])


def assert_refused(text: str, complaint: str) -> None:
    with pytest.raises(PositionError) as refusal:
        DUOVALLIS.parse(text)
    assert complaint in str(refusal.value)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "bad position ''"),
        (START.replace(" 0 0 0", " 0 0"), "bad position"),
        (f"{BLANK}/{BLANK}/{BLANK} w 0 0 0", "bad rank4/rank3/rank2/rank1"),
        (f"{BLANK}/{BLANK}/{BLANK}/{BLANK}/ w 0 0 0", "5 ranks instead of 4"),
        (f"{BLANK}/{BLANK},0/{BLANK}/{BLANK} w 0 0 0", "bad rank3 '0,0,0,0,0,0,0': 7 holes instead of 6"),
        (START.replace("/4w,4w", "/4w,w"), "bad rank1 hole b1 'w'"),
        (START.replace("0,4w", "00,4w"), "bad rank3 hole a3 '00'"),
        (START.replace("0,4w", ",4w"), "bad rank3 hole a3 ''"),
        (START.replace("0,4w", "0w,4w"), "bad rank3 hole a3 '0w'"),
        (START.replace("0,4w", "01w,4w"), "bad rank3 hole a3 '01w'"),
        (START.replace("0,4w", "1b1w,4w"), "bad rank3 hole a3 '1b1w'"),
        (START.replace("0,4w", "1w0b,4w"), "bad rank3 hole a3 '1w0b'"),
        (START.replace("0,4w", "1W,4w"), "bad rank3 hole a3 '1W'"),
        (START.replace("0,4w", "1,4w"), "bad rank3 hole a3 '1'"),
        (START.replace("0,4w", "-1w,4w"), "bad rank3 hole a3 '-1w'"),
        (START.replace("0,4w", "1w2w,4w"), "bad rank3 hole a3 '1w2w'"),
        (START.replace("0,4w", "\u0661w,4w"), "bad rank3 hole a3 '\u0661w'"),
        (START.replace("0,4w", "1000000000w,4w"), "bad rank3 hole a3 '1000000000w'"),
        (START.replace("0,4w", f"{'4' * 100_000},4w"), "bad rank3 hole a3 '4444"),
        (START.replace("w 0 0 0", "w 00 0 0"), "bad whiteKept '00'"),
        (START.replace("w 0 0 0", "w 0 - 0"), "bad blackKept '-'"),
        (START.replace("w 0 0 0", "b 0 0 0"), "bad side 'b'"),
        (START.replace("w 0 0 0", "x 0 0 0"), "bad side 'x'"),
        (START.replace("w 0 0 0", "w 0 0 00"), "bad ply '00'"),
        (START.replace("w 0 0 0", "w 0 0 1000000000"), "bad ply '1000000000'"),
    ],
)
def test_anything_but_the_canonical_spelling_is_refused_with_a_message_that_names_the_field(
    text: str, complaint: str
) -> None:
    assert_refused(text, complaint)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        (START.replace("w 0 0 0", "w 3 0 0"), "bad whiteKept '3'"),
        (START.replace("w 0 0 0", "w 0 3 0"), "bad blackKept '3'"),
    ],
)
def test_kept_stones_over_two_are_refused(text: str, complaint: str) -> None:
    assert_refused(text, complaint)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        (START.replace("0,4w", "999999999w,4w"), "over 160"),
        (START.replace("0,4w", "1w,4w"), "white + 3·black is 161 with the kept stones, over 160"),
        (START.replace("0,4w", "1b,4w"), "white + 3·black is 163 with the kept stones, over 160"),
        (START.replace("w 0 0 0", "w 1 0 0"), "white + 3·black is 163 with the kept stones, over 160"),
        (START.replace("w 0 0 0", "w 0 1 0"), "white + 3·black is 161 with the kept stones, over 160"),
        (f"54w,0,0,0,0,0/{BLANK}/{BLANK}/{BLANK} w 0 0 0", "3·white + black is 162 with the kept stones"),
    ],
)
def test_white_plus_3_black_or_3_white_plus_black_over_160_kept_stones_counted_are_refused(
    text: str, complaint: str
) -> None:
    assert_refused(text, complaint)


@pytest.mark.parametrize(
    "text",
    [
        f"{BLANK}/{BLANK}/{BLANK}/{BLANK} b 2 2 999999999",
        f"53w,0,0,0,0,0/{BLANK}/{BLANK}/{BLANK} w 0 0 0",
        f"{BLANK}/{BLANK}/{BLANK}/39w40b,0,0,0,0,0 w 0 1 0",
        START,
    ],
)
def test_reachability_is_not_checked(text: str) -> None:
    position = DUOVALLIS.parse(text)
    assert str(position) == text
    assert position.outcome().decided == (not moves(position))
