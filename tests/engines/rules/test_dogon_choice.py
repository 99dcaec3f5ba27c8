"""Dogon: which sowings are legal, and the turning limit. One test for each sentence of the rules."""

from __future__ import annotations

import pytest

from engines.rules import Position
from tests.support.mancala import dogon
from tests.support.moves import assert_illegal, moves

ONLY_TO_CAPTURE = "a single seed may be sown only to capture"
ONLY_TO_THE_OPPONENT = "no seed would reach the opponent's row"
ONLY_TWO_CHANGES = "the direction may be changed only twice while the opponent passes"


def test_a_singleton_that_captures_is_legal_and_one_that_would_not_capture_cannot_be_sown() -> None:
    # a1- makes a2 two; f1+ would make f2 four, b1 would reach no hole of Black's
    position = dogon("""
        2 | 1 . . . . 3 |
        1 | 1 1 . . . 1 |
            a b c d e f
    """)
    assert moves(position) == ["a1-"]
    for token in ("f1+", "b1+", "b1-", "a1+"):
        assert_illegal(position, token, ONLY_TO_CAPTURE)


def test_a_singleton_that_would_not_capture_cannot_be_sown_even_after_a_pass() -> None:
    position = dogon(
        """
        2 | . . . . . . |
        1 | 1 . . . 2 1 |
            a b c d e f
        """,
        passed=True,
    )
    assert moves(position) == ["e1+", "e1-"]
    assert_illegal(position, "a1-", ONLY_TO_CAPTURE)


@pytest.mark.parametrize("token", ["a1+", "a1-"])
def test_an_empty_hole_cannot_be_sown(token: str) -> None:
    position = dogon("""
        2 | 4 4 4 4 4 4 |
        1 | . 4 4 4 4 4 |
            a b c d e f
    """)
    assert_illegal(position, token, "the hole is empty")


def test_if_the_opponent_did_not_pass_at_least_one_seed_must_fall_into_the_opponent_s_row() -> None:
    position = dogon("""
        2 | 4 4 4 4 4 4 |
        1 | 2 2 3 3 2 2 |
            a b c d e f
    """)
    assert moves(position) == ["a1-", "b1-", "c1-", "d1+", "e1+", "f1+"]
    for token in ("a1+", "b1+", "c1+", "d1-", "e1-", "f1-"):
        assert_illegal(position, token, ONLY_TO_THE_OPPONENT)


def test_also_on_the_first_move_of_the_game_a_seed_must_fall_into_the_opponent_s_row() -> None:
    first = dogon("""
        2 | 4 4 4 4 4 4 |
        1 | 4 4 4 4 4 4 |
            a b c d e f
    """)
    assert moves(first) == ["a1-", "b1-", "c1+", "c1-", "d1+", "d1-", "e1+", "f1+"]


def test_if_he_passed_any_such_hole_may_be_sown_in_either_direction() -> None:
    position = dogon(
        """
        2 | 4 4 4 4 4 4 |
        1 | . 2 . 1 . . |
            a b c d e f
        """,
        passed=True,
    )
    assert moves(position) == ["b1+", "b1-"]


# The turning limit


def run_of(position: Position) -> str:
    """The position string's field: the direction of the run and its changes so far, or ``-``."""
    return str(position).split(" ")[5]


def after_a_pass(run: str) -> Position:
    """White has sown again and again, each time right after a pass of Black's, as ``run`` tells."""
    return dogon(
        """
        2 | . . . . . 1 | 23
        1 | . . 2 . . . | 22
            a b c d e f
        """,
        passed=True,
        run=run,
    )


@pytest.mark.parametrize(("token", "run"), [("c1+", "+0"), ("c1-", "-0")])
def test_the_run_s_first_sowing_sets_the_direction_freely(token: str, run: str) -> None:
    assert run_of(after_a_pass("-").play(token)) == run


@pytest.mark.parametrize(
    ("run", "token", "after"),
    [
        ("+0", "c1+", "+0"),
        ("-0", "c1-", "-0"),
        ("+0", "c1-", "-1"),
        ("-0", "c1+", "+1"),
        ("+1", "c1+", "+1"),
        ("+1", "c1-", "-2"),
        ("-1", "c1+", "+2"),
        ("+2", "c1+", "+2"),
        ("-2", "c1-", "-2"),
    ],
)
def test_while_the_opponent_s_row_stays_unaltered_the_direction_may_be_changed_at_most_twice(
    run: str, token: str, after: str
) -> None:
    assert run_of(after_a_pass(run).play(token)) == after


@pytest.mark.parametrize(("run", "token"), [("+2", "c1-"), ("-2", "c1+")])
def test_a_third_change_is_illegal(run: str, token: str) -> None:
    assert_illegal(after_a_pass(run), token, ONLY_TWO_CHANGES)


def test_a_sowing_that_is_not_made_right_after_a_pass_starts_no_run() -> None:
    position = dogon("""
        2 | 4 4 4 4 4 4 |
        1 | 4 4 4 4 4 4 |
            a b c d e f
    """)
    assert run_of(position.play("c1+")) == "-"


def test_a_run_is_unbroken_while_the_opponent_passes() -> None:
    position = dogon(
        """
        2 | 1 . . . . . | 40
        1 | . 1 1 2 . . | 3
            a b c d e f
        """,
        passed=True,
    )
    runs = []
    for token in ("d1-", "c1+", "b1+", "d1-"):
        position = position.play(token).play("pass")
        runs.append(run_of(position))
    assert runs == ["-0", "+1", "+1", "-2"]
    assert_illegal(position, "c1+", ONLY_TWO_CHANGES)
    assert moves(position) == ["c1-"]


@pytest.mark.parametrize("token", ["f1+", "e1+", "a1-"])
def test_a_sowing_that_reaches_the_opponent_s_row_is_never_limited_and_ends_the_run(token: str) -> None:
    position = dogon(
        """
        2 | 1 . . . . 1 | 19
        1 | 1 . 2 . 2 2 | 20
            a b c d e f
        """,
        passed=True,
        run="-2" if token.endswith("+") else "+2",
    )
    assert run_of(position.play(token)) == "-"


def test_any_sowing_by_the_opponent_ends_the_run() -> None:
    position = dogon(
        """
        2 | 2 . . . . . | 22
        1 | . . 2 . . . | 22
            a b c d e f
        """,
        "b",
        run="-1",
    )
    assert run_of(position.play("a2+")) == "-"


def test_a_pass_of_the_opponent_leaves_the_run() -> None:
    position = dogon(
        """
        2 | . 1 . . . . | 23
        1 | . . 2 . . . | 22
            a b c d e f
        """,
        "b",
        run="-1",
    )
    assert run_of(position.play("pass")) == "-1"


def test_any_seed_dropped_into_the_opponent_s_row_alters_it_even_if_nothing_was_captured() -> None:
    position = dogon(
        """
        2 | 9 . . . . 5 | 14
        1 | . . . . . 2 | 18
            a b c d e f
        """,
        passed=True,
        run="-2",
    )
    after = position.play("f1+")
    assert run_of(after) == "-"
    assert str(after).split(" ")[2] == "18"
