"""Times in a real browser: the visitor's zone is named, and UTC stands beside where there is room."""

from __future__ import annotations

import datetime
import re

import pytest
from playwright.sync_api import expect

from tests.e2e.pages import DESK, PHONE, Visit, fits, log_in
from tests.support.filled_site import Site
from tests.support.schedule import make_event
from tournament.models import Game, Tournament

UTC = datetime.UTC


def finished_at(site: Site, *numbers: int) -> None:
    Game.objects.filter(pk=site.played.pk).update(finished_at=datetime.datetime(*numbers, tzinfo=UTC))  # type: ignore[arg-type,misc]


@pytest.mark.parametrize(
    ("zone", "moment", "text"),
    [
        ("Europe/Berlin", (2021, 1, 15, 22, 30, 5), "15 Jan 2021 23:30:05 CET (22:30:05 UTC)"),
        ("Europe/Berlin", (2021, 7, 15, 22, 30, 5), "16 Jul 2021 00:30:05 CEST (15 Jul 22:30:05 UTC)"),
        ("Europe/Berlin", (2021, 3, 28, 2, 30, 0), "28 Mar 2021 04:30:00 CEST (02:30:00 UTC)"),
        ("Asia/Kolkata", (2021, 1, 1, 1, 0, 0), "1 Jan 2021 06:30:00 UTC+5:30 (01:00:00 UTC)"),
        ("America/New_York", (2021, 1, 1, 1, 0, 0), "31 Dec 2020 20:00:00 UTC-5 (1 Jan 01:00:00 UTC)"),
        ("UTC", (2021, 1, 15, 22, 30, 5), "15 Jan 2021 22:30:05 UTC"),
    ],
)
def test_a_fact_shows_the_local_time_with_its_zone_and_utc_beside_it(
    site: Site, visit: Visit, zone: str, moment: tuple[int, ...], text: str
) -> None:
    finished_at(site, *moment)
    page = visit(timezone_id=zone)
    page.goto(f"/games/{site.played.pk}/")
    expect(page.locator(".facts time")).to_have_text(text)


def test_a_list_names_the_zone_in_its_heading_and_at_the_foot_of_the_page(site: Site, visit: Visit) -> None:
    finished_at(site, 2021, 1, 15, 22, 30)
    page = visit(timezone_id="America/Argentina/Buenos_Aires", viewport=DESK)
    page.goto("/games/")
    time = page.locator(".games time")
    expect(time).to_have_text("15 Jan 2021 19:30")
    expect(time).to_have_attribute("title", re.compile("^15 Jan 2021 22:30 UTC; shown in your time zone"))
    expect(page.locator(".games th").last).to_have_text("Played Buenos Aires time")
    expect(page.locator(".foot")).to_contain_text("Times: Buenos Aires time, UTC-3")
    page.set_viewport_size(PHONE)
    expect(page.locator(".foot")).to_contain_text("Times: Buenos Aires time, UTC-3")
    page.goto("/bots/stone-age/")
    expect(page.locator("time[data-form=day]").first).not_to_contain_text(":")


def test_a_visitor_whose_clock_shows_utc_is_told_so(site: Site, visit: Visit) -> None:
    page = visit(timezone_id="UTC")
    page.goto("/games/")
    expect(page.locator(".games time")).to_contain_text("UTC")


def test_without_javascript_times_are_utc(site: Site, visit: Visit) -> None:
    finished_at(site, 2021, 1, 15, 22, 30)
    page = visit(timezone_id="Asia/Tokyo", java_script_enabled=False)
    page.goto("/games/")
    expect(page.locator(".games time")).to_have_text("15 Jan 2021 22:30 UTC")
    expect(page.locator(".foot")).to_contain_text("Times: UTC")


def test_the_start_of_an_announced_tournament_is_local_with_utc(site: Site, visit: Visit) -> None:
    event = make_event("round-robin", owner=site.owner, running=False, name="Autumn")
    starts = datetime.datetime(2031, 6, 1, 18, 0, tzinfo=UTC)
    Tournament.objects.filter(pk=event.pk).update(
        state=Tournament.State.ANNOUNCED, starts_at=starts, entry_until=starts - datetime.timedelta(hours=2)
    )
    page = visit(timezone_id="Asia/Tokyo", viewport=PHONE)
    page.goto(event.get_absolute_url())
    times = page.locator("[aria-labelledby=entry] time")
    expect(times).to_have_text(
        ["2 Jun 2031 01:00 UTC+9 (1 Jun 16:00 UTC)", "2 Jun 2031 03:00 UTC+9 (1 Jun 18:00 UTC)"]
    )
    assert fits(page)


def test_a_field_of_a_form_takes_the_local_time_and_sends_utc(site: Site, visit: Visit) -> None:
    page = visit(timezone_id="Asia/Tokyo")
    log_in(page, "olga")
    page.goto(f"/tournaments/{site.draft.slug}/change/")
    field = page.get_by_label("Starts (Tokyo time)")
    field.fill("2031-06-02T03:00")
    shown = page.locator(".field:has(#id_starts_at) output")
    expect(shown).to_have_text("1 Jun 2031 18:00 UTC")
    page.get_by_role("button", name="Save the changes").click()
    expect(page.locator(".message")).to_have_text("The tournament is changed.")
    draft = Tournament.objects.get(pk=site.draft.pk)
    assert draft.starts_at == datetime.datetime(2031, 6, 1, 18, 0, tzinfo=UTC)
    page.goto(f"/tournaments/{site.draft.slug}/change/")
    expect(field).to_have_value("2031-06-02T03:00")
    field.fill("")
    expect(shown).to_have_text("")
    page.get_by_role("button", name="Save the changes").click()
    expect(page.locator(".message")).to_have_text("The tournament is changed.")
    draft.refresh_from_db()
    assert draft.starts_at is None


def test_without_javascript_a_field_of_a_form_takes_utc(site: Site, visit: Visit) -> None:
    page = visit(timezone_id="Asia/Tokyo", java_script_enabled=False)
    log_in(page, "stan")
    page.goto("/staff/annul/")
    expect(page.get_by_label("That ended from (UTC)")).to_have_attribute("name", "since")
