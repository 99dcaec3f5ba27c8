"""The pages of the tasks: right and illegal answers, without scripts."""

from __future__ import annotations

import pytest
from django.test import Client
from django.utils.http import urlencode

from engines.rules.base import Position
from engines.rules.registry import GAMES
from engines.tasks import Kind, Task, read_tasks
from engines.tasks.solver import Solver
from tournament.views.analysis.tasks import list_tasks

TASKS = [
    pytest.param(code, number, task, id=f"{code}-{number}")
    for code in GAMES
    for number, task in enumerate(read_tasks(code), 1)
]
pytestmark = pytest.mark.django_db

every_task = pytest.mark.parametrize(("code", "number", "task"), TASKS)


def start(code: str, task: Task) -> Position:
    return GAMES[code].position.parse(task.position)


@every_task
def test_every_task_is_solved_by_its_moves(client: Client, code: str, number: int, task: Task) -> None:
    position, address = start(code, task), f"/rules/{code}/tasks/{number}/"
    page = client.get(address).content.decode()
    assert f"Task {number}: {list_tasks(code)[number - 1][1]}" in page
    assert "data-solved" not in page
    answered = client.get(f"{address}?{urlencode({'token': task.moves[0]})}").content.decode()
    if task.kind is Kind.WIN_IN_TWO:
        assert f"answers {task.defence}" in answered
        win = next(Solver().wins(position.play(task.moves[0]).play(task.defence)))
        query = urlencode({"moves": task.moves[0], "token": win})
        answered = client.get(f"{address}?{query}").content.decode()
    assert "data-solved" in answered
    assert "Right." in answered


def test_an_illegal_move_is_neither_right_nor_wrong(client: Client) -> None:
    page = client.get("/rules/duovallis/tasks/1/?token=%3Cb%3E").content.decode()
    assert "“&lt;b&gt;” is not a legal move here." in page
    assert "Wrong" not in page


@pytest.mark.parametrize(
    "address", ["/rules/dualma/tasks/0/", "/rules/dualma/tasks/7/", "/rules/chess/tasks/1/"]
)
def test_there_is_no_other_task(client: Client, address: str) -> None:
    assert client.get(address).status_code == 404


@pytest.mark.parametrize("code", GAMES)
def test_the_rules_page_lists_the_tasks(client: Client, code: str) -> None:
    page = client.get(f"/rules/{code}/").content.decode()
    for number, title, task in list_tasks(code):
        assert f'<li data-task="{task.position}"><a href="/rules/{code}/tasks/{number}/">{title}</a>' in page
