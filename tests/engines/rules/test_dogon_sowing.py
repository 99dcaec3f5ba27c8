"""Dogon: the board, how seeds are sown and captured. One test for each sentence of the rules."""

from __future__ import annotations

import pytest

from engines.rules import Side, find_game
from tests.support.mancala import dogon, seeds, seeds_of
from tests.support.moves import assert_illegal, moves

FULL = """
    2 | 4 4 4 4 4 4 |
    1 | 4 4 4 4 4 4 |
        a b c d e f
"""


# The board


def test_kulei_has_two_by_six_holes_with_four_seeds_a_hole() -> None:
    start = find_game("dogon-kulei").position.initial()
    assert str(start) == str(dogon(FULL))
    assert set(start.board()) == {file + rank for file in "abcdef" for rank in "12"}


def test_gagara_has_two_by_eight_holes_with_six_seeds_a_hole() -> None:
    start = find_game("dogon-gagara").position.initial()
    expected = dogon("""
        2 | 6 6 6 6 6 6 6 6 |
        1 | 6 6 6 6 6 6 6 6 |
            a b c d e f g h
    """)
    assert str(start) == str(expected)
    assert set(start.board()) == {file + rank for file in "abcdefgh" for rank in "12"}


@pytest.mark.parametrize("code", ["dogon-kulei", "dogon-gagara"])
def test_white_owns_rank_1_and_black_owns_rank_2(code: str) -> None:
    white = find_game(code).position.initial()
    black = white.play(moves(white)[0])
    assert {token[1] for token in white.legal_moves()} == {"1"}
    assert {token[1] for token in black.legal_moves()} == {"2"}
    assert_illegal(white, "c2+", "no sowing of an own hole")
    assert_illegal(black, "c1+", "no sowing of an own hole")


@pytest.mark.parametrize("code", ["dogon-kulei", "dogon-gagara"])
def test_white_starts(code: str) -> None:
    assert find_game(code).position.initial().side is Side.WHITE


@pytest.mark.parametrize(
    ("token", "after"),
    [
        (
            "c1+",
            """
            2 | 4 4 4 4 4 5 |
            1 | 4 4 . 5 5 5 |
                a b c d e f
            """,
        ),
        (
            "f1+",
            """
            2 | 4 4 5 5 5 5 |
            1 | 4 4 4 4 4 . |
                a b c d e f
            """,
        ),
        (
            "a2+",
            """
            2 | . 4 4 4 4 4 |
            1 | 5 5 5 5 4 4 |
                a b c d e f
            """,
        ),
        (
            "c2+",
            """
            2 | 5 5 . 4 4 4 |
            1 | 5 5 4 4 4 4 |
                a b c d e f
            """,
        ),
    ],
)
def test_counterclockwise_is_a1_to_f1_to_f2_to_a2_to_a1(token: str, after: str) -> None:
    side = "w" if token[1] == "1" else "b"
    assert seeds_of(dogon(FULL, side).play(token)) == seeds(after)


@pytest.mark.parametrize(
    ("token", "after"),
    [
        (
            "c1-",
            """
            2 | 5 5 4 4 4 4 |
            1 | 5 5 . 4 4 4 |
                a b c d e f
            """,
        ),
        (
            "a1-",
            """
            2 | 5 5 5 5 4 4 |
            1 | . 4 4 4 4 4 |
                a b c d e f
            """,
        ),
        (
            "f2-",
            """
            2 | 4 4 4 4 4 . |
            1 | 4 4 5 5 5 5 |
                a b c d e f
            """,
        ),
        (
            "d2-",
            """
            2 | 4 4 4 . 5 5 |
            1 | 4 4 4 4 5 5 |
                a b c d e f
            """,
        ),
    ],
)
def test_clockwise_is_the_reverse(token: str, after: str) -> None:
    side = "w" if token[1] == "1" else "b"
    assert seeds_of(dogon(FULL, side).play(token)) == seeds(after)


# Sowing


def test_a_sowing_takes_all_seeds_of_one_own_hole_and_drops_them_one_by_one_into_the_following_holes() -> (
    None
):
    before = dogon("""
        2 | . . . . . 5 |
        1 | 1 2 . 3 7 1 |
            a b c d e f
    """)
    assert seeds_of(before.play("e1+")) == seeds("""
        2 | 1 1 1 1 1 6 |
        1 | 1 2 . 3 . 2 |
            a b c d e f
    """)


def test_the_emptied_hole_itself_is_skipped_on_every_lap() -> None:
    # two laps of eleven holes and two seeds more
    before = dogon("""
        2 |  .  .  .  .  .  . |
        1 |  .  .  . 24  .  . |
             a  b  c  d  e  f
    """)
    assert seeds_of(before.play("d1+")) == seeds("""
        2 |  2  2  2  2  2  2 |
        1 |  2  2  2  .  3  3 |
             a  b  c  d  e  f
    """)
    assert seeds_of(before.play("d1-")) == seeds("""
        2 |  2  2  2  2  2  2 |
        1 |  2  3  3  .  2  2 |
             a  b  c  d  e  f
    """)


def test_the_emptied_hole_of_gagara_is_skipped_on_every_lap_too() -> None:
    before = dogon("""
        2 |  .  .  .  .  .  .  .  . |
        1 | 31  .  .  .  .  .  .  . |
             a  b  c  d  e  f  g  h
    """)
    assert seeds_of(before.play("a1+")) == seeds("""
        2 |  2  2  2  2  2  2  2  2 |
        1 |  .  3  2  2  2  2  2  2 |
             a  b  c  d  e  f  g  h
    """)


# Captures


@pytest.mark.parametrize(("in_f2", "left", "captured"), [(0, 1, 0), (1, 0, 2), (2, 0, 3), (3, 4, 0)])
def test_if_the_last_seed_makes_an_opponent_s_hole_two_or_three_its_seeds_are_captured(
    in_f2: int, left: int, captured: int
) -> None:
    before = dogon(f"""
        2 | 9 . . . . {in_f2} |
        1 | . . . . 2 . |
            a b c d e f
    """)
    assert seeds_of(before.play("e1+")) == seeds(f"""
        2 | 9 . . . . {left} |
        1 | . . . . . 1 | {captured}
            a b c d e f
    """)


def test_only_the_last_seed_captures() -> None:
    # f2 is made 2 on the way to e2, which ends with 5
    before = dogon("""
        2 | 9 . . . 4 1 |
        1 | . . . . 3 . |
            a b c d e f
    """)
    assert seeds_of(before.play("e1+")) == seeds("""
        2 | 9 . . . 5 2 |
        1 | . . . . . 1 |
            a b c d e f
    """)


def test_a_last_seed_that_falls_into_an_own_hole_captures_nothing() -> None:
    before = dogon(
        """
        2 | . . . . . 2 |
        1 | . . 1 1 2 . | 40
            a b c d e f
        """,
        passed=True,
    )
    assert seeds_of(before.play("e1-")) == seeds("""
        2 | . . . . . 2 |
        1 | . . 2 2 . . | 40
            a b c d e f
    """)


def test_those_of_the_holes_before_it_are_captured_as_long_as_they_follow_without_a_gap() -> None:
    # the last seed makes b2 two; c2 and d2 hold 3 and 2, e2 holds 5, and f2, with 2, is behind that gap
    before = dogon("""
        2 | . 1 2 1 4 1 |
        1 | . . . . . 5 |
            a b c d e f
    """)
    assert seeds_of(before.play("f1+")) == seeds("""
        2 | . . . . 5 2 |
        1 | . . . . . . | 7
            a b c d e f
    """)


def test_the_holes_before_it_are_those_against_the_direction_of_sowing() -> None:
    # sown clockwise, b2 is last and a2 before it; c2, with 2, lies on the other side
    before = dogon("""
        2 | 1 1 2 . . . |
        1 | . 3 5 . . . |
            a b c d e f
    """)
    assert seeds_of(before.play("b1-")) == seeds("""
        2 | . . 2 . . . |
        1 | 1 . 5 . . . | 4
            a b c d e f
    """)


def test_holes_that_do_not_belong_to_the_opponent_are_never_captured() -> None:
    # e2 and f2 fall; f1, before them, holds 2 and d1 holds 2, but they are White's
    before = dogon("""
        2 | . . . . 1 1 |
        1 | . . . 2 3 1 |
            a b c d e f
    """)
    assert seeds_of(before.play("e1+")) == seeds("""
        2 | . . . . . . |
        1 | . . . 2 . 2 | 4
            a b c d e f
    """)


def test_black_captures_likewise() -> None:
    before = dogon(
        """
        2 | . 3 . . . . | 7
        1 | 1 2 . . . 1 | 34
            a b c d e f
        """,
        "b",
    )
    assert seeds_of(before.play("b2+")) == seeds("""
        2 | 1 . . . . . | 12
        1 | . . . . . 1 | 34
            a b c d e f
    """)


def test_capturing_everything_is_allowed() -> None:
    before = dogon("""
        2 | . . . . 1 1 | 23
        1 | . . . . 3 . | 20
            a b c d e f
    """)
    assert seeds_of(before.play("e1+")) == seeds("""
        2 | . . . . . . | 23
        1 | . . . . . 1 | 24
            a b c d e f
    """)
