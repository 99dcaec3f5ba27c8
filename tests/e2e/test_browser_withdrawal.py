"""Withdrawing a version, and the progress of a large schedule, in a real browser."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.log_ins import log_in
from tests.support.filled_site import LADDER, Site, add_version, round_robin
from tournament.models import BotVersion, Game
from tournament.services.calendar import tend
from tournament.services.schedule import pairings, tournaments

PICTURES = os.environ.get("DUARENA_PICTURES", "")
"""A folder for pictures of the pages; empty for none."""


def photograph(page: Page, name: str) -> None:
    if not PICTURES:
        return
    for scheme in ("light", "dark"):
        for width in (1280, 390):
            page.emulate_media(color_scheme=scheme)
            page.set_viewport_size({"width": width, "height": 900})
            page.screenshot(path=Path(PICTURES) / f"{name}-{width}-{scheme}.png", full_page=True)
    page.emulate_media(color_scheme="light")
    page.set_viewport_size({"width": 1280, "height": 900})


def test_an_owner_withdraws_a_version(site: Site, page: Page) -> None:
    Game.objects.filter(pk=site.live.pk).update(state=Game.State.WAITING, attempt=None)
    log_in(page, "olga")
    page.goto("/bots/stone-age/1/")
    button = page.get_by_role("button", name="Withdraw it")
    expect(button).to_be_hidden()
    page.get_by_text("Withdraw this version").click()
    photograph(page, "withdraw")
    button.click()
    expect(page.get_by_text("The version is withdrawn. Its games are stopped.")).to_be_visible()
    expect(button).to_have_count(0)
    photograph(page, "withdrawn")
    tend()
    page.goto("/tournaments/spring/")
    expect(page.locator(".live .tag")).to_have_text("finished")
    expect(
        page.get_by_title("White: it is withdrawn").or_(page.get_by_title("Black: it is withdrawn"))
    ).to_have_count(1)
    photograph(page, "tournament-of-withdrawn")


def test_an_owner_stops_a_validation(site: Site, page: Page) -> None:
    add_version(site.owner, "Stone Age", state=BotVersion.State.WAITING)
    log_in(page, "olga")
    page.goto("/bots/stone-age/2/")
    photograph(page, "validation")
    page.get_by_role("button", name="Stop the validation").click()
    expect(page.get_by_text("The validation is stopped, and the version refused.")).to_be_visible()


def test_the_page_follows_the_making_of_a_large_schedule(
    site: Site, page: Page, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pairings, "PAIRINGS_AT_ONCE", 2)
    monkeypatch.setattr(tournaments, "GAMES_AT_ONCE", 4)
    large = round_robin(site.owner, "Large", [site.white, site.black], 5, [LADDER])
    tournaments.start(large)
    page.goto(large.get_absolute_url())
    expect(page.get_by_text("6 games of the schedule still to be made")).to_be_visible()
    photograph(page, "large")
    while tend():
        pass
    expect(page.get_by_text("still to be made")).to_have_count(0)
    expect(page.get_by_text("0 of 10 games")).to_be_visible()
