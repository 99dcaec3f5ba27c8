"""Moves entered on the analysis board in a browser: random legal games on all ladders, by click and keys."""

from __future__ import annotations

import random
import re

import pytest
from playwright.sync_api import Page, expect

from engines.rules.base import Position
from engines.rules.registry import GAMES

PARTS = re.compile(r"pass|[DR](?=[a-i])|[a-i][1-9]|[+-]$")
CHOICES = {"D": "Disc", "R": "Ring", "+": "Anticlockwise +", "-": "Clockwise −", "pass": "Pass"}
PLIES = 24


def enter(page: Page, token: str) -> None:
    """Click the parts of a move, and confirm it where others go on from it."""
    for part in PARTS.findall(token):
        if part in CHOICES:
            button = page.get_by_role("button", name=CHOICES[part], exact=True)
            if button.count():
                button.click()
        else:
            page.locator(f'[data-cell="{part}"]').click()
    confirm = page.get_by_role("button", name="Confirm")
    if confirm.count():
        confirm.click()


def shows(page: Page, position: Position) -> None:
    expect(page.locator("#position")).to_have_value(str(position))


@pytest.mark.parametrize("code", GAMES)
def test_a_random_game_is_entered_by_clicking(page: Page, code: str) -> None:
    rng = random.Random(code)
    position: Position = GAMES[code].position.initial()
    page.goto(f"/analyse/{code}/")
    for _ in range(PLIES):
        if not (number := position.count_moves()):
            break
        token, position = position.play_at(rng.randrange(number))
        enter(page, token)
        shows(page, position)
    page.reload()
    shows(page, position)


def test_parts_are_taken_back_and_then_moves(page: Page) -> None:
    start = GAMES["dualma"].position.initial()
    page.goto("/analyse/dualma/")
    enter(page, "e4:f5")
    page.locator('[data-cell="a1"]').click()
    page.get_by_role("button", name="Undo part").click()
    expect(page.locator(".target.entered")).to_have_count(0)
    shows(page, start.play("e4:f5"))
    page.get_by_role("button", name="Undo", exact=True).click()
    shows(page, start)


@pytest.mark.parametrize(
    ("code", "own"), [("duploline", "white"), ("dogon-gagara", "black"), ("duovallis", "black")]
)
def test_random_answers_until_the_game_is_over(page: Page, code: str, own: str) -> None:
    rng = random.Random(code)
    page.goto(f"/rules/{code}/")
    page.get_by_role("link", name="Play against Random").click()
    page.get_by_label("Random plays").select_option("white" if own == "black" else "black")
    position: Position = GAMES[code].position.initial()
    for _ in range(300):
        expect(page.locator("#analysis")).to_have_attribute("data-turn", re.compile("you|over"))
        position = GAMES[code].position.parse(page.locator("#position").input_value())
        if position.outcome().decided:
            break
        assert position.side.name.lower() == own
        page.locator("#token").fill(position.move_at(rng.randrange(position.count_moves())))
        page.locator("#token").press("Enter")
        expect(page.locator("#position")).not_to_have_value(str(position))
    assert position.outcome().decided
    winner = position.outcome().winner
    said = "You win" if winner is not None and winner.name.lower() == own else "Random wins"
    expect(page.locator("#said")).to_contain_text(said)


def test_a_move_is_entered_with_the_keyboard_and_as_text(page: Page) -> None:
    position = GAMES["dogon-kulei"].position.initial()
    page.goto("/analyse/dogon-kulei/")
    page.locator('[data-cell="a1"]').focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    page.get_by_role("button", name=CHOICES["+"]).press("Enter")
    shows(page, position := position.play("c1+"))
    page.locator("#token").fill("c2-")
    page.keyboard.press("Enter")
    shows(page, position := position.play("c2-"))
    page.locator("#token").fill("c2-")
    page.keyboard.press("Enter")
    expect(page.locator("#said")).to_contain_text("“c2-” is not a legal move here.")
    shows(page, position)
