"""The explorer in a browser: its table follows the board, and a click on one of its moves plays it."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from engines.rules.registry import GAMES
from tests.support.filled_site import Site, add_version
from tests.support.rated_games import play_rated
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
