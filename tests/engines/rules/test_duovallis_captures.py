"""Duovallis: captures and kept stones. One test for each sentence of the rules."""

from __future__ import annotations

import pytest

from engines.rules import Position
from tests.support.mancala import drawn, duovallis, ranks_of


def kept_by(position: Position) -> str:
    """The stones that lie before White and before Black."""
    return " ".join(str(position).split(" ")[2:4])


def test_an_empty_own_hole_captures_if_the_corresponding_hole_of_the_opponent_has_stones() -> None:
    position = duovallis("""
        4 |  . .  . . . . |
        3 |  . .  . . . . |
        2 |  . . 2b . . . |
        1 | 2w . .  . . . |
             a b  c d e f
    """)
    after = position.play("a1")
    assert ranks_of(after) == drawn("""
        4 | .  .  . . . . |
        3 | .  .  . . . . |
        2 | .  .  . . . . |
        1 | . 1w 1w . . . |
            a  b  c d e f
    """)
    assert kept_by(after) == "2 0"


def test_without_stones_there_the_move_ends_with_no_capture() -> None:
    position = duovallis(
        """
        4 |  . . . . . . |
        3 |  . . . . . . |
        2 |  . . . . . . |
        1 | 2w . . . . . |
             a b c d e f
        """,
        kept="2 0",
    )
    after = position.play("a1")
    assert ranks_of(after) == drawn("""
        4 | .  .  . . . . |
        3 | .  .  . . . . |
        2 | .  .  . . . . |
        1 | . 1w 1w . . . |
            a  b  c d e f
    """)
    assert kept_by(after) == "2 0"


CORRESPONDING = [
    *[("w", "2w", "1", start, end, "2") for start, end in (("a1", "c1"), ("b1", "d1"), ("c1", "e1"))],
    *[("w", "2w", "3", start, end, "4") for start, end in (("e3", "c3"), ("d3", "b3"))],
    *[("b", "2b", "4", start, end, "3") for start, end in (("f4", "d4"), ("e4", "c4"), ("d4", "b4"))],
    *[("b", "2b", "2", start, end, "1") for start, end in (("b2", "d2"), ("c2", "e2"))],
]


@pytest.mark.parametrize(("side", "stones", "rank", "start", "end", "opposite"), CORRESPONDING)
def test_correspondence_is_within_the_valley_on_the_same_file(
    side: str, stones: str, rank: str, start: str, end: str, opposite: str
) -> None:
    assert start[1] == end[1] == rank
    victim = end[0] + opposite
    held = {start: stones, victim: "2b" if side == "w" else "2w"}
    board = "\n".join(f"{n} | {' '.join(held.get(file + n, '.') for file in 'abcdef')} |" for n in "4321")
    after = duovallis(board, side).play(start)
    assert after.board()[victim] == "0"
    assert kept_by(after) == ("2 0" if side == "w" else "0 2")


@pytest.mark.parametrize(
    ("side", "token", "corner", "board"),
    [
        (
            "w",
            "d1",
            "f1",
            """
            4 | . . .  . . 9b |
            3 | . . .  . .  . |
            2 | . . .  . . 5b |
            1 | . . . 2w .  . |
                a b c  d e  f
            """,
        ),
        (
            "w",
            "b3",
            "a1",
            """
            4 | .  . . . . . |
            3 | . 3w . . . . |
            2 | . 5b . . . . |
            1 | .  . . . . . |
                a  b c d e f
            """,
        ),
        (
            "b",
            "c4",
            "a4",
            """
            4 |  . . 2b . . . |
            3 | 5w .  . . . . |
            2 |  . .  . . . . |
            1 |  . .  . . . . |
                 a b  c d e f
            """,
        ),
        (
            "b",
            "e2",
            "f4",
            """
            4 | . . . .  . . |
            3 | . . . . 5w . |
            2 | . . . . 3b . |
            1 | . . . .  . . |
                a b c d  e f
            """,
        ),
    ],
)
def test_a1_f1_a4_f4_have_no_corresponding_hole_and_never_capture(
    side: str, token: str, corner: str, board: str
) -> None:
    before = duovallis(board, side)
    after = before.play(token)
    assert after.board()[corner] == f"1{side}"
    opponent = "b" if side == "w" else "w"
    theirs = {hole: stones for hole, stones in before.board().items() if opponent in stones}
    assert theirs.items() <= after.board().items()
    assert kept_by(after) == "0 0"


def test_the_opponent_s_hole_is_emptied_and_the_mover_s_own_stones_go_into_the_capturing_hole() -> None:
    position = duovallis("""
        4 |  . .    . . . . |
        3 |  . .    . . . . |
        2 |  . . 2w1b . . . |
        1 | 2w .    . . . . |
             a b    c d e f
    """)
    after = position.play("a1")
    assert ranks_of(after) == drawn("""
        4 | .  .  . . . . |
        3 | .  .  . . . . |
        2 | .  .  . . . . |
        1 | . 1w 3w . . . |
            a  b  c d e f
    """)
    assert kept_by(after) == "1 0"


def test_every_three_of_the_opponent_s_stones_kept_are_exchanged_for_one_of_the_mover_s() -> None:
    # seven and the one kept are eight: two exchanges, and two remain in front of White
    position = duovallis(
        """
        4 |  . .    . . . . |
        3 |  . .    . . . . |
        2 |  . . 2w7b . . . |
        1 | 2w .    . . . . |
             a b    c d e f
        """,
        kept="1 0",
    )
    after = position.play("a1")
    assert ranks_of(after) == drawn("""
        4 | .  .  . . . . |
        3 | .  .  . . . . |
        2 | .  .  . . . . |
        1 | . 1w 5w . . . |
            a  b  c d e f
    """)
    assert kept_by(after) == "2 0"


def test_black_captures_likewise_and_keeps_white_stones() -> None:
    position = duovallis(
        """
        4 | 5w .  . . 2b . |
        3 |  . . 4w .  . . |
        2 |  . .  . .  . . |
        1 |  . .  . .  . . |
             a b  c d  e f
        """,
        "b",
    )
    after = position.play("e4")
    assert ranks_of(after) == drawn("""
        4 | 5w . 2b 1b . . |
        3 |  . .  .  . . . |
        2 |  . .  .  . . . |
        1 |  . .  .  . . . |
             a b  c  d e f
    """)
    assert kept_by(after) == "0 1"


def test_the_capture_ends_the_move() -> None:
    # c1 holds many stones after it, and is not sown on
    position = duovallis("""
        4 |  . .  . . . . |
        3 |  . .  . . . . |
        2 |  . . 9w . . . |
        1 | 2w .  . . . . |
             a b  c d e f
    """)
    assert ranks_of(position.play("a1")) == drawn("""
        4 | .  .   . . . . |
        3 | .  .   . . . . |
        2 | .  .   . . . . |
        1 | . 1w 10w . . . |
            a  b   c d e f
    """)


def test_the_supply_of_stones_for_exchanges_is_unlimited() -> None:
    # White, with all of his forty stones on the board, is given ten more
    position = duovallis("""
        4 |  .   .   . . . . |
        3 |  .   .   . . . . |
        2 |  .   . 30b . . . |
        1 | 2w 38w   . . . . |
             a   b   c d e f
    """)
    after = position.play("a1")
    assert ranks_of(after) == drawn("""
        4 | . . .   . . . |
        3 | . . .   . . . |
        2 | . . .   . . . |
        1 | . 39w 11w . . . |
            a b c   d e f
    """)


def test_a_hole_that_holds_only_the_mover_s_own_stones_can_be_captured_too() -> None:
    position = duovallis("""
        4 |  . .  . . . . |
        3 |  . .  . . . . |
        2 |  . . 2w . . . |
        1 | 2w .  . . . . |
             a b  c d e f
    """)
    after = position.play("a1")
    assert ranks_of(after) == drawn("""
        4 | .  .  . . . . |
        3 | .  .  . . . . |
        2 | .  .  . . . . |
        1 | . 1w 3w . . . |
            a  b  c d e f
    """)
    assert kept_by(after) == "0 0"
