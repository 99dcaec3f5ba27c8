"""Lines that test what random play never reaches."""

from __future__ import annotations

from engines.rules import History, Outcome, Reason, Result, find_game
from tests.engines.rules.test_history import ONCE_ROUND
from tests.support.hexagons import drawn, duploline
from tests.support.mancala import dogon, duovallis, seeds, seeds_of
from tests.support.moves import moves


def test_dogon_kulei_threefold_repetition_after_22_plies() -> None:
    board = """
        2 | . 1 . . . 3 | 25
        1 | 1 . . . 1 1 | 16
            a b c d e f
    """
    history = History(find_game("dogon-kulei"), dogon(board))
    assert len(ONCE_ROUND) == 22
    for turn in range(2):
        for token in ONCE_ROUND:
            assert not history.outcome.decided
            history.play(token)
        assert seeds_of(history.position) == seeds(board)
        assert history.outcome.decided == (turn == 1)
    assert history.outcome == Outcome(Result.BLACK_WINS, Reason.REPETITION, 19, 29)


def test_dogon_kulei_game_over_by_both_having_to_pass_is_24_to_24_a_draw() -> None:
    position = dogon(
        """
        2 | . 1 . . . . | 23
        1 | . . 1 . . . | 23
            a b c d e f
        """,
        "b",
    )
    assert position.outcome() == Outcome(Result.DRAW, Reason.SEEDS, 24, 24)


def test_duovallis_only_endless_sowings_left_is_0_1() -> None:
    position = duovallis("""
        4 | 2b  .  .  . .    . |
        3 |  . 1w  . 1b .   1w |
        2 | 1w  .  .  . . 1w1b |
        1 |  . 1b 2w  . 1b   . |
             a  b  c  d  e   f
    """)
    assert position.outcome() == Outcome(Result.BLACK_WINS, Reason.NO_MOVE)


def test_dualma_forced_pass() -> None:
    rows = drawn("""
            . . . . .
           . . . . . .
          . . . . . . .
         . . . . . . . .
        wb . wb . wb . wb . .
         . . . . . . . .
          wb . wb . wb . wb
           . . . . . .
            wb . wb . wb
    """)
    assert moves(find_game("dualma").position.parse(f"{rows} w 21")) == ["pass"]


def test_duploline_both_actions_replaced_has_70_moves() -> None:
    position = duploline("""
           d d d r
          d D D d d
         D D d d D D
        D d d D D d d
         d D D d d D
          D D d D d
           . D D d
    """)
    assert position.count_moves() == len(moves(position)) == 70
    assert all("-" not in token for token in moves(position))
