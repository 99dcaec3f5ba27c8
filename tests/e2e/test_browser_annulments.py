"""Annulling games in a real browser."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from django.utils import timezone
from playwright.sync_api import Page, expect

from tests.e2e.log_ins import log_in
from tests.support.browsers import wait_in
from tests.support.filled_site import Site
from tests.support.rated_games import play_rated
from tournament.models import Game, WorkerName
from tournament.services.annulments import annul

REASON = "The worker's clock was wrong by an hour."


@pytest.fixture
def games(site: Site) -> list[Game]:
    played = play_rated(site.owner, "Autumn", [site.white, site.black], pairs=3)
    worker = WorkerName.objects.create(name="players@east")
    Game.objects.filter(pk__in=[game.pk for game in played]).update(played_by=worker)
    return played


def test_staff_annuls_the_games_of_a_worker_after_a_preview(
    games: list[Game], site: Site, page: Page
) -> None:
    log_in(page, "stan")
    page.goto("/workers/")
    page.click("text=Annul a worker's games")
    page.select_option("#id_worker", label="players@east")
    page.fill("#id_since", "2020-01-01T00:00")
    page.fill("#id_reason", REASON)
    page.click("text=Preview")
    expect(page.locator("form .message")).to_contain_text("6 games will be annulled")
    keep(page, "preview")
    page.click("text=Annul 6 games")
    expect(page.locator("main")).to_contain_text("6 games annulled.")
    page.goto("/games/?annulled=yes")
    expect(page.locator("table.games .tag", has_text="annulled")).to_have_count(6)
    keep(page, "list")
    page.goto("/tournaments/autumn/")
    expect(page.locator("main")).to_contain_text("6 games of this tournament are annulled")
    keep(page, "tournament")


def test_a_visitor_reads_why_a_game_is_annulled(games: list[Game], page: Page) -> None:
    annul(Game.objects.filter(pk=games[0].pk), REASON, timezone.now())
    page.goto(games[0].get_absolute_url())
    expect(page.locator("main")).to_contain_text(f"counts in no rating and no table. Reason: {REASON}")
    expect(page.locator("#headline")).to_contain_text("The game is annulled.")
    expect(page.locator("main")).to_contain_text("are being computed again")
    page.set_viewport_size({"width": 390, "height": 844})
    wait_in(page, "document.documentElement.scrollWidth <= 390")
    page.set_viewport_size({"width": 1280, "height": 900})
    keep(page, "game")
    page.goto("/ladders/dogon-kulei/")
    keep(page, "ladder")


def keep(page: Page, name: str) -> None:
    """Store pictures of the page, wide and on a phone, light and dark, if ``PICTURES`` names a folder."""
    folder = os.environ.get("PICTURES")
    if not folder:
        return
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        for width in (1280, 390):
            page.set_viewport_size({"width": width, "height": 900})
            page.screenshot(path=Path(folder, f"{name}-{scheme}-{width}.png"))
    page.emulate_media(color_scheme="light")
    page.set_viewport_size({"width": 1280, "height": 900})
