"""The analysis board in a browser: random games on all ladders by click and keys, and trees of moves."""

from __future__ import annotations

import random
import re

import pytest
from playwright.sync_api import Page, expect

from engines.records import compact_tree, parse_analysis
from engines.rules.base import Position
from engines.rules.registry import GAMES
from tests.e2e.pages import PHONE, fits, log_in
from tests.support.filled_site import Site

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
    ends = {"": "1/2-1/2", own: "You win"}  # Random's moves are not seeded
    said = ends.get("" if winner is None else winner.name.lower(), "Random wins")
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


def has_tree(page: Page, moves: str, token: str) -> None:
    """Whether the page has this tree, and shows this move of it."""
    expect(page.locator("#tree [name=moves]")).to_have_value(moves)
    expect(page.locator("#tree [aria-current]")).to_have_text(token)


def press(page: Page, name: str) -> None:
    page.get_by_role("button", name=name, exact=True).click()


def test_a_tree_is_built_commented_exported_imported_and_saved(site: Site, page: Page) -> None:
    log_in(page, "olga")
    page.goto("/analyse/dogon-kulei/")
    for token in ("c1+", "c2-", "f1-"):
        enter(page, token)
        expect(page.locator("#tree [aria-current]")).to_have_text(token)
    page.locator("#tree [aria-current]").focus()
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("ArrowLeft")
    has_tree(page, "c1+ c2- f1-", "c1+")
    position = GAMES["dogon-kulei"].position.initial().play("c1+")
    shows(page, position)
    page.locator('[data-cell="c2"]').focus()
    page.keyboard.press("ArrowLeft")
    expect(page.locator('[data-cell="b2"]')).to_be_focused()
    page.get_by_label("Move", exact=True).focus()
    page.keyboard.press("ArrowLeft")
    has_tree(page, "c1+ c2- f1-", "c1+")
    enter(page, "c2+")
    has_tree(page, "c1+ c2- (c2+) f1-", "c2+")
    shows(page, position.play("c2+"))
    page.get_by_label("Comment on the move c2+").fill("<b>why</b> not?")
    press(page, "Set the comment")
    moves = "c1+ c2- (c2+ {<b>why</b> not?}) f1-"
    has_tree(page, moves, "c2+")
    page.reload()
    has_tree(page, moves, "c2+")
    expect(page.locator(".tree .deep")).to_contain_text("<b>why</b> not?")
    page.get_by_text("The record", exact=True).first.click()
    record = page.locator("#exported").input_value()
    assert compact_tree(parse_analysis(record)[1]) == moves
    page.goto("/analyse/dogon-kulei/")
    page.get_by_text("Import", exact=True).first.click()
    page.get_by_label("A record, moves or a position").fill(record)
    press(page, "Import")
    has_tree(page, moves, "f1-")
    page.get_by_label("Title").fill("Replies")
    press(page, "Save")
    expect(page.get_by_role("heading", name="Replies")).to_be_visible()
    saved = page.url.partition("?")[0]
    main = page.get_by_role("button", name="Make it the main line")
    expect(main).to_have_count(0)
    press(page, "c2+")
    main.click()
    has_tree(page, "c1+ c2+ {<b>why</b> not?} (c2- f1-)", "c2+")
    expect(main).to_have_count(0)
    press(page, "Save")
    page.goto("/account/")
    page.get_by_role("link", name="Replies").click()
    expect(page).to_have_url(saved)
    has_tree(page, "c1+ c2+ {<b>why</b> not?} (c2- f1-)", "c2+")
    page.set_viewport_size(PHONE)
    assert fits(page)


def test_every_change_is_undone(page: Page) -> None:
    page.goto("/analyse/dogon-kulei/?moves=c1%2B+c2-+(c2%2B)+f1-&at=3")
    press(page, "Make it the main line")
    has_tree(page, "c1+ c2+ (c2- f1-)", "c2+")
    press(page, "Delete from here")
    has_tree(page, "c1+ c2- f1-", "c1+")
    page.get_by_label("Comment on the move c1+").fill("kept though another move is played")
    enter(page, "d2+")
    commented = "c1+ {kept though another move is played} c2- (d2+) f1-"
    has_tree(page, commented, "d2+")
    press(page, "Undo")
    has_tree(page, "c1+ c2- f1-", "c1+")
    press(page, "Undo")
    has_tree(page, "c1+ c2+ (c2- f1-)", "c2+")
    press(page, "Undo")
    has_tree(page, "c1+ c2- (c2+) f1-", "c2+")
    expect(page.get_by_role("button", name="Undo", exact=True)).to_be_disabled()


def test_without_scripts_a_tree_is_built_with_buttons(site: Site, unscripted: Page) -> None:
    page = unscripted
    page.goto("/analyse/dogon-kulei/?moves=c1%2B+c2-")
    press(page, "c1+")
    page.get_by_label("Move", exact=True).fill("c2+")
    page.keyboard.press("Enter")
    has_tree(page, "c1+ c2- (c2+)", "c2+")
    page.get_by_label("Comment on the move c2+").fill("why not?")
    press(page, "Make it the main line")
    has_tree(page, "c1+ c2+ {why not?} (c2-)", "c2+")
    page.get_by_label("Move", exact=True).fill("zz")
    press(page, "Play")
    expect(page.get_by_role("alert")).to_contain_text("2. zz: illegal move 'zz'")
    has_tree(page, "c1+ c2+ {why not?} (c2-)", "c2+")


def test_a_recorded_game_opens_at_the_ply_that_is_shown(site: Site, page: Page) -> None:
    page.goto(f"/games/{site.played.pk}/?ply=2")
    position = page.locator("#position").input_value()
    page.get_by_role("main").get_by_role("link", name="Analyse").click()
    expect(page.locator("#analysis")).to_have_attribute("data-turn", "you")  # its script runs
    expect(page.locator("#position")).to_have_value(position)
    page.keyboard.press("ArrowRight")
    expect(page.locator("#position")).not_to_have_value(position)
    page.keyboard.press("ArrowLeft")
    expect(page.locator("#position")).to_have_value(position)
