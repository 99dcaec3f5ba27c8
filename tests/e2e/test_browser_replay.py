"""A replay in a real browser: its turning points, what screen readers are told, two games, a report."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.pages import DESK, PHONE, box_of, fits, log_in
from tests.support.filled_site import Site, finish, record_swings
from tournament.models import LiveGame, Notice


def at(page: Page, ply: int) -> None:
    expect(page.locator("#board")).to_have_attribute("data-ply", str(ply))


@pytest.fixture
def points(site: Site, page: Page) -> list[int]:
    """The plies of the turning points of a game whose page is shown at its start."""
    record_swings(site.played)
    page.goto(f"/games/{site.played.pk}/?ply=0")
    texts = page.locator("#points a").all_inner_texts()
    return [int(text.removeprefix("Ply ")) for text in texts]


def test_keys_jump_between_the_turning_points(points: list[int], page: Page) -> None:
    assert len(points) > 1
    for ply in points:
        page.keyboard.press("n")
        at(page, ply)
        expect(page.locator("#move-list [aria-current]")).to_have_class(re.compile("point"))
    page.keyboard.press("n")
    page.keyboard.press("ArrowRight")  # there is no further one
    at(page, points[-1] + 1)
    page.keyboard.press("p")
    at(page, points[-1])
    page.keyboard.press("p")
    at(page, points[-2])
    page.keyboard.press("?")
    expect(page.locator("#keys")).to_contain_text("the previous and the next turning point")


def test_a_turning_point_of_the_list_leads_to_its_ply(points: list[int], page: Page) -> None:
    page.locator("#points a").last.click()
    at(page, points[-1])
    expect(page.locator("#move-list [aria-current]")).to_have_attribute("data-ply", str(points[-1]))
    assert page.locator("#points [aria-current]").count() == 0


def test_a_screen_reader_is_told_the_last_of_quick_steps_in_short(site: Site, page: Page) -> None:
    page.goto(f"/games/{site.played.pk}/?ply=0")
    page.evaluate("""() => {
      window.told = [];
      const spoken = document.getElementById("spoken");
      new MutationObserver(() => window.told.push(spoken.textContent)).observe(spoken, { childList: true });
    }""")
    for _ in range(3):
        page.keyboard.press("ArrowRight")
    expect(page.locator("#spoken")).to_have_text(re.compile(rf"^Ply 3 of {site.played.plies}\. Last move "))
    told = page.evaluate("window.told")
    assert len(told) < 3
    assert len(told[-1]) < 200


def test_two_games_are_stepped_by_keys_side_by_side_and_on_a_phone_below_each_other(
    site: Site, page: Page
) -> None:
    LiveGame.objects.all().delete()
    finish(site.live, sequence=2)
    page.set_viewport_size(DESK)
    page.goto(f"/games/{site.played.pk}/")
    page.click("text=Both games of the pair")
    expect(page.locator("[data-keys]")).to_be_visible()  # the script has run
    page.keyboard.press("Home")
    at(page, 0)
    page.keyboard.press("ArrowRight")
    expect(page).to_have_url(re.compile(rf"/games/{site.played.pk}/beside/{site.live.pk}/\?ply=1$"))
    boards = page.locator("#board svg.board")
    expect(boards).to_have_count(2)
    one, other = box_of(boards.first), box_of(boards.last)
    assert one["x"] + one["width"] <= other["x"]
    assert one["y"] == other["y"]
    page.set_viewport_size(PHONE)
    one, other = box_of(boards.first), box_of(boards.last)
    assert one["y"] + one["height"] <= other["y"]
    assert fits(page)


def test_a_report_has_the_ply_that_was_shown(site: Site, page: Page) -> None:
    log_in(page, "rita")
    page.goto(f"/games/{site.played.pk}/?ply=0")
    page.keyboard.press("ArrowRight")
    at(page, 1)
    page.click("text=Something is wrong with this game")
    page.fill("textarea", "The clock is wrong.")
    page.click("text=Send to the staff")
    expect(page.locator(".message")).to_have_text("The staff has your report. Thank you.")
    at(page, 1)
    assert "at ply 1: The clock is wrong." in Notice.objects.get(user=site.staff).text
