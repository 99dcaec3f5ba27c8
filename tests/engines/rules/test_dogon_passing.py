"""Dogon: passing and the end of the game. One test for each sentence of the rules."""

from __future__ import annotations

import pytest

from engines.rules import GAMES, UNDECIDED, Outcome, Position, Reason, Result
from tests.support.mancala import dogon, seeds, seeds_of
from tests.support.moves import assert_illegal, moves
from tests.support.records import random_moves


def test_a_player_with_no_legal_sowing_must_pass() -> None:
    position = dogon("""
        2 | 4 . . . . . | 41
        1 | 1 . . . . . | 2
            a b c d e f
    """)
    assert moves(position) == ["pass"]
    assert position.outcome() is UNDECIDED


def test_nobody_else_may_pass() -> None:
    position = dogon("""
        2 | 4 4 4 4 4 4 |
        1 | . . . . 2 . |
            a b c d e f
    """)
    assert moves(position) == ["e1+"]
    assert_illegal(position, "pass", "a player who can sow may not pass")


def test_for_each_pass_he_pays_two_of_his_captured_seeds_to_the_opponent() -> None:
    white = dogon("""
        2 | 4 . . . . . | 41
        1 | 1 . . . . . | 2
            a b c d e f
    """)
    assert seeds_of(white.play("pass")) == seeds("""
        2 | 4 . . . . . | 43
        1 | 1 . . . . . | 0
            a b c d e f
    """)
    black = dogon(
        """
        2 | 1 . . . . . | 41
        1 | 4 . . . . . | 2
            a b c d e f
        """,
        "b",
    )
    assert seeds_of(black.play("pass")) == seeds("""
        2 | 1 . . . . . | 39
        1 | 4 . . . . . | 4
            a b c d e f
    """)


def test_if_the_opponent_would_have_no_legal_sowing_either_the_game_ends_at_once_without_payment() -> None:
    position = dogon(
        """
        2 | . 1 . . . . | 23
        1 | . . 1 . . . | 23
            a b c d e f
        """,
        "b",
    )
    assert position.outcome() == Outcome(Result.DRAW, Reason.SEEDS, 24, 24)
    assert moves(position) == []
    assert_illegal(position, "pass", "the game is over")


def test_each_player_then_receives_the_seeds_in_his_own_holes() -> None:
    position = dogon("""
        2 | . 1 . 1 . 1 | 44
        1 | 1 . . . . . | 0
            a b c d e f
    """)
    assert position.outcome() == Outcome(Result.BLACK_WINS, Reason.SEEDS, 1, 47)


def test_the_opponent_s_sowings_after_that_pass_decide_between_both_ends() -> None:
    # Black cannot reach White's row, and could not sow now; after White's pass he can
    position = dogon("""
        2 | . . 2 . . . | 35
        1 | . 1 . . . . | 10
            a b c d e f
    """)
    assert moves(position) == ["pass"]
    assert moves(position.play("pass")) == ["c2+", "c2-"]


@pytest.mark.parametrize("store", [0, 1])
def test_else_if_he_has_fewer_than_two_captured_seeds_all_seeds_on_the_board_go_to_the_opponent(
    store: int,
) -> None:
    white = dogon(f"""
        2 | 5 . . . . . |
        1 | . 1 . . . . | {store}
            a b c d e f
    """)
    assert white.outcome() == Outcome(Result.BLACK_WINS, Reason.CANNOT_PAY, store, 48 - store)
    assert moves(white) == []
    assert_illegal(white, "pass", "the game is over")
    black = dogon(
        f"""
        2 | . 1 . . . . | {store}
        1 | 5 . . . . . | {42 - store}
            a b c d e f
        """,
        "b",
    )
    assert black.outcome() == Outcome(Result.WHITE_WINS, Reason.CANNOT_PAY, 48 - store, store)


def test_two_captured_seeds_are_enough_to_pay() -> None:
    position = dogon("""
        2 | 5 . . . . . |
        1 | . 1 . . . . | 2
            a b c d e f
    """)
    assert position.outcome() is UNDECIDED
    assert moves(position) == ["pass"]


def test_both_ends_are_recognised_as_soon_as_the_sowing_before_is_complete() -> None:
    last = dogon("""
        2 | . 1 . . . 2 | 21
        1 | . . . . 2 . | 22
            a b c d e f
    """).play("e1+")
    assert seeds_of(last) == seeds("""
        2 | . 1 . . . . | 21
        1 | . . . . . 1 | 25
            a b c d e f
    """)
    assert last.outcome() == Outcome(Result.WHITE_WINS, Reason.SEEDS, 26, 22)
    assert_illegal(last, "pass", "the game is over")


def test_the_game_cannot_end_by_a_pass() -> None:
    # the pass would leave the opponent a sowing, or it is not played at all
    for code in ("dogon-kulei", "dogon-gagara"):
        for seed in range(10):
            position: Position = GAMES[code].position.initial()
            for token in random_moves(code, seed):
                position = position.play(token)
                assert token != "pass" or not position.outcome().decided


def test_a_board_without_seeds_ends_the_game() -> None:
    position = dogon("""
        2 | . . . . . . | 24
        1 | . . . . . . | 24
            a b c d e f
    """)
    assert position.outcome() == Outcome(Result.DRAW, Reason.SEEDS, 24, 24)


@pytest.mark.parametrize(
    ("white", "black", "result"),
    [(24, 22, Result.WHITE_WINS), (23, 23, Result.DRAW), (22, 24, Result.BLACK_WINS)],
)
def test_more_seeds_wins_and_equal_is_a_draw(white: int, black: int, result: Result) -> None:
    position = dogon(f"""
        2 | . 1 . . . . | {black}
        1 | . . 1 . . . | {white}
            a b c d e f
    """)
    assert position.outcome() == Outcome(result, Reason.SEEDS, white + 1, black + 1)
