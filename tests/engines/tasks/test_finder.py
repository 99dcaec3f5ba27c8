"""The finder on random games: drawn by the seed, each task from another game, none twice."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import pytest

from engines.records import Record
from engines.rules import GAMES
from engines.rules.base import Position
from engines.tasks import Kind
from engines.tasks.finder import PLANS, TooFewTasks, find_tasks, make_task
from engines.tasks.solver import Solver
from tests.engines.tasks.test_solver import FIVE_HOLES, SINGLE_SEEDS, THREE_RINGS
from tests.support.records import random_moves, record_of

KULEI = GAMES["dogon-kulei"]


@cache
def random_games(number: int = 150) -> Sequence[Record]:
    return [record_of(KULEI.code, random_moves(KULEI.code, seed)) for seed in range(number)]


def at(code: str, text: str) -> Position:
    return GAMES[code].position.parse(text)


def test_a_seed_draws_the_same_tasks_and_another_seed_others() -> None:
    first = find_tasks(KULEI, random_games(), 1)
    assert find_tasks(KULEI, iter(random_games()), 1) == first
    assert find_tasks(KULEI, random_games(), 2) != first


def test_tasks_come_from_different_games_in_the_order_of_the_plan() -> None:
    tasks = find_tasks(KULEI, random_games(), 1)
    kinds = [kind for kind, number in PLANS["Dogon"].items() for _ in range(number)]
    assert [task.kind for task in tasks] == kinds
    played = [set(positions(record)) for record in random_games()]
    sources = [[n for n, texts in enumerate(played) if task.position in texts] for task in tasks]
    assert all(sources)
    assert len({numbers[0] for numbers in sources}) == len(tasks)


def positions(record: Record) -> list[str]:
    position: Position = KULEI.position.initial()
    texts = []
    for move in record.moves:
        texts.append(str(position))
        position = position.play(move.token)
    return texts


def test_records_of_other_ladders_are_skipped() -> None:
    others = [record_of("dualma", random_moves("dualma", 1))]
    assert find_tasks(KULEI, [*others, *random_games()], 1) == find_tasks(KULEI, random_games(), 1)


def test_too_few_games_are_refused_with_the_kind_that_is_missing() -> None:
    with pytest.raises(TooFewTasks, match="too few tasks of the kind 'win-in-two'"):
        find_tasks(KULEI, random_games()[:1], 1)


def test_a_task_has_one_solution() -> None:
    assert make_task(Kind.CAPTURE, KULEI.position.initial()) is None
    task = make_task(Kind.WIN_IN_ONE, at("duploline", THREE_RINGS))
    assert task is not None
    assert "Rc4-d4" in task.moves


def test_only_one_capture_is_no_choice() -> None:
    position = at("dogon-kulei", FIVE_HOLES)
    assert list(Solver().solve(Kind.CAPTURE, position)) == ["f1+"]
    assert make_task(Kind.CAPTURE, position) is None


def test_where_a_move_wins_at_once_nothing_else_is_asked() -> None:
    assert make_task(Kind.WIN_IN_TWO, at("duploline", THREE_RINGS)) is None
    assert make_task(Kind.FORCE_PASS, at("dogon-kulei", SINGLE_SEEDS)) is not None
