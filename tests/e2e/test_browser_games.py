"""The list of games in a real browser: filtered, sorted and paged by keyboard, and on a phone."""

from __future__ import annotations

import re
from functools import partial

import pytest
from django.db.models import F
from playwright.sync_api import Page, expect

from engines.rules.registry import GAMES
from tests.e2e.pages import PHONE, Visit, box_of, fits, tab_to
from tests.support.filled_site import LADDER, Site, add_version, decide_games
from tests.support.jobs import wait_until
from tests.support.schedule import make_event
from tournament.models import Game

PAGE_SIZE = 50


@pytest.fixture
def games(site: Site) -> int:
    """More recorded games than a page holds, each of its own length; returns how many."""
    bots = [add_version(site.owner, f"The bot with a long name {number}") for number in range(1, 9)]
    decide_games(make_event("round-robin", versions=bots, ladders=[LADDER], name="All"))
    done = Game.objects.filter(state=Game.State.DONE)
    done.update(plies=F("pk") + 10)
    return done.count()


def plies(page: Page) -> list[int]:
    return [int(text) for text in page.locator(".games td.num").all_inner_texts()]


SIZES = """() => {
  const page = document.documentElement, [board, last] = ["svg.board", "main > div > p"].map(
    (name) => document.querySelector(name).getBoundingClientRect());
  return {over: [page.scrollWidth - page.clientWidth, page.scrollHeight - page.clientHeight],
          free: page.clientHeight - last.bottom, width: board.width};
}"""


def test_the_embedded_board_of_every_ladder_fits_its_frame(site: Site, page: Page) -> None:
    event = make_event("round-robin", versions=[site.white, site.black], ladders=list(GAMES), name="All")
    decide_games(event)
    shown: list[str] = []
    page.route("**/blog", lambda route: route.fulfill(content_type="text/html", body=shown[-1]))
    for code in GAMES:
        game = event.games.filter(ladder=code).earliest("id")
        page.goto(f"/games/{game.pk}/")
        snippet = str(page.locator("dd code", has_text="<iframe").text_content())
        assert 'loading="lazy"' in snippet
        shown.append(f"<!doctype html><meta charset=utf-8><title>Blog</title>{snippet}")
        page.goto("/blog")
        frame = page.frame_locator("iframe")
        expect(frame.locator("svg.board")).to_be_visible(timeout=20_000)
        assert page.get_by_title(f"{game.white.bot.name} – ", exact=False).count() == 1
        html = frame.locator("html")
        assert wait_until(partial(html.evaluate, "document.readyState == 'complete'"))
        sizes = html.evaluate(SIZES)
        assert sizes["over"] == [0, 0], code
        assert sizes["width"] > 600, code
        assert 0 <= sizes["free"] < 60, code


def test_games_are_filtered_sorted_and_paged_by_keyboard(games: int, page: Page) -> None:
    page.goto("/games/")
    tab_to(page, "#id_ladder")
    page.keyboard.type("Dogon kulei")
    tab_to(page, "#id_sort")
    page.keyboard.type("Longest")
    tab_to(page, ".search button")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(rf"/games/\?ladder={LADDER}&sort=longest$"))
    first = plies(page)
    assert first == sorted(first, reverse=True)
    assert len(first) == PAGE_SIZE
    page.locator("a[rel=next]").focus()
    page.keyboard.press("Enter")
    expect(page.locator(".games tbody tr")).to_have_count(games - PAGE_SIZE)
    rest = plies(page)
    assert max(rest) < min(first)
    page.locator("a[rel=prev]").focus()
    page.keyboard.press("Enter")
    expect(page.locator(".games tbody tr")).to_have_count(PAGE_SIZE)
    assert plies(page) == first


def test_games_are_read_and_filtered_on_a_phone_in_the_dark(games: int, visit: Visit) -> None:
    phone = visit(viewport=PHONE, color_scheme="dark", has_touch=True)
    phone.goto("/games/")
    assert fits(phone)
    row = phone.locator(".games tbody tr").first
    for cell in row.locator("td").all():
        expect(cell).to_be_in_viewport(ratio=1)
    left = box_of(phone.locator("#id_bot"))["x"]
    for cell in (row.locator("td").first, row.locator("td:nth-child(4)")):
        assert abs(box_of(cell)["x"] - left) < 2  # one left edge for all lines of the panel
    phone.select_option("#id_sort", "shortest")
    phone.tap(".search button")
    expect(phone).to_have_url(re.compile(r"\?sort=shortest$"))
    assert plies(phone) == sorted(plies(phone))
    phone.check("#id_boards")
    phone.tap(".search button")
    board = phone.locator(".games .final img").first
    expect(board).to_be_visible()
    assert wait_until(partial(board.evaluate, "(image) => image.complete && image.naturalWidth > 0"))
    assert fits(phone)
    phone.tap(".games tbody tr:nth-child(2) .final", force=True)  # the link above it
    expect(phone).to_have_url(re.compile(r"/games/\d+/$"))
