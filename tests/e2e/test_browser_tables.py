"""Tables and boards in narrow windows of a browser; links, sizes and files of tables."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from engines.records import Fault, RecordOutcome, Termination
from engines.rules.base import Result
from engines.rules.registry import GAMES
from tests.e2e.pages import DESK, PHONE, box_of, fits, log_in
from tests.support.browsers import wait_in
from tests.support.filled_site import LADDER, Site, add_version, decide_games, go_live, round_robin, set_done
from tests.support.rated_games import play_rated
from tests.support.schedule import make_event, make_test
from tournament.models import CountedPair, Game, LadderRating, PairOutcome, PairScore, Tournament, VersionTest
from tournament.services.schedule.tournaments import start

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


@pytest.mark.parametrize("width", [320, 390])
def test_no_page_scrolls_sideways_for_a_name_of_40_letters_without_a_space(
    site: Site, page: Page, width: int
) -> None:
    first, second = (add_version(site.owner, letter * 40) for letter in "Wm")
    play_rated(site.owner, "T" * 40, [first, second, site.black], ladders=[LADDER, "dualma"])
    running = round_robin(site.owner, "R" * 40, [first, second], ladders=list(GAMES))
    start(running)
    for game in running.games.order_by("pk"):
        go_live(game, plies=12)
    log_in(page, "olga")
    page.set_viewport_size({"width": width, "height": 844})
    played = Game.objects.filter(tournament__name="T" * 40).earliest("pk")
    against = f"{first.bot.get_absolute_url()}against/{second.bot.slug}/"
    bot_pages = (first.bot.get_absolute_url(), first.get_absolute_url(), against)
    events = (played.tournament.get_absolute_url(), running.get_absolute_url())
    games = (played.get_absolute_url(), site.live.get_absolute_url(), f"/tv/{LADDER}/", "/tv/dualma/")
    lists = "/ /bots/ /ladders/ /ladders/overall/ /tournaments/ /games/ /games/?boards=on /tv/ /queue/ /play/"
    others = f"/ladders/{LADDER}/ /people/olga/ /account/ /analyse/{LADDER}/ /explore/{LADDER}/ /start/"
    for address in (*lists.split(), *others.split(), *bot_pages, *events, *games):
        answer = page.goto(address)
        assert answer is not None
        assert answer.ok, address
        assert fits(page), address


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


WITH_FILES = """
/ladders/overall/ /bots/ /bots/greedy/ /bots/greedy/against/stone-age/ /people/olga/
/tournaments/ /tournaments/open/ /version-tests/
"""
SMALLEST = 24
"""Pixels of a link that a finger can touch."""


@pytest.fixture
def games(site: Site) -> list[Game]:
    for table in (LadderRating, PairScore, PairOutcome):
        table.objects.all().delete()
    Game.objects.filter(pk=site.played.pk).update(rated=False)
    return play_rated(None, "Autumn", [site.white, site.black, add_version(None, "Greedy")])


@pytest.fixture
def tested(site: Site) -> Tournament:
    """A version test with three counted pairs."""
    tested = make_test(
        site.owner, candidate=add_version(site.owner, "Stone Age"), baseline=site.white, ladder=LADDER
    )
    numbers = tested.pairings.order_by("round").values_list("round", flat=True)[:3]
    won = RecordOutcome(Result.WHITE_WINS, Termination.RULES, Fault.NONE)
    for game in tested.games.filter(pairing__round__in=list(numbers)):
        set_done(game, won, 20)
    test = tested.version_test
    CountedPair.objects.bulk_create(
        CountedPair(test=test, number=number, half_points=2, ratio=0.1) for number in numbers
    )
    VersionTest.objects.update(counts=[0, 0, 3, 0, 0], looked_at=max(numbers), wins=3, losses=3)
    Tournament.objects.filter(pk=tested.pk).update(games_done=6)
    return tested


@pytest.mark.thorough
def test_files_of_tables_can_be_opened_on_phones_and_without_scripts(
    games: list[Game], site: Site, tested: Tournament, unscripted: Page
) -> None:
    LadderRating.objects.update(games=100)  # settled, so that there is a table over all ladders
    bots = [add_version(site.owner, f"Bot {number}") for number in range(4)]
    decide_games(make_event("swiss", versions=bots, ladders=[LADDER], name="Open"))
    for address in (*WITH_FILES.split(), tested.get_absolute_url()):
        unscripted.goto(address)
        links = unscripted.locator(".files a")
        assert links.count() in {2, 4, 6}, address
        for number in range(links.count()):
            box = box_of(links.nth(number))
            assert min(box["width"], box["height"]) >= SMALLEST, address
            file = unscripted.request.get(links.nth(number).get_attribute("href") or "")
            assert file.status == 200
            assert re.match("text/csv|application/json", file.headers["content-type"])


@pytest.mark.parametrize(("ending", "found"), [("no move left", True), ("time", False)])
def test_an_ending_is_chosen_by_its_word(site: Site, unscripted: Page, ending: str, found: bool) -> None:
    Game.objects.filter(pk=site.played.pk).update(reason="no-move")
    unscripted.goto("/games/")
    unscripted.get_by_text("More filters").click()
    unscripted.get_by_label("Ending").select_option(label=ending)
    unscripted.get_by_role("button", name="Show", exact=True).click()
    expect(unscripted.locator("tbody tr")).to_have_count(1 if found else 0)
    if found:
        expect(unscripted.locator("tbody tr")).to_contain_text("no move left")
    expect(unscripted.locator("body")).not_to_contain_text("no-move")
