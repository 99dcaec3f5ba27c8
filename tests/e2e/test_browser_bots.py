"""The pages of bots and people in a real browser: results, comparisons, profiles."""

from __future__ import annotations

import datetime
import re
from itertools import combinations

import pytest
from playwright.sync_api import Page, ViewportSize, expect

from tests.e2e.pages import DESK, PHONE, Visit, box_of
from tests.support.browsers import wait_in
from tests.support.filled_site import LADDER, Site, add_version
from tests.support.rated_games import play_rated
from tournament.models import Game, LadderRating, RatingEvent

LONG = "A bot with the longest name of all bots"
NOON = datetime.datetime(2026, 3, 2, 12, tzinfo=datetime.UTC)
PAGES = ("/bots/stone-age/", "/bots/stone-age/2/", "/bots/stone-age/against/greedy/", "/people/olga/")

RECORD_TEXTS = """
window.texts = [];
const drawing = CanvasRenderingContext2D.prototype, { clearRect, fillText } = drawing;
drawing.clearRect = function (...box) { texts = []; return clearRect.apply(this, box); };
drawing.fillText = function (text, x, y) {
  const { width } = this.measureText(text);
  const left = x - { center: width / 2, right: width, end: width }[this.textAlign] || x;
  texts.push({ text, left, right: left + width, y });
  return fillText.call(this, text, x, y);
};
"""
"""Keeps what is written on a canvas since it was cleared."""


@pytest.fixture(autouse=True)
def games(site: Site) -> list[Game]:
    Game.objects.filter(pk=site.played.pk).update(rated=False)
    LadderRating.objects.all().delete()
    others = [site.black, add_version(None, "Greedy"), add_version(None, LONG)]
    played = play_rated(None, "Autumn", [site.white, *others])
    second = add_version(site.owner, "Stone Age")
    return played + play_rated(site.owner, "Winter", [second, *others], ladders=[LADDER, "dualma"], seed=8)


def follow(page: Page, label: str, number: int) -> None:
    """Click the first number of this column of a table of results, and count the games."""
    cell = page.locator(f".tablebox[aria-label='{label}'] tbody tr:first-child td.num").nth(number)
    count = int(cell.inner_text())
    cell.locator("a").click()
    expect(page).to_have_url(re.compile("/games/"))
    expect(page.locator("tbody tr")).to_have_count(count)
    page.go_back()


def test_ladder_and_version_are_chosen_by_keyboard(site: Site, page: Page) -> None:
    page.goto("/bots/stone-age/")
    page.get_by_label("Ladder of the results").focus()
    page.keyboard.type("DuAlma")
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    expect(page.locator("#results form.choose button").first).to_be_focused()
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(r"/bots/stone-age/\?ladder=dualma#results$"))
    expect(page.locator("#results-title")).to_have_text("Results on DuAlma")
    expect(page.get_by_label("Ladder of the results")).to_have_value("dualma")
    page.goto("/bots/stone-age/?version=1")
    expect(page.locator("#results-title")).to_have_text(re.compile(r"Results on Dogon kulei,\s+version 1"))


def test_a_bot_is_compared_with_one_whose_name_is_typed(site: Site, page: Page) -> None:
    page.goto("/bots/stone-age/")
    page.get_by_label("Compare with").fill("greedy")
    page.keyboard.press("Enter")
    expect(page.locator("h1")).to_have_text(re.compile(r"Stone Age\s+against\s+Greedy"))
    page.get_by_label("Stone Age").select_option("1")
    page.get_by_role("button", name="Show").click()
    expect(page).to_have_url(re.compile(r"/against/greedy/\?version=1$"))
    follow(page, "Results by ladder and colour", 0)
    page.get_by_role("link", name="Change sides").click()
    expect(page).to_have_url(re.compile(r"/bots/greedy/against/stone-age/\?opponent_version=1$"))


def test_a_rating_change_and_the_longest_move_lead_to_their_games(site: Site, page: Page) -> None:
    page.goto(f"/bots/stone-age/?ladder={LADDER}")
    event = RatingEvent.objects.filter(version__bot__slug="stone-age", ladder=LADDER).latest("sequence")
    page.locator(".tablebox[aria-label='Latest rating changes'] tbody a").first.click()
    expect(page).to_have_url(re.compile(f"/games/{event.game_id}/$"))
    expect(page.locator(".facts").first).to_contain_text("rating")
    page.go_back()
    page.get_by_role("link", name="see the move").click()
    expect(page.locator("#board")).to_be_visible()
    assert "?ply=" in page.url


def test_the_history_s_chart_stays_after_another_ladder_and_scheme(site: Site, page: Page) -> None:
    page.goto("/bots/stone-age/")
    expect(page.locator("#history .u-over")).to_be_visible()
    page.get_by_label("Ladder", exact=True).select_option("DuAlma")
    page.emulate_media(color_scheme="dark")
    expect(page.locator("#history .u-over")).to_have_count(1)
    expect(page.locator("#history [data-readout]")).to_contain_text("Click to open the game")


@pytest.mark.parametrize("size", [DESK, PHONE])
@pytest.mark.parametrize("seconds", [0, 2, 40, 600])
def test_no_label_of_a_young_history_is_on_another_and_no_two_times_are_the_same(
    site: Site, visit: Visit, size: ViewportSize, seconds: int
) -> None:
    for name in ("Spring", "Summer"):  # versions 3 and 4 begin at the same time
        version = add_version(site.owner, "Stone Age")
        played = play_rated(None, name, [version, site.black], ladders=["duovallis"])
        for number, game in enumerate(played):
            after = datetime.timedelta(seconds=seconds * number / len(played))
            Game.objects.filter(pk=game.pk).update(finished_at=NOON + after)
    page = visit(viewport=size)
    page.add_init_script(RECORD_TEXTS)
    page.goto("/bots/stone-age/")
    page.get_by_label("Ladder", exact=True).select_option("Duovallis")
    expect(page.locator("#history .u-over")).to_be_visible()
    page.locator("#history").scroll_into_view_if_needed()
    wait_in(page, "['v3', 'v4'].every((name) => texts.some(({ text }) => text === name))")
    texts = page.evaluate("texts")
    times = [one["text"] for one in texts if ":" in one["text"]]
    assert len(times) > 1
    assert len(set(times)) == len(times)
    for one, other in combinations(texts, 2):
        beside = one["right"] <= other["left"] or other["right"] <= one["left"]
        assert beside or abs(one["y"] - other["y"]) >= 10, (one, other)  # digits are 9 high


def test_the_history_draws_and_says_the_published_rating(site: Site, page: Page) -> None:
    page.goto("/bots/stone-age/")
    expect(page.locator("#history .u-over")).to_be_visible()
    expect(page.locator("#history [data-readout]")).to_contain_text("The line is the rating")
    box = box_of(page.locator("#history .u-over"))
    page.mouse.move(box["x"] + box["width"] - 2, box["y"] + 20)
    expect(page.locator("#history [data-readout]")).to_contain_text(re.compile(r"rating \S+, mean \S+ ± "))
    said = page.locator("#history [data-readout]").inner_text()
    rating, mean, wide = (float(number) for number in re.findall(r"-?[0-9]+\.[0-9]{2}", said))
    assert rating == pytest.approx(mean - wide, abs=0.011)


def test_the_pages_fit_a_phone_and_their_links_a_finger(site: Site, page: Page) -> None:
    page.set_viewport_size({"width": 360, "height": 740})
    for address in (*PAGES, "/analyse/"):
        page.goto(address)
        assert page.evaluate("document.documentElement.scrollWidth") <= 360, address
        sizes = page.locator(".counts td.num > a, .choose button, .tasks a").evaluate_all(
            "links => links.map(link => link.getBoundingClientRect()).map(box => [box.width, box.height])"
        )
        assert sizes
        assert all(width >= 24 and height >= 24 for width, height in sizes), (address, sizes)


def test_results_and_comparisons_work_without_scripts(site: Site, unscripted: Page) -> None:
    page = unscripted
    page.goto("/bots/stone-age/")
    page.get_by_label("Ladder of the results").select_option("dualma")
    page.get_by_label("Version of the results").select_option("2")
    page.locator("#results form.choose button").first.click()
    expect(page.locator("#results-title")).to_have_text(re.compile(r"Results on DuAlma,\s+version 2"))
    follow(page, "Results by opponent", 0)
    page.get_by_role("link", name="Compare with Greedy").click()
    expect(page.locator("h1")).to_have_text(re.compile("Stone Age v2 against"))
    follow(page, "Results by ladder and colour", 0)
