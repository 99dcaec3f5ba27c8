"""The explorer in a browser: its table follows the board, and a click on one of its moves plays it."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, ViewportSize, expect

from engines.rules.registry import GAMES
from tests.e2e.pages import DESK, PHONE, Visit, box_of
from tests.support.filled_site import Site, add_version
from tests.support.rated_games import play_rated
from tournament.models import Pairing
from tournament.services.explorer import counting
from tournament.services.explorer.moves import explore

LADDER = "dualma"


@pytest.fixture
def start(site: Site) -> str:
    versions = [add_version(site.owner, "First"), add_version(site.rival, "Second")]
    play_rated(site.owner, "Winter", versions, pairs=3, ladders=(LADDER,))
    counting.catch_up()
    return explore(LADDER, GAMES[LADDER].position.initial()).moves[0].token


def test_a_click_on_a_move_plays_it_and_the_table_follows(page: Page, start: str) -> None:
    page.goto(f"/explore/{LADDER}/")
    page.locator("#explored").get_by_role("button", name=start, exact=True).click()
    position = GAMES[LADDER].position.initial().play(start)
    expect(page.locator("#position")).to_have_value(str(position))
    following = explore(LADDER, position)
    rows = page.locator("#explored tbody tr")
    expect(rows).to_have_count(len(following.moves))
    expect(rows.first).to_contain_text(following.moves[0].token)
    page.get_by_role("button", name="Undo", exact=True).click()
    expect(rows.first).to_contain_text(start)
    assert f"/explore/{LADDER}/" in page.url


def test_back_of_the_browser_steps_through_positions(page: Page, start: str) -> None:
    page.goto(f"/explore/{LADDER}/")
    beginning = page.locator("#position").input_value()
    page.locator("#explored").get_by_role("button", name=start, exact=True).click()
    position = GAMES[LADDER].position.initial().play(start)
    expect(page.locator("#position")).to_have_value(str(position))
    second = explore(LADDER, position).moves[0].token
    page.locator("#explored").get_by_role("button", name=second, exact=True).click()
    expect(page.locator("#position")).to_have_value(str(position.play(second)))
    page.go_back()
    expect(page.locator("#position")).to_have_value(str(position))
    page.go_back()
    expect(page.locator("#position")).to_have_value(beginning)
    page.go_forward()
    expect(page.locator("#position")).to_have_value(str(position))
    page.reload()
    expect(page.locator("#position")).to_have_value(str(position))


@pytest.mark.parametrize("size", [DESK, PHONE])
def test_moves_are_entered_and_undone_and_bots_asked_beside_the_board(
    visit: Visit, site: Site, start: str, size: ViewportSize
) -> None:
    add_version(None, "Judge")  # a sample, which everybody may ask
    page = visit(viewport=size)
    page.goto(f"/explore/{LADDER}/")
    board = box_of(page.locator("#board"))
    for button in ("Play", "Undo", "Evaluate"):
        box = box_of(page.get_by_role("button", name=button, exact=True))
        assert box["y"] < board["y"] + board["height"] + 200, button


def test_a_move_of_a_drawn_opening_is_marked(page: Page, start: str) -> None:
    page.goto(f"/explore/{LADDER}/")
    Pairing.objects.update(opening=start)
    page.reload()
    expect(page.locator("#explored .book").first).to_have_text(start)
    expect(page.locator("#explored")).to_contain_text("no bot chose it")
    page.locator("#explored").get_by_role("button", name=start, exact=True).click()
    expect(page.locator("#position")).not_to_have_value(str(GAMES[LADDER].position.initial()))
    expect(page.locator("#explored .book")).to_have_count(0)


def test_a_filter_counts_other_games(page: Page, start: str) -> None:
    page.goto(f"/explore/{LADDER}/?moves={start}")
    expect(page.locator("#explored tbody tr")).not_to_have_count(0)
    page.get_by_label("Games that are counted").select_option("30")
    expect(page.locator("#explored")).to_contain_text("No recorded game of this kind reached this position.")


def test_the_line_is_kept_between_explorer_and_analysis_board(page: Page, start: str) -> None:
    page.goto(f"/explore/{LADDER}/")
    page.locator("#explored").get_by_role("button", name=start, exact=True).click()
    expect(page.locator("#tree [data-before]")).to_have_count(1)
    page.get_by_role("link", name="Analysis board").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("Analysis board")
    expect(page.locator("#tree [data-before]")).to_have_count(1)


def test_it_works_without_scripts(unscripted: Page, start: str) -> None:
    unscripted.goto(f"/explore/{LADDER}/")
    unscripted.locator("#explored").get_by_role("button", name=start, exact=True).click()
    expect(unscripted.locator("#position")).to_have_value(str(GAMES[LADDER].position.initial().play(start)))
    unscripted.locator("#explored tbody td a").first.click()
    expect(unscripted.get_by_role("heading", level=1)).to_have_text("Games")
    expect(unscripted.get_by_role("status")).to_have_text(re.compile(r"\d+ games?"))
