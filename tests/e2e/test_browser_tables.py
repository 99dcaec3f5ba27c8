"""Numbers and files of tables in a browser: links to games, their size on phones, files without scripts."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect
from pytest_django.live_server_helper import LiveServer

from tests.support.filled_site import LADDER, Site, add_version, decide_games
from tests.support.rated_games import play_rated
from tests.support.schedule import make_event, make_test
from tournament.models import CountedPair, Game, LadderRating, PairOutcome, PairScore, Tournament, VersionTest

SMALLEST = 24
"""Pixels of a link that a finger can touch."""
SMALL = """links => links.map(link => [link, link.getBoundingClientRect()])
  .filter(([link, box]) => box.width && (box.width < 24 || box.height < 24))
  .map(([link, box]) => `${link.textContent.trim()}: ${box.width}x${box.height}`)"""


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
    for sequence, game in enumerate(tested.games.filter(pairing__round__in=list(numbers)), start=100):
        Game.objects.filter(pk=game.pk).update(
            state=Game.State.DONE, result="1-0", termination="rules", sequence=sequence
        )
    test = tested.version_test
    CountedPair.objects.bulk_create(
        CountedPair(test=test, number=number, half_points=2, ratio=0.1) for number in numbers
    )
    VersionTest.objects.update(counts=[0, 0, 3, 0, 0], looked_at=max(numbers), wins=3, losses=3)
    Tournament.objects.filter(pk=tested.pk).update(games_done=6)
    return tested


@pytest.fixture
def unscripted(browser: Browser, live_server: LiveServer) -> Iterator[Page]:
    context = browser.new_context(
        base_url=live_server.url, java_script_enabled=False, viewport={"width": 390, "height": 844}
    )
    yield context.new_page()
    context.close()


@pytest.mark.thorough
def test_files_of_tables_can_be_opened_on_phones_and_without_scripts(
    games: list[Game], site: Site, tested: Tournament, unscripted: Page
) -> None:
    LadderRating.objects.update(games=100)  # settled, so that there is a table over all ladders
    bots = [add_version(site.owner, f"Bot {number}") for number in range(4)]
    decide_games(make_event(Tournament.Kind.SWISS, versions=bots, ladders=[LADDER], name="Open"))
    for address in (
        "/ladders/overall/",
        "/bots/",
        "/bots/greedy/",
        "/bots/greedy/against/stone-age/",
        "/people/olga/",
        "/tournaments/",
        "/tournaments/open/",
        "/version-tests/",
        tested.get_absolute_url(),
    ):
        unscripted.goto(address)
        links = unscripted.locator(".files a")
        assert links.count() in {2, 4, 6}, address
        for number in range(links.count()):
            box = links.nth(number).bounding_box()
            assert box is not None
            assert min(box["width"], box["height"]) >= SMALLEST, address
            file = unscripted.request.get(links.nth(number).get_attribute("href") or "")
            assert file.status == 200
            assert re.match("text/csv|application/json", file.headers["content-type"])


@pytest.mark.parametrize(("ending", "found"), [("no move left", True), ("time", False)])
def test_an_ending_is_chosen_by_its_word(site: Site, unscripted: Page, ending: str, found: bool) -> None:
    Game.objects.filter(pk=site.played.pk).update(reason="no-move")
    unscripted.goto("/games/")
    unscripted.get_by_text("Filter and sort").click()
    unscripted.get_by_label("Ending").select_option(label=ending)
    unscripted.get_by_role("button", name="Show", exact=True).click()
    expect(unscripted.locator("tbody tr")).to_have_count(1 if found else 0)
    if found:
        expect(unscripted.locator("tbody tr")).to_contain_text("no move left")
    expect(unscripted.locator("body")).not_to_contain_text("no-move")
