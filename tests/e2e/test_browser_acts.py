"""Acts of staff and owners in a browser: annulments, a withdrawal, a stop, the start of a large schedule."""

from __future__ import annotations

import pytest
from django.utils import timezone
from playwright.sync_api import Page, expect

from tests.e2e.pages import PHONE, fits, log_in
from tests.support.filled_site import LADDER, Site, add_version, round_robin
from tests.support.rated_games import play_rated
from tournament.models import BotVersion, Game, WorkerName
from tournament.services.annulments import annul
from tournament.services.calendar import tend
from tournament.services.schedule import pairings, tournaments

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
    page.click("text=Annul 6 games")
    expect(page.locator("main")).to_contain_text("6 games annulled.")
    page.goto("/games/?annulled=yes")
    expect(page.locator("table.games .tag", has_text="annulled")).to_have_count(6)
    page.goto("/tournaments/autumn/")
    expect(page.locator("main")).to_contain_text("6 games of this tournament are annulled")


def test_a_visitor_reads_why_a_game_is_annulled(games: list[Game], page: Page) -> None:
    annul(Game.objects.filter(pk=games[0].pk), REASON, timezone.now())
    page.goto(games[0].get_absolute_url())
    expect(page.locator("main")).to_contain_text(f"counts in no rating and no table. Reason: {REASON}")
    expect(page.locator("#headline")).to_contain_text("The game is annulled.")
    expect(page.locator("main")).to_contain_text("are being computed again")
    page.set_viewport_size(PHONE)
    assert fits(page)


def test_an_owner_withdraws_a_version(site: Site, page: Page) -> None:
    Game.objects.filter(pk=site.live.pk).update(state=Game.State.WAITING, attempt=None)
    log_in(page, "olga")
    page.goto("/bots/stone-age/1/")
    button = page.get_by_role("button", name="Withdraw it")
    expect(button).to_be_hidden()
    page.get_by_text("Withdraw this version").click()
    button.click()
    expect(page.get_by_text("The version is withdrawn. Its games are stopped.")).to_be_visible()
    expect(button).to_have_count(0)
    tend()
    page.goto("/tournaments/spring/")
    expect(page.locator(".live .tag")).to_have_text("finished")
    expect(
        page.get_by_title("White: it is withdrawn").or_(page.get_by_title("Black: it is withdrawn"))
    ).to_have_count(1)


def test_an_owner_stops_a_validation(site: Site, page: Page) -> None:
    add_version(site.owner, "Stone Age", state=BotVersion.State.WAITING)
    log_in(page, "olga")
    page.goto("/bots/stone-age/2/")
    page.get_by_text("Stop the validation").click()
    page.get_by_role("button", name="Yes, stop it").click()
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
    while tend():
        pass
    expect(page.get_by_text("still to be made")).to_have_count(0)
    expect(page.get_by_text("0 of 10 games")).to_be_visible()
