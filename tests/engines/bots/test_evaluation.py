"""Evaluations: equal for both colours, as expected on drawn boards; and Greedy, one ply of them."""

from __future__ import annotations

import pytest

from engines.bots.candidates import guide_of
from engines.bots.evaluation import WIN_NEXT, evaluation_of, final_score
from engines.rules.base import Position
from engines.rules.registry import GAMES
from tests.engines.bots.test_bots import ask, best_move, some_positions


def worth(code: str, text: str) -> int:
    return evaluation_of(code)(GAMES[code].position.parse(text))


@pytest.mark.parametrize("code", GAMES)
def test_the_start_is_even(code: str) -> None:
    assert evaluation_of(code)(GAMES[code].position.initial()) == 0


@pytest.mark.parametrize(
    ("code", "text", "mirrored"),
    [
        ("dogon-kulei", "0,1,0,2,0,3/4,0,0,1,0,5 w 20 12 - - 0", "5,0,1,0,0,4/3,0,2,0,1,0 b 12 20 - - 1"),
        (
            "duovallis",
            "0,0,0,0,0,2b/0,1w,0,0,0,0/0,0,0,0,0,0/3w,0,2w,0,0,0 w 0 1 0",
            "0,0,0,2b,0,3b/0,0,0,0,0,0/0,0,0,0,1b,0/2w,0,0,0,0,0 b 1 0 1",
        ),
        ("duploline", "4/5/2,d,3/3,D,3/6/5/4 w 2", "4/5/2,D,3/3,d,3/6/5/4 b 3"),
    ],
)
def test_colours_and_sides_exchanged_are_worth_the_same(code: str, text: str, mirrored: str) -> None:
    assert worth(code, text) == worth(code, mirrored) != 0


def test_a_seed_in_the_store_scores_more_than_one_in_an_own_hole() -> None:
    home = worth("dogon-kulei", "0,4,4,4,4,4/5,4,4,4,4,4 w 0 3 - - 0")
    store = worth("dogon-kulei", "0,4,4,4,4,4/4,4,4,4,4,4 w 1 3 - - 0")
    assert store > home


@pytest.mark.parametrize(("hole", "opens"), [("2w", True), ("2w2b", True), ("1w2b", False), ("1w", False)])
def test_a_hole_of_the_back_row_counts_that_its_owner_may_start_from(hole: str, opens: bool) -> None:
    """The same stones lie on a1, in White's back row, and on c3, in front."""
    back = worth("duovallis", f"0,0,0,0,0,4b/0,4w,0,0,0,0/0,0,0,0,0,0/{hole},0,0,0,0,0 w 0 0 0")
    front = worth("duovallis", f"0,0,0,0,0,4b/0,4w,{hole},0,0,0/0,0,0,0,0,0/0,0,0,0,0,0 w 0 0 0")
    assert (back > front) == opens


def test_a_stone_scores_more_in_a_neutral_hole() -> None:
    """A white stone on a3, and the same on c3, in White's front row."""
    neutral = worth("duovallis", "0,0,0,0,0,4b/1w,4w,0,0,0,0/0,0,0,0,0,0/0,0,0,0,0,0 w 0 0 0")
    front = worth("duovallis", "0,0,0,0,0,4b/0,4w,1w,0,0,0/0,0,0,0,0,0/0,0,0,0,0,0 w 0 0 0")
    assert neutral > front


def test_three_stacks_in_a_row_but_one_are_won_by_him_whose_turn_it_is() -> None:
    """White has stacks on d3 and d4, a single disc on d5, and a disc beside it on d6.

    ::

         d   . . wW wW b w . .
    """
    rest = "b,b,b,b,b/b,b,b,b,b,1/w,w,w,w,w,w,1/8"
    text = "{rest}/9/2,ww,ww,b,w,2/7/6/5 {side} {ply}"
    assert worth("dualma", text.format(rest=rest, side="w", ply=31)) > WIN_NEXT // 2
    assert -WIN_NEXT // 2 < worth("dualma", text.format(rest=rest, side="b", ply=32)) < 0


@pytest.mark.parametrize(("fourth", "wins"), [("D", True), ("r", True), ("d", False)])
def test_a_row_of_three_discs_wins_next_unless_a_disc_is_in_the_way(fourth: str, wins: bool) -> None:
    """The fourth cell is empty, or holds a ring that a disc beside it may join, or a disc of Black's.

    ::

          e   . . D r . .
         d   D D D ? . . .
    """
    cell = {"D": "1", "r": "r", "d": "d"}[fourth]
    rows = f"4/5/2,D,r,2/D,D,D,{cell},3/6/5/4".replace("D,1,3", "D,4")
    value = worth("duploline", f"{rows} w 6")
    assert (value > WIN_NEXT // 2) == wins


def test_a_row_is_not_completed_by_one_of_its_own_pieces() -> None:
    """The disc on d3 stands beside the ring on d4 that lacks a disc, but belongs to the row already.

    ::

          e   . . . r . .
         d   D D D r . . .
    """
    assert abs(worth("duploline", "4/5/3,r,2/D,D,D,r,3/6/5/4 w 6")) < WIN_NEXT // 2


def test_a_second_threat_is_worth_more_than_the_first() -> None:
    """Black's pieces make an end of White's row playable for him, and then the other.

    ::

          e   r . . d . .
         d   . D D D . . .
    """
    row = "1,D,D,D,3/6/5/4 b 7"
    none, one, two = (worth("duploline", f"4/5/{cells}/{row}") for cells in ("6", "3,d,2", "r,2,d,2"))
    assert 0 < none - one < one - two


def worth_after(code: str, position: Position, token: str) -> int:
    """What the mover has after a move, the game's end above all."""
    after = position.play(token)
    outcome = after.outcome()
    return final_score(outcome, position.side) if outcome.decided else -evaluation_of(code)(after)


@pytest.mark.parametrize("code", GAMES)
def test_no_candidate_is_worth_more_than_the_move_chosen(code: str) -> None:
    for position in list(some_positions(code, seed=5, plies=40))[::4]:
        moves, _ = guide_of(code).candidates(position)
        chosen = best_move(ask("greedy_bot", code, f"fen {position}"))
        most = max(worth_after(code, position, token) for token in moves)
        assert worth_after(code, position, chosen) >= most


def test_equals_are_drawn_by_lot() -> None:
    chosen = {best_move(ask("greedy_bot", "dogon-kulei", "startpos", seed=seed)) for seed in range(20)}
    position = GAMES["dogon-kulei"].position.initial()
    assert len({worth_after("dogon-kulei", position, token) for token in chosen}) == 1
    assert len(chosen) > 1
