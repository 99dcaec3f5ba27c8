"""The stored tasks: six a ladder, proved by the solver and by the literal rules."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from engines.rules import GAMES, Variant
from engines.rules.base import Position
from engines.tasks import Kind, model, read_tasks
from engines.tasks.finder import LEAST_CHOICES, PLANS, make_task
from engines.tasks.model import FOLDER, Task
from engines.tasks.solver import Solver
from tests.literal import LITERAL
from tests.support.literal_tasks import literal_solve
from tests.support.matches import ROOT, read_games

every_game = pytest.mark.parametrize("game", GAMES.values(), ids=lambda game: game.code)
TASKS = [
    pytest.param(code, task, id=f"{code}-{number}")
    for code in GAMES
    for number, task in enumerate(read_tasks(code), 1)
]
every_task = pytest.mark.parametrize(("code", "task"), TASKS)
LONG = {"duploline-3", "duploline-4"}
"""Tasks that take the literal rules a minute."""
TOO_LONG = {"duploline-5", "duploline-6"}
"""The same, an hour: these two are proved by the solver alone."""
QUICK = [param for param in TASKS if param.id not in LONG | TOO_LONG]


@every_game
def test_a_ladder_has_six_tasks_of_at_least_three_kinds_in_the_order_of_its_plan(game: Variant) -> None:
    kinds = [task.kind for task in read_tasks(game.code)]
    assert kinds == [kind for kind, number in PLANS[game.family].items() for _ in range(number)]
    assert len(kinds) == 6
    assert len(set(kinds)) >= 3


@every_game
def test_a_file_is_read_and_written_the_same(game: Variant) -> None:
    text = (FOLDER / f"{game.code}.txt").read_text(encoding="ascii")
    assert "".join(f"{task}\n" for task in read_tasks(game.code)) == text


@every_game
def test_no_two_tasks_are_the_same_position_or_its_reflection(game: Variant) -> None:
    positions = [game.position.parse(task.position) for task in read_tasks(game.code)]
    assert len({position.canonical()[0] for position in positions}) == 6
    assert min(position.count_moves() for position in positions) >= LEAST_CHOICES


def test_a_ladder_without_a_file_has_no_tasks() -> None:
    assert read_tasks("chess") == ()


@every_task
def test_the_solver_finds_the_stored_moves_and_no_others(code: str, task: Task) -> None:
    position: Position = GAMES[code].position.parse(task.position)
    assert str(make_task(task.kind, position)) == str(task)


@every_task
def test_a_win_in_two_has_a_second_move_after_every_answer(code: str, task: Task) -> None:
    if task.kind is not Kind.WIN_IN_TWO:
        assert task.defence == ""
        return
    position: Position = GAMES[code].position.parse(task.position)
    for move in task.moves:
        after = position.play(move)
        assert after.is_legal(task.defence)
        for reply in after.legal_moves():
            answered = after.play(reply)
            assert answered.outcome().winner is position.side or any(Solver().wins(answered))


@pytest.mark.slow
@pytest.mark.parametrize(("code", "task"), QUICK)
def test_the_literal_rules_agree(code: str, task: Task) -> None:
    assert literal_solve(task.kind, LITERAL[code].parse(task.position)) == set(task.moves)


@pytest.mark.thorough
@pytest.mark.parametrize(("code", "task"), [param for param in TASKS if param.id in LONG])
def test_the_literal_rules_agree_on_long_searches(code: str, task: Task) -> None:
    assert literal_solve(task.kind, LITERAL[code].parse(task.position)) == set(task.moves)


def commands() -> list[list[str]]:
    """The commands in the docstring of the module, in which they are continued by a backslash."""
    block = re.search(r"::\n\n((?:    python3 .*\n|        .*\n)+)", model.__doc__ or "")
    assert block is not None
    return [shlex.split(line) for line in block[1].replace("\\\n", " ").splitlines()]


def run(words: list[str], folder: Path) -> str:
    assert words[0] == "python3"
    environment = {"PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin", "HOME": str(folder)}
    done = subprocess.run(
        [sys.executable, *words[1:]], cwd=folder, env=environment, capture_output=True, text=True, check=True
    )
    return done.stdout


@pytest.mark.slow
def test_fewer_rounds_give_the_same_games_with_any_concurrency(tmp_path: Path) -> None:
    match, _ = commands()
    match[match.index("-rounds") + 1] = "2"
    played = []
    for number in ("1", "2"):
        folder = tmp_path / number
        folder.mkdir()
        run([*match, "-concurrency", number], folder)
        games = read_games(folder / "games.pgn")
        played.append({game.header("GameId"): [move.token for move in game.moves] for game in games})
    assert len(played[0]) == 4 * len(GAMES)
    assert played[0] == played[1]


@pytest.mark.thorough
def test_the_commands_of_the_docstring_make_the_same_bytes(tmp_path: Path) -> None:
    match, finding = commands()
    run(match, tmp_path)
    for code in GAMES:
        words = [code if word == "GAME" else word for word in finding]
        assert run(words, tmp_path) == (FOLDER / f"{code}.txt").read_text(encoding="ascii")
