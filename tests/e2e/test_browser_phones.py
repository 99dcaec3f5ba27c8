"""Tables and boards in narrow windows of a real browser."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.pages import DESK, PHONE, box_of
from tests.support.browsers import wait_in
from tests.support.filled_site import LADDER, Site, add_version
from tests.support.rated_games import play_rated
from tournament.models import LadderRating

NAMES = ("Greedy", "Pebble", "Quiet Riot")
SCROLLED = """(boxes) => boxes.map((box) => {
  box.scrollLeft = box.scrollWidth;
  const rows = [...box.querySelectorAll("tbody tr:not(:has([colspan]))")];
  const named = rows.map((row) => row.querySelector(".player-cell, .bot, :scope > *"));
  const cells = named.map((cell) => cell.getBoundingClientRect());
  const { left, right } = box.getBoundingClientRect();
  return [box.scrollLeft > 0, cells.every((cell) => left <= cell.left && cell.right < right)];
})"""
"""For each table, whether it is wider than its box, and whether its names are seen when it is scrolled."""


@pytest.fixture
def rated(site: Site, page: Page) -> Page:
    """A phone, on a site with rated games."""
    owners = (site.owner, site.rival, site.owner)
    versions = [add_version(owner, name) for owner, name in zip(owners, NAMES, strict=True)]
    play_rated(site.owner, "Winter", [site.white, *versions], ladders=[LADDER, "dualma"])
    page.set_viewport_size(PHONE)
    return page


def test_a_ladder_shows_its_numbers_of_games_on_a_phone(rated: Page) -> None:
    rated.goto(f"/ladders/{LADDER}/")
    played = LadderRating.objects.get(version__bot__name="Greedy", ladder=LADDER).games
    row = rated.locator(".drawn-rows tr", has_text="Greedy")
    expect(row.get_by_role("link", name=str(played), exact=True)).to_be_in_viewport(ratio=1)
    assert rated.locator(".tablebox").evaluate("box => box.scrollWidth <= box.clientWidth")


@pytest.mark.parametrize("width", [390, 768])
def test_the_names_of_a_wide_table_stay_while_its_columns_scroll(rated: Page, width: int) -> None:
    rated.set_viewport_size({"width": width, "height": 900})
    wide = 0
    tables = "/tournaments/winter/ /bots/greedy/ /ladders/overall/ /workers/"
    for address in (f"/ladders/{LADDER}/", *tables.split()):
        rated.goto(address)
        for is_wide, names_seen in rated.locator(".tablebox:has(> table)").evaluate_all(SCROLLED):
            assert names_seen, address
            wide += is_wide
    assert wide >= 2


@pytest.mark.parametrize("address", ["/games/{game}/", "/bots/greedy/"])
def test_a_chart_gets_the_width_of_a_window_that_was_narrowed_or_widened(
    site: Site, rated: Page, address: str
) -> None:
    rated.set_viewport_size(DESK)
    rated.goto(address.format(game=site.played.pk))
    plot = rated.locator(".chart .uplot").first
    for width in (390, 1280):
        before = plot.evaluate("plot => plot.clientWidth")
        rated.set_viewport_size({"width": width, "height": 900})
        expect(plot).not_to_have_js_property("clientWidth", before)
        wait_in(rated, "document.documentElement.scrollWidth <= innerWidth")
        assert plot.evaluate("plot => plot.clientWidth == plot.parentElement.clientWidth")


def test_a_dogon_board_fills_the_width_between_the_players(site: Site, page: Page) -> None:
    page.goto(f"/games/{site.played.pk}/")
    board, panel = box_of(page.locator("#board svg.board")), box_of(page.locator("#board"))
    top, bottom = map(box_of, page.locator("#board .player").all())
    assert board["width"] == panel["width"]
    assert board["height"] < board["width"] / 2
    assert bottom["y"] - top["y"] - top["height"] < board["height"] + 20
