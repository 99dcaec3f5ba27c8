"""Greedy: one ply of the evaluation, by its definition."""

from __future__ import annotations

import pytest

from engines.bots.candidates import guide_of
from engines.bots.evaluation import evaluation_of, final_score
from engines.rules.base import Position
from engines.rules.registry import GAMES
from tests.engines.bots.test_bots import ask, best_move, some_positions


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
