"""Duovallis: the board, the paths and the laps of a sowing. One test for each sentence of the rules."""

from __future__ import annotations

import pytest

from engines.rules import Position, Side, find_game
from tests.support.mancala import drawn, duovallis, ranks_of
from tests.support.moves import moves

DUOVALLIS = find_game("duovallis").position

WHITE_PATH = "a1 b1 c1 d1 e1 f1 f2 f3 e3 d3 c3 b3 a3 a2".split()
BLACK_PATH = "f4 e4 d4 c4 b4 a4 a3 a2 b2 c2 d2 e2 f2 f3".split()


# The board


def test_every_owned_hole_starts_with_four_stones_of_its_owner_s_colour_and_the_neutral_holes_empty() -> None:
    start = duovallis("""
        4 | 4b 4b 4b 4b 4b 4b |
        3 |  . 4w 4w 4w 4w  . |
        2 |  . 4b 4b 4b 4b  . |
        1 | 4w 4w 4w 4w 4w 4w |
             a  b  c  d  e  f
    """)
    assert str(DUOVALLIS.initial()) == str(start)


def test_white_starts() -> None:
    assert DUOVALLIS.initial().side is Side.WHITE


@pytest.mark.parametrize(
    ("side", "stone", "rank", "own"),
    [
        ("w", "w", "1", "a1 b1 c1 d1 e1 f1"),  # White's back row
        ("w", "w", "3", "b3 c3 d3 e3"),  # White's front row
        ("b", "b", "2", "b2 c2 d2 e2"),  # Black's front row
        ("b", "b", "4", "a4 b4 c4 d4 e4 f4"),  # Black's back row
    ],
)
def test_each_rank_is_a_row_of_its_owner_and_a2_a3_f2_f3_are_neutral(
    side: str, stone: str, rank: str, own: str
) -> None:
    rows = {number: "2w 2w 2w 2w 2w 2w" if number == rank else ". . . . . ." for number in "4321"}
    board = "\n".join(f"{number} | {holes.replace('w', stone)} |" for number, holes in rows.items())
    assert moves(duovallis(board, side)) == own.split()
    assert moves(duovallis(board, "b" if side == "w" else "w")) == []


# The paths


@pytest.mark.parametrize("stones", range(2, 14))
def test_white_sows_along_a1_to_f1_f2_f3_e3_to_b3_a3_a2_and_again_a1(stones: int) -> None:
    # the last hole holds a black majority, so that the move ends there
    position = ended_by_a_majority("w", WHITE_PATH, stones)
    after = position.play("a1").board()
    assert [hole for hole in WHITE_PATH if "w" in after[hole]] == WHITE_PATH[1 : stones + 1]


@pytest.mark.parametrize("stones", range(2, 14))
def test_black_sows_along_f4_to_a4_a3_a2_b2_to_e2_f2_f3_and_again_f4(stones: int) -> None:
    position = ended_by_a_majority("b", BLACK_PATH, stones)
    after = position.play("f4").board()
    assert [hole for hole in BLACK_PATH if "b" in after[hole]] == BLACK_PATH[1 : stones + 1]


def ended_by_a_majority(side: str, path: list[str], stones: int) -> Position:
    """So many stones in the first hole of a path, and an opponent's majority where the last one falls."""
    other = "b" if side == "w" else "w"
    held = {path[0]: f"{stones}{side}", path[stones]: f"3{other}"}
    return duovallis(
        "\n".join(f"{n} | {' '.join(held.get(file + n, '.') for file in 'abcdef')} |" for n in "4321"), side
    )


@pytest.mark.parametrize("path", [WHITE_PATH, BLACK_PATH])
def test_both_paths_are_anticlockwise_fourteen_holes_each_beside_the_one_before(path: list[str]) -> None:
    assert len(set(path)) == 14
    corners = [("a1", "b1"), ("f1", "f2"), ("f3", "e3"), ("a3", "a2")]
    if path is BLACK_PATH:
        corners = [("f4", "e4"), ("a4", "a3"), ("a2", "b2"), ("f2", "f3")]
    steps = list(zip(path, [*path[1:], path[0]], strict=True))
    assert set(corners) <= set(steps)
    for one, other in steps:
        assert abs(ord(one[0]) - ord(other[0])) + abs(int(one[1]) - int(other[1])) in (1, 3), (one, other)


@pytest.mark.parametrize(
    ("side", "opponents"),
    [("w", "a4 b4 c4 d4 e4 f4 b2 c2 d2 e2"), ("b", "a1 b1 c1 d1 e1 f1 b3 c3 d3 e3")],
)
def test_nobody_ever_sows_into_an_opponent_s_hole(side: str, opponents: str) -> None:
    position = duovallis(
        """
        4 | . . . . . 20b |
        3 | . . . . . . |
        2 | . . . . . . |
        1 | 20w . . . . . |
            a b c d e f
        """,
        side,
    )
    after = position.play("a1" if side == "w" else "f4").board()
    untouched = set(opponents.split()) - {"a1", "f4"}
    assert {after[hole] for hole in untouched} == {"0"}


# Sowing


def test_all_stones_are_sown_one_by_one_the_opponent_s_colour_first_then_the_mover_s() -> None:
    position = duovallis("""
        4 |    . . . . . . |
        3 |    . . . . . . |
        2 |    . . . . . . |
        1 | 2w1b . . 3b . . |
               a b c d e f
    """)
    assert ranks_of(position.play("a1")) == drawn("""
        4 | .  .  .    . . . |
        3 | .  .  .    . . . |
        2 | .  .  .    . . . |
        1 | . 1b 1w 1w3b . . |
            a  b  c    d e f
    """)


def test_black_sows_white_stones_first() -> None:
    position = duovallis(
        """
        4 | . . 3w . . 1w2b |
        3 | . .  . . .    . |
        2 | . .  . . .    . |
        1 | . .  . . .    . |
            a b  c d e    f
        """,
        "b",
    )
    assert ranks_of(position.play("f4")) == drawn("""
        4 | . . 3w1b 1b 1w . |
        3 | . .    .  .  . . |
        2 | . .    .  .  . . |
        1 | . .    .  .  . . |
            a b    c  d  e f
    """)


def test_the_starting_hole_is_not_skipped_when_a_sowing_comes_round_to_it() -> None:
    position = duovallis("""
        4 |   . .  . . . . |
        3 |   . .  . . . . |
        2 |   . .  . . . . |
        1 | 16w . 4b . . . |
              a b  c d e f
    """)
    assert ranks_of(position.play("a1")) == drawn("""
        4 |  .  .    .  .  .  . |
        3 | 1w 1w   1w 1w 1w 1w |
        2 | 1w  .    .  .  . 1w |
        1 | 1w 2w 2w4b 1w 1w 1w |
             a  b    c  d  e  f
    """)


def test_an_occupied_own_hole_that_then_holds_at_least_half_of_the_mover_s_colour_is_sown_on() -> None:
    # the last stone makes c1 one of each: black goes to d1, white to e1
    position = duovallis("""
        4 |  . .  . . . . |
        3 |  . .  . . . . |
        2 |  . .  . . . . |
        1 | 2w . 1b . . . |
             a b  c d e f
    """)
    assert ranks_of(position.play("a1")) == drawn("""
        4 | .  . .  .  . . |
        3 | .  . .  .  . . |
        2 | .  . .  .  . . |
        1 | . 1w . 1b 1w . |
            a  b c  d  e f
    """)


def test_an_occupied_neutral_hole_that_then_holds_at_least_half_of_the_mover_s_colour_is_sown_on() -> None:
    position = duovallis("""
        4 | . . . .  .  . |
        3 | . . . .  .  . |
        2 | . . . .  . 1b |
        1 | . . . . 2w  . |
            a b c d  e  f
    """)
    assert ranks_of(position.play("e1")) == drawn("""
        4 | . . . .  .  . |
        3 | . . . . 1w 1b |
        2 | . . . .  .  . |
        1 | . . . .  . 1w |
            a b c d  e  f
    """)


def test_an_occupied_hole_with_a_majority_of_the_opponent_s_ends_the_move() -> None:
    # c1 could capture five stones, were it empty
    position = duovallis("""
        4 |  . .  . . . . |
        3 |  . .  . . . . |
        2 |  . . 5b . . . |
        1 | 2w . 2b . . . |
             a b  c d e f
    """)
    assert ranks_of(position.play("a1")) == drawn("""
        4 | .  .    . . . . |
        3 | .  .    . . . . |
        2 | .  .   5b . . . |
        1 | . 1w 1w2b . . . |
            a  b    c d e f
    """)


def test_an_empty_neutral_hole_ends_the_move() -> None:
    position = duovallis("""
        4 | . . . .  . . |
        3 | . . . .  . . |
        2 | . . . . 4b . |
        1 | . . . . 2w . |
            a b c d  e f
    """)
    assert ranks_of(position.play("e1")) == drawn("""
        4 | . . . .  .  . |
        3 | . . . .  .  . |
        2 | . . . . 4b 1w |
        1 | . . . .  . 1w |
            a b c d  e  f
    """)


def test_occupied_and_empty_are_judged_just_before_the_last_stone_falls() -> None:
    # a starting hole refilled by its own fourteenth stone was empty: it captures
    position = duovallis("""
        4 | .    . . . . . |
        3 | .    . . . . . |
        2 | . 1w3b . . . . |
        1 | .  14w . . . . |
            a    b c d e f
    """)
    assert ranks_of(position.play("b1")) == drawn("""
        4 |  .  .  .  .  .  . |
        3 | 1w 1w 1w 1w 1w 1w |
        2 | 1w  .  .  .  . 1w |
        1 | 1w 3w 1w 1w 1w 1w |
             a  b  c  d  e  f
    """)
