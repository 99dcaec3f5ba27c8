"""Candidate moves: all legal, complete if they are said to be, and without missing wins."""

from __future__ import annotations

from itertools import islice

import pytest

from engines.bots.candidates import guide_of
from engines.rules.base import Position, Result
from engines.rules.registry import GAMES
from tests.engines.bots.test_bots import some_positions, winning_positions


def parse(code: str, text: str) -> Position:
    return GAMES[code].position.parse(text)


@pytest.mark.parametrize("code", GAMES)
def test_candidates_are_legal_and_each_is_there_once(code: str) -> None:
    for seed in range(3):
        for position in some_positions(code, seed, plies=40):
            moves, complete = guide_of(code).candidates(position)
            assert moves
            assert len(set(moves)) == len(moves)
            assert all(map(position.is_legal, moves))
            assert not complete or len(moves) == position.count_moves()


@pytest.mark.parametrize("code", ["dualma", "duploline"])
def test_a_win_at_once_is_seen_without_trying_every_move(code: str) -> None:
    seen = missed = 0
    for position, wins in islice(winning_positions(code), 30):
        win = guide_of(code).winning_move(position)
        seen += win in wins
        missed += win is None
    assert seen > 0
    assert missed == 0


@pytest.mark.parametrize("code", ["dualma", "duploline"])
def test_a_winning_move_wins(code: str) -> None:
    for seed in range(20):
        for position in some_positions(code, seed, plies=200):
            win = guide_of(code).winning_move(position)
            assert win is None or position.play(win).outcome().result is Result.win_for(position.side)


def test_a_disc_that_ties_the_board_together_may_leave_once_a_ring_does_so_instead() -> None:
    """The white ring on c3 completes a row on d4 as soon as the disc that it leaves alone is joined.

    ::

            g   r r r D
           f   D . R d d
          e   B D 8 d . .
         d   D B 8 d R . .
          c   r . R . . .
           b   . r r D .
            a   . . R .

    An 8 is a disc in a ring, a B one of each colour.
    """
    text = "r,r,r,D/D,1,R,d,d/dR,D,dr,d,2/D,dR,DR,d,R,2/r,1,R,3/1,r,r,D,1/2,R,1 w 16"
    position = parse("duploline", text)
    win = guide_of("duploline").winning_move(position)
    assert win is not None
    assert win.endswith(":Rc3-d4")
    assert not position.is_legal("Rc3-d4")


def test_a_ring_that_blocks_four_discs_is_moved() -> None:
    """White lacks a disc on d4, where his own ring lies; a black disc takes it in.

    ::

            g   . . . .
           f   . . . . .
          e   . . d . . .
         d   D D D R . . .
          c   . . d . . .
           b   . . . . .
            a   . . . .
    """
    position = parse("duploline", "4/5/2,d,3/D,D,D,R,3/2,d,3/5/4 w 6")
    win = guide_of("duploline").winning_move(position)
    assert win in ("Rd4-e4:Dd4", "Rd4-c3:Dd4")
