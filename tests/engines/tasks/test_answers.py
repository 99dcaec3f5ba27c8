"""Answers to tasks: what is said to wrong moves, and which moves follow them."""

from __future__ import annotations

import pytest

from engines.rules.registry import GAMES
from engines.tasks import Kind, Task, read_tasks
from engines.tasks.answers import judge
from engines.tasks.solver import Solver

SAID = {
    Kind.CAPTURE: "and another move captures",
    Kind.FORCE_PASS: "need not pass",
    Kind.WIN_IN_ONE: "does not end the game",
    Kind.DEFEND: "wins with",
    Kind.WIN_IN_TWO: "wins",
}


@pytest.mark.parametrize(
    ("code", "task"),
    [
        pytest.param(code, task, id=f"{code}-{number}")
        for code in GAMES
        for number, task in enumerate(read_tasks(code), 1)
    ],
)
def test_every_wrong_move_is_refuted_by_moves_that_can_be_played(code: str, task: Task) -> None:
    position = GAMES[code].position.parse(task.position)
    for token in position.legal_moves():
        answer = judge(GAMES[code], task, [token])
        assert answer.right is (token in task.moves)
        if answer.right:
            continue
        assert SAID[task.kind] in answer.said
        played = position
        for move in answer.refuted:
            played = played.play(move)
        if task.kind is Kind.WIN_IN_TWO:
            assert played.outcome().winner is not position.side
            assert not any(Solver().wins(played))


def test_a_second_move_that_does_not_win_is_wrong_and_may_be_tried_again() -> None:
    code = "dualma"
    task = next(one for one in read_tasks(code) if one.kind is Kind.WIN_IN_TWO)
    position = GAMES[code].position.parse(task.position).play(task.moves[0]).play(task.defence)
    wins = set(Solver().wins(position))
    wrong = next(token for token in position.legal_moves() if token not in wins)
    answer = judge(GAMES[code], task, [task.moves[0], wrong])
    assert (answer.right, answer.solved) == (False, False)
    assert answer.played == (task.moves[0], task.defence)
    assert answer.refuted[:3] == (*answer.played, wrong)
