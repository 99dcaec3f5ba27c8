"""Tournament pages in a browser: wide tables, a gauntlet, the choice of bots, and pages without scripts."""

from __future__ import annotations

import re
from typing import Any, Final, Literal

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.pages import box_of, fits, log_in, violations
from tests.support.filled_site import LADDER, Site, add_version, decide_games
from tests.support.schedule import make_event
from tournament.models import Bot, BotVersion, LadderRating

Bots = list[BotVersion]
SCHEMES: Final[tuple[Literal["light", "dark"], ...]] = ("light", "dark")


@pytest.fixture
def bots(site: Site) -> Bots:
    return [add_version(site.owner, f"The bot with the longest name {number}") for number in range(1, 9)]


@pytest.mark.parametrize("width", [390, 800, 1280])
def test_the_first_column_of_a_wide_table_stays_and_covers_what_scrolls_under_it(
    site: Site, page: Page, width: int
) -> None:
    bots = [add_version(None, f"The bot with the longest name {number}") for number in range(1, 31)]
    make_event("round-robin", versions=bots, ladders=[LADDER], name="Wide")
    page.set_viewport_size({"width": width, "height": 900})
    page.goto("/tournaments/wide/")
    box, name = page.locator(".tablebox:has(.cross)"), page.locator(".cross tbody th").first
    before = box_of(name)
    box.focus()
    page.keyboard.press("ArrowRight")
    expect(box).not_to_have_js_property("scrollLeft", 0)
    box.evaluate("box => box.scrollTo(box.scrollWidth, 0)")
    expect(page.locator(".cross tbody td:last-child").first).to_be_in_viewport(ratio=1)
    after = box_of(name)
    assert abs(before["x"] - after["x"]) < 20
    on_top = "(cell, [x, y]) => cell.contains(document.elementFromPoint(x, y))"
    edge, middle = box.evaluate("box => box.getBoundingClientRect().left"), after["y"] + after["height"] / 2
    for x in (edge + 1, after["x"] + after["width"] - 4):  # nothing shows to its left either
        assert name.evaluate(on_top, [x, middle])
    for scheme in SCHEMES:
        page.emulate_media(color_scheme=scheme)
        opaque = name.evaluate("cell => getComputedStyle(cell).backgroundColor")
        assert re.fullmatch(r"rgb\(.*\)", opaque), scheme  # a transparent one is rgba(...)
        assert "gradient" in box.evaluate("box => getComputedStyle(box).backgroundImage"), scheme
    assert fits(page)


def test_the_challenger_s_row_leads_to_its_games_against_an_opponent(bots: Bots, page: Page) -> None:
    decide_games(make_event("gauntlet", versions=bots[:5], ladders=[LADDER], name="Duel"))
    page.goto("/tournaments/duel/")
    expect(page.locator(".winners")).to_contain_text("Challenger: The bot with the longest name 1")
    challenger = page.get_by_role("region", name="Challenger of", exact=False).first
    expect(challenger.locator("tbody tr")).to_have_count(1)
    expect(challenger.locator("tbody")).to_contain_text("8 of 8")
    expect(page.get_by_role("region", name="Opponents of").locator("tbody tr")).to_have_count(4)
    challenger.locator("tbody td > a").first.click()
    expect(page).to_have_url(re.compile("/games/.*opponent="))
    expect(page.locator("tbody tr")).to_have_count(2)


def test_all_bots_or_none_are_selected_with_the_keyboard(bots: Bots, site: Site, page: Page) -> None:
    log_in(page, "olga")
    page.goto("/tournaments/new/")
    page.fill("#id_name", "Everybody")
    boxes = page.locator("input[name=bots]")
    everyone = page.get_by_role("button", name="Select all")
    everyone.focus()
    page.keyboard.press("Enter")
    count = boxes.count()
    expect(page.locator("input[name=bots]:checked")).to_have_count(count)
    expect(page.get_by_text(f"{count} of {count} selected")).to_be_visible()
    expect(page.locator(".estimate")).to_contain_text("games")
    page.keyboard.press("Tab")
    page.keyboard.press("Space")
    expect(page.locator("input[name=bots]:checked")).to_have_count(0)
    expect(page.locator(".estimate")).to_contain_text("Once the form is complete")
    boxes.first.check()
    expect(page.get_by_text(f"1 of {count} selected")).to_be_visible()


def test_own_bots_and_the_best_on_the_selected_ladders_are_added_to_the_choice(
    bots: Bots, site: Site, page: Page
) -> None:
    for place, bot in enumerate(bots):
        for ladder, rating in ((LADDER, 10 + place), ("dualma", 30 - place)):
            LadderRating.objects.create(
                version=bot, ladder_id=ladder, mu=50, sigma=1, conservative=rating, games=1, wins=1
            )
    Bot.objects.exclude(pk=site.white.bot_id).update(owner=site.rival)
    log_in(page, "olga")
    page.goto("/tournaments/new/")
    page.uncheck("input[name=ladders][value=dualma]")
    page.get_by_role("button", name="Mine").click()
    page.get_by_role("button", name="Best five").click()
    chosen = page.locator(".choices li:has(input[name=bots]:checked)")
    expect(chosen).to_have_count(6)
    for name in ("Stone Age", *(f"longest name {number}" for number in range(4, 9))):
        expect(chosen.filter(has_text=name)).to_have_count(1)
    search = page.get_by_label("Find a bot or an owner")
    search.fill("name 1")
    page.get_by_role("button", name="Select none").click()  # those that the search shows
    search.fill("")
    page.get_by_text("Create the draft").click()
    expect(page.locator(".error").first).to_be_visible()  # the name is missing
    expect(chosen).to_have_count(6)


def test_lists_tables_and_replays_work_without_scripts(bots: Bots, site: Site, unscripted: Page) -> None:
    decide_games(make_event("swiss", versions=bots[:6], ladders=[LADDER], name="Open"))
    page = unscripted
    page.goto("/")
    expect(page.locator("#playing .featured svg.board")).to_be_visible()
    page.get_by_role("button", name="Menu").click()
    page.get_by_role("link", name="Tournaments", exact=True).click()
    page.get_by_role("link", name="Open", exact=True).click()
    expect(page.locator(".winners")).to_contain_text("Champion")
    rounds = page.locator(".bracket h3")
    expect(rounds).to_have_text([f"Round {number}" for number in range(rounds.count(), 0, -1)])
    page.select_option("select[name=result]", "white")
    page.click(".filters button")
    expect(page).to_have_url(re.compile("result=white"))
    assert page.locator("#games tbody tr").count() > 0
    page.goto("/games/")
    page.fill("#id_bot", "stone-age")
    page.click(".search button.main")
    expect(page.locator("tbody tr")).to_have_count(1)
    page.locator("tbody tr a", has_text=str(site.played.result)).click()
    expect(page.locator("h1")).to_contain_text("Stone Age")
    page.click('[data-step="first"]')
    expect(page.locator("#board")).to_have_attribute("data-ply", "0")
    page.click('#moves [href="?ply=3"]')
    expect(page.locator("#board")).to_have_attribute("data-ply", "3")
    page.click('[data-step="next"]')
    expect(page.locator("#board")).to_have_attribute("data-ply", "4")


def test_forms_work_without_scripts(bots: Bots, site: Site, unscripted: Page) -> None:
    page = unscripted
    log_in(page, "olga")
    page.goto("/tournaments/new/")
    expect(page.get_by_role("button", name="Select all")).to_have_count(0)
    page.fill("#id_name", "By hand")
    page.click("text=Create the draft")
    expect(page.locator(".error").first).to_contain_text("Choose at least two bots.")
    for box in page.locator("input[name=bots]").all()[:3]:
        box.check()
    page.click("text=Create the draft")
    expect(page.locator("h1")).to_have_text("By hand")
    page.get_by_role("button", name="Start").click()
    expect(page.locator(".message")).to_contain_text("started")
    page.goto("/bots/stone-age/")
    page.locator("form button").last.click()
    expect(page.locator("h1")).to_contain_text("Stone Age")


def test_back_does_not_offer_to_start_a_started_tournament(bots: Bots, site: Site, page: Page) -> None:
    log_in(page, "olga")
    page.goto("/tournaments/new/")
    page.fill("#id_name", "Once")
    for box in page.locator("input[name=bots]").all()[:2]:
        box.check()
    page.click("text=Create the draft")
    page.get_by_role("button", name="Start").click()
    expect(page).to_have_url(re.compile("/tournaments/once/"))
    page.go_back()
    expect(page).to_have_url(re.compile("/tournaments/once/"))
    expect(page.get_by_role("button", name="Pause")).to_be_visible()
    expect(page.get_by_role("button", name="Start")).to_have_count(0)


def test_an_organizer_without_scripts_is_asked_before_a_tournament_is_cancelled_and_continues_it(
    site: Site, unscripted: Page
) -> None:
    page = unscripted
    log_in(page, "olga")
    page.goto("/tournaments/spring/")
    cancel = page.get_by_role("button", name="Yes, cancel it")
    expect(cancel).to_be_hidden()
    page.get_by_text("Cancel the tournament").click()
    expect(page.get_by_text("For 24 hours you can continue it.")).to_be_visible()
    cancel.click()
    expect(page.locator("#live .tag.cancelled")).to_be_visible()
    page.get_by_role("button", name="Continue it").click()
    expect(page.locator(".message")).to_have_text("The tournament continues.")
    expect(page.locator("#live .tag.running")).to_be_visible()


def test_an_event_is_copied_and_a_missing_bot_is_linked_from_the_top_of_the_form(
    bots: Bots, site: Site, page: Page
) -> None:
    terms: dict[str, Any] = {"time_control": "5+0.1", "opening_plies": 4}  # those of the ladder
    cup = make_event("swiss", versions=bots[:4], ladders=[LADDER], name="Cup", rounds=3, **terms)
    log_in(page, "olga")
    page.goto(cup.get_absolute_url())
    expect(page.locator("#live .live")).to_contain_text("Round 1 of 3.")
    expect(page.locator("#live .live")).to_contain_text("0 of 12 games")
    page.get_by_role("link", name="Same again").click()
    expect(page.locator("#id_name")).to_have_value("Cup")
    page.get_by_role("button", name="Select none").click()
    page.get_by_role("button", name="Create the draft").click()
    summary = page.locator(".message.error ul")
    expect(summary).to_contain_text("Bots: Choose at least two bots.")
    summary.get_by_role("link", name="Bots").click()
    expect(page.locator("fieldset#id_bots")).to_be_in_viewport()
    assert violations(page) == []
    page.get_by_role("button", name="Best five").click()
    page.get_by_role("button", name="Select all").click()
    expect(page.locator(".estimate")).to_contain_text("Rated: yes, but not where both bots have one owner.")
    page.get_by_role("button", name="Create the draft").click()
    expect(page.locator("h1")).to_have_text("Cup")
