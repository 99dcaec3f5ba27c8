"""Tasks solved in a browser: by clicking on every ladder, as text, and without JavaScript."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from engines.rules.registry import GAMES
from engines.tasks import Kind, read_tasks
from engines.tasks.solver import Solver
from tests.e2e.test_browser_analysis import enter


def number_of(code: str, kind: Kind) -> int:
    return [one.kind for one in read_tasks(code)].index(kind) + 1


@pytest.mark.parametrize("code", GAMES)
def test_a_win_in_two_is_solved_by_clicking(page: Page, code: str) -> None:
    number = number_of(code, Kind.WIN_IN_TWO)
    task = read_tasks(code)[number - 1]
    position = GAMES[code].position.parse(task.position).play(task.moves[0]).play(task.defence)
    page.goto(f"/rules/{code}/tasks/{number}/")
    enter(page, task.moves[0])
    expect(page.locator("#said")).to_contain_text(f"Right so far. {position.side.other.name.title()} answers")
    enter(page, next(Solver().wins(position)))
    expect(page.locator("#said")).to_contain_text("Right.")
    expect(page.locator("nav [aria-current] + span")).to_be_visible()
    page.goto(f"/rules/{code}/")
    expect(page.locator(".tasks").get_by_text("solved")).to_have_count(6)
    expect(page.locator(".tasks span:visible")).to_have_count(1)


def test_a_wrong_answer_is_explained_and_another_may_follow(page: Page) -> None:
    code, number = "dogon-kulei", number_of("dogon-kulei", Kind.CAPTURE)
    task = read_tasks(code)[number - 1]
    wrong = next(
        token for token in GAMES[code].position.parse(task.position).legal_moves() if token not in task.moves
    )
    page.goto(f"/rules/{code}/tasks/{number}/")
    enter(page, wrong)
    expect(page.locator("#said")).to_contain_text("Wrong.")
    expect(page.locator("#said")).to_have_class(re.compile("wrong"))
    page.locator("#token").fill("zz")
    page.keyboard.press("Enter")
    expect(page.locator("#said")).to_contain_text("“zz” is not a legal move here.")
    page.locator("#token").fill(task.moves[0])
    page.keyboard.press("Enter")
    expect(page.locator("#said")).to_contain_text("Right.")
    page.get_by_role("link", name="Next task").click()
    expect(page.locator("h1")).to_contain_text(f"Task {number + 1}")


def test_without_scripts_the_legal_moves_are_links(unscripted: Page) -> None:
    task = read_tasks("duovallis")[0]
    unscripted.goto("/rules/duovallis/tasks/1/")
    unscripted.get_by_text("legal moves").click()
    unscripted.get_by_role("link", name=task.moves[0], exact=True).click()
    expect(unscripted.locator("#said")).to_contain_text("Right.")
