"""Version tests in a real browser: started by its form, followed live, stopped by its button."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from engines.rules.base import Result
from tests.e2e.pages import box_of, log_in
from tests.support.filled_site import LADDER, Site, add_version
from tests.support.schedule import make_test, make_workers, play_short, record_all, take_all
from tournament.models import Tournament, VersionTest
from tournament.services.version_tests.progress import tend_tests
from workers.jobs import GameJob, JobGame


def candidate_leads(job: GameJob, game: JobGame) -> Result:
    return Result.WHITE_WINS if game.white == 0 else Result.DRAW


def play(rounds: int) -> None:
    """Record what free slots take, so many times."""
    make_workers()
    for _ in range(rounds):
        for job in (job for batch in take_all() for job in batch.jobs):
            record_all(list(play_short(job, candidate_leads)))
        tend_tests()


def start(site: Site) -> Tournament:
    Tournament.objects.filter(pk=site.running.pk).update(state=Tournament.State.PAUSED)
    newer = add_version(site.owner, "Stone Age")
    return make_test(site.owner, candidate=newer, baseline=site.white, ladder=LADDER, elo1=60.0)


def test_an_owner_starts_a_test_from_the_page_of_a_bot_and_stops_it(site: Site, page: Page) -> None:
    add_version(site.owner, "Stone Age")
    log_in(page, "olga")
    page.goto("/bots/stone-age/")
    page.click("text=Test a version")
    expect(page.locator("#id_elo1")).to_be_hidden()
    page.select_option("#id_bounds", "own")
    page.fill("#id_elo0", "-5")
    page.fill("#id_elo1", "15")
    page.click("text=Start the test")
    expect(page.locator("h1")).to_have_text("Stone Age v2 against v1")
    expect(page.locator(".ends")).to_contain_text("accepts H1: 15 Elo")
    page.click("text=Stop the test")
    page.click("text=Yes, stop it")
    expect(page.locator(".message")).to_have_text("The test is stopped. The recorded games are kept.")
    expect(page.locator("#live")).to_contain_text("Stopped without a verdict: its owner stopped it.")
    expect(page.locator("text=Stop the test")).to_have_count(0)
    page.goto("/account/")
    expect(page.get_by_role("region", name="Version tests")).to_contain_text("stopped")


@pytest.mark.thorough
def test_the_page_follows_a_test_to_its_verdict(site: Site, page: Page) -> None:
    test = start(site)
    page.goto(test.get_absolute_url())
    expect(page.locator("#live")).to_have_attribute("data-counted", "0")
    expect(page.locator("#ratios")).to_be_hidden()
    play(1)
    expect(page.locator("#live")).not_to_have_attribute("data-counted", "0", timeout=20_000)
    expect(page.locator("#ratios .u-over")).to_be_visible()
    box = box_of(page.locator("#ratios .u-over"))
    page.locator("#ratios .u-over").hover(position={"x": box["width"] - 2, "y": box["height"] / 2})
    expect(page.locator("#ratios [data-readout]")).to_contain_text("After ")
    while Tournament.objects.get(pk=test.pk).state == Tournament.State.RUNNING:
        play(1)
    expect(page.locator("#live")).to_contain_text("H1 is accepted", timeout=20_000)
    expect(page.locator("#verdict .tag")).to_have_text("Yes")
    expect(page.locator("#live")).not_to_have_attribute("data-follow", re.compile("."))


def test_a_page_without_javascript_has_all_numbers(site: Site, unscripted: Page) -> None:
    test, page = start(site), unscripted
    play(2)
    page.goto(test.get_absolute_url())
    expect(page.locator("#ratio b")).to_have_text(f"{VersionTest.objects.get().ratio:.2f}")
    expect(page.locator("#live")).to_contain_text("won")
    expect(page.locator("#ratios")).to_be_hidden()
