"""DuAlma: how a game ends. One test for each sentence of the rules."""

from __future__ import annotations

import random

import pytest

from engines.rules import UNDECIDED, History, Outcome, Reason, Result, find_game
from tests.support.hexagons import dualma
from tests.support.moves import assert_illegal, moves

DUALMA = find_game("dualma")
WHITE_HAS_A_ROW = Outcome(Result.WHITE_WINS, Reason.THREE_IN_A_ROW)
BLACK_HAS_A_ROW = Outcome(Result.BLACK_WINS, Reason.THREE_IN_A_ROW)

NEARLY = """
        . . . . .
       . . . . . .
      . . . . . . .
     . . . . w . . .
    . . . bw ww b . . .
     . . . . . . . .
      . . . . . . .
       . . . . . .
        . . . . .
"""
"""f6-e6 makes the third stack of a row."""
GAP_IN_THE_MIDDLE = """
        . . . . .
       . . . . . .
      . . . . . . .
     . . . . . . . .
    . . . bw b ww . . .
     . . . . . . . .
      . . bw . . . .
       . . . . . .
        . . . . .
"""
"""c3-e5 jumps between two stacks."""
TO_THE_UPPER_RIGHT = """
        . . . . .
       . . . . . .
      . . . w . . .
     . . . . w . . .
    . . . . bw . . . .
     . . . bw . . . .
      . . . . . . .
       . . . . . .
        . . . . .
"""
TO_THE_UPPER_LEFT = """
        . . . . .
       . . . . . .
      . b w . . . .
     . . bw . . . . .
    . . . bw . . . . .
     . . . . . . . .
      . . . . . . .
       . . . . . .
        . . . . .
"""
FIVE = """
        . . . . .
       . . . . . .
      . . . . . . .
     . . . w . . . .
    . . bw bw w bw bw . .
     . . . . . . . .
      . . . . . . .
       . . . . . .
        . . . . .
"""


@pytest.mark.parametrize(
    ("board", "move"),
    [
        (NEARLY, "f6-e6"),
        (GAP_IN_THE_MIDDLE, "c3-e5"),
        (TO_THE_UPPER_RIGHT, "g6-f6"),
        (TO_THE_UPPER_LEFT, "g5-g4"),
    ],
)
def test_a_player_wins_at_once_when_three_stacks_of_two_with_his_colour_on_top_stand_in_a_row(
    board: str, move: str
) -> None:
    before = dualma(board)
    assert before.outcome() is UNDECIDED
    after = before.play(move)
    assert after.outcome() == WHITE_HAS_A_ROW
    assert moves(after) == []
    assert DUALMA.position.parse(str(after)).outcome() == WHITE_HAS_A_ROW


def test_more_is_also_a_win() -> None:
    assert dualma(FIVE).play("f5-e5").outcome() == WHITE_HAS_A_ROW


def test_no_move_can_be_played_after_the_end() -> None:
    over = dualma(NEARLY).play("f6-e6")
    for token in ("pass", "e4-e5", "b1-c1", "a1:a2", ""):
        assert_illegal(over, token, "the game is over")


@pytest.mark.parametrize(
    "row",
    [
        ". . . bw ww . bw . .",
        ". . . bw wb ww . . .",
        ". . . bw w ww . . .",
        ". . . w w w w . .",
    ],
    ids=["not consecutive", "not all with one colour on top", "not all of height two", "single discs"],
)
def test_nothing_less_than_consecutive_stacks_wins(row: str) -> None:
    position = dualma(f"""
            . . . . .
           . . . . . .
          . . . . . . .
         . . . . . . . .
        {row}
         . . . . . . . .
          . . . . . . .
           . . . . . .
            . . . . .
    """)
    assert position.outcome() is UNDECIDED


def test_the_cells_are_consecutive_on_one_line() -> None:
    bent = dualma("""
            . . . . .
           . . . . . .
          . . . . . . .
         . . . . bw . . .
        . . . bw bw . . . .
         . . . . . . . .
          . . . . . . .
           . . . . . .
            . . . . .
    """)
    assert bent.outcome() is UNDECIDED
    over_the_edge = dualma("""
            . . . . .
           . . . . . .
          . . . . . . .
         bw bw . . . . . .
        . . . . . . . . bw
         bw bw . . . . . .
          . . . . . . bw
           . . . . . .
            . . . . .
    """)
    assert over_the_edge.outcome() is UNDECIDED


@pytest.mark.parametrize("side", ["w", "b"])
def test_a_given_row_has_won_whoever_is_to_move(side: str) -> None:
    black = dualma(NEARLY.replace("bw ww b", "wb wb bb"), side)
    white = dualma(NEARLY.replace("bw ww b", "bw ww bw"), side)
    assert black.outcome() == BLACK_HAS_A_ROW
    assert white.outcome() == WHITE_HAS_A_ROW
    assert moves(white) == moves(black) == []


def test_of_two_given_rows_that_of_the_player_who_moved_last_counts() -> None:
    both = """
            . . . . .
           . . . . . .
          . wb wb wb . . .
         . . . . . . . .
        . . . bw bw bw . . .
         . . . . . . . .
          . . . . . . .
           . . . . . .
            . . . . .
    """
    assert dualma(both, "w").outcome() == BLACK_HAS_A_ROW
    assert dualma(both, "b").outcome() == WHITE_HAS_A_ROW


@pytest.mark.parametrize("seed", range(3))
def test_a_row_is_always_the_mover_s(seed: int) -> None:
    rng = random.Random(seed)
    history = History(DUALMA)
    while not history.outcome.decided:
        position = history.position
        history.play(position.move_at(rng.randrange(position.count_moves())))
    if history.outcome.reason is Reason.THREE_IN_A_ROW:
        assert history.outcome.result is Result.win_for(history.position.side.other)


@pytest.mark.parametrize("reason", [Reason.REPETITION, Reason.PLY_LIMIT])
def test_repetition_and_the_ply_limit_are_a_draw(reason: Reason) -> None:
    assert dualma(NEARLY).outcome_by_match_rule(reason) == Outcome(Result.DRAW, reason)
