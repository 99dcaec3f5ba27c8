"""The home page, lists of games and local times in a real browser."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest
from django.utils import timezone
from playwright.sync_api import Locator, Page, expect

from tests.e2e.pages import DESK, PHONE, Visit, box_of, fits
from tests.support.filled_site import LADDER, Site, add_version, finish, go_live, round_robin
from tournament.models import Game, LiveGame
from tournament.services.schedule.tournaments import start
from tournament.views.site.featured import END_SECONDS

HIDDEN_PIXELS = """row => {
  const box = row.closest(".tablebox");
  return box.scrollWidth - box.clientWidth;
}"""
LOCAL = re.compile(r"^\d{1,2} [A-Z][a-z]{2} \d\d:\d\d$")


@pytest.fixture
def second(site: Site) -> Game:
    """A second running game, of other bots."""
    event = round_robin(
        site.owner, "Autumn", [add_version(site.owner, "Third"), add_version(site.rival, "Fourth")], pairs=2
    )
    start(event)
    game = event.games.earliest("pk")
    go_live(game, plies=6)
    return game


def boards(page: Page) -> Locator:
    return page.locator("#playing .featured")


def test_a_board_of_the_home_page_follows_its_game(site: Site, page: Page) -> None:
    LiveGame.objects.update(white_ms=45_000, black_ms=50_000)
    page.goto("/")
    board = boards(page)
    expect(board).to_have_attribute("data-plies", "5")
    before = board.locator("svg.board").inner_html()
    clock = board.locator("[data-tick]")
    shown = clock.inner_text()
    expect(clock).not_to_have_text(shown)  # it ticks
    go_live(site.live, plies=8)
    expect(board).to_have_attribute("data-plies", "8", timeout=20_000)
    assert board.locator("svg.board").inner_html() != before


def test_a_game_that_ends_gives_its_board_to_the_next(site: Site, second: Game, page: Page) -> None:
    page.goto("/")
    expect(boards(page)).to_have_count(2)
    LiveGame.objects.filter(game=site.live).delete()
    finish(site.live, sequence=2)
    ended = page.locator(f"#playing [data-game='{site.live.pk}']")
    expect(ended).to_contain_text("wins: ", timeout=20_000)
    Game.objects.filter(pk=site.live.pk).update(finished_at=timezone.now() - timedelta(seconds=END_SECONDS))
    expect(boards(page)).to_have_count(1, timeout=20_000)
    expect(boards(page)).to_have_attribute("data-game", str(second.pk))
    LiveGame.objects.all().delete()
    finish(second, sequence=3)
    Game.objects.filter(pk=second.pk).update(finished_at=timezone.now() - timedelta(seconds=END_SECONDS))
    expect(page.locator("#playing")).to_contain_text("The board shows the end of", timeout=20_000)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_phone_shows_one_board_and_a_desk_two(site: Site, second: Game, visit: Visit, scheme: str) -> None:
    page = visit(viewport=PHONE, color_scheme=scheme)
    page.goto("/")
    expect(boards(page)).to_have_count(2)
    assert [board.is_visible() for board in boards(page).all()] == [True, False]
    assert fits(page)
    face = page.locator("svg.board .face").first
    fill = face.evaluate("face => getComputedStyle(face).fill")
    assert (sum(map(int, re.findall(r"\d+", fill)[:3])) < 300) is (scheme == "dark")
    page.set_viewport_size(DESK)
    assert [board.is_visible() for board in boards(page).all()] == [True, True]
    first, other = map(box_of, boards(page).all())
    assert first["y"] == other["y"]


def test_times_that_come_with_a_poll_are_local_too(site: Site, visit: Visit) -> None:
    page = visit(timezone_id="Asia/Tokyo")
    page.goto("/tournaments/spring/")
    expect(page.locator(".games time")).to_have_text(LOCAL)
    finish(site.live, sequence=2)
    LiveGame.objects.all().delete()
    expect(page.locator(".games time")).to_have_count(2, timeout=20_000)
    for time in page.locator(".games time").all():
        expect(time).to_have_text(LOCAL)
        expect(time).to_have_attribute("title", re.compile("UTC; shown in your time zone, Asia/Tokyo"))


@pytest.mark.parametrize(
    "address", ["/games/", "/bots/stone-age/", "/bots/stone-age/1/", "/tournaments/spring/", "/"]
)
def test_every_list_of_games_shows_opponent_and_ending_on_a_phone(
    site: Site, page: Page, address: str
) -> None:
    page.set_viewport_size(PHONE)
    page.goto(address)
    row = page.locator(f".games tr:has(a[href='/games/{site.played.pk}/'])")
    for cell in row.locator("td").all():
        box = box_of(cell)
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= PHONE["width"]
        assert cell.evaluate("cell => cell.scrollWidth <= cell.clientWidth + 1"), cell.inner_text()
    assert row.evaluate(HIDDEN_PIXELS) <= 1


def test_a_ladder_on_a_phone_shows_bot_rating_and_interval_without_scrolling(site: Site, page: Page) -> None:
    page.set_viewport_size(PHONE)
    page.goto(f"/ladders/{LADDER}/")
    row = page.locator("tbody tr:has(.bot)").first
    for part in (".rank", ".bot", ".rating", ".bar.interval"):
        expect(row.locator(part)).to_be_in_viewport(ratio=1)
    assert row.evaluate(HIDDEN_PIXELS) <= 1
    for part in (".bar.recent", ".bar.results"):
        expect(row.locator(part)).to_be_hidden()
    page.set_viewport_size(DESK)
    expect(row.locator(".bar.results")).to_be_visible()


def test_the_navigation_is_a_menu_on_a_phone_without_scripts(site: Site, unscripted: Page) -> None:
    page = unscripted
    page.goto("/about/")
    watch = page.get_by_role("navigation", name="Main").get_by_role("link", name="Watch")
    expect(watch).to_be_hidden()
    page.get_by_role("button", name="Menu").click()
    assert fits(page)
    watch.click()
    expect(page).to_have_url(re.compile("/tv/$"))


def test_the_navigation_is_in_one_line_on_a_desk(site: Site, page: Page) -> None:
    page.goto("/about/")
    expect(page.get_by_role("button", name="Menu")).to_be_hidden()
    links = page.get_by_role("navigation", name="Main").get_by_role("link")
    expect(links).to_have_count(8)
    assert len({box_of(link)["y"] for link in links.all()}) == 1
