"""Numbers and files of tables in a browser: links to games, their size on phones, files without scripts."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from engines.records import Fault, RecordOutcome, Termination
from engines.rules.base import Result
from tests.e2e.pages import box_of
from tests.support.filled_site import LADDER, Site, add_version, decide_games, set_done
from tests.support.rated_games import play_rated
from tests.support.schedule import make_event, make_test
from tournament.models import CountedPair, Game, LadderRating, PairOutcome, PairScore, Tournament, VersionTest

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
    decide_games(make_event(Tournament.Kind.SWISS, versions=bots, ladders=[LADDER], name="Open"))
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
    unscripted.get_by_text("Filter and sort").click()
    unscripted.get_by_label("Ending").select_option(label=ending)
    unscripted.get_by_role("button", name="Show", exact=True).click()
    expect(unscripted.locator("tbody tr")).to_have_count(1 if found else 0)
    if found:
        expect(unscripted.locator("tbody tr")).to_contain_text("no move left")
    expect(unscripted.locator("body")).not_to_contain_text("no-move")
