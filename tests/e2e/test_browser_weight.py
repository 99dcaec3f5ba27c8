"""The heaviest page in a real browser, with scripts and styles as a site serves them, and minified styles."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, Response, Route, expect

from tests.support.filled_site import Site
from tests.support.long_games import ENDLESS, let_end, let_play, longest
from tests.support.weights import MAX_BYTES, STATIC, served, weight
from tournament.models import Game, LiveGame
from tournament.settings import ROOT

STYLE = ROOT / "tournament" / "static" / "duarena.css"
RULES = """(text) => {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(text);
  return [...sheet.cssRules].map((rule) => rule.cssText.replace(/,\\s*/g, ","));
}"""
"""The rules as the browser reads them; values of variables keep their spaces."""


@pytest.fixture
def minified_page(page: Page) -> Page:
    """A page whose scripts and styles are those that ``collectstatic`` writes."""

    def serve(route: Route) -> None:
        answer = route.fetch()
        route.fulfill(response=answer, body=served(route.request.url, answer.body()))

    page.route(f"**{STATIC}**", serve)
    return page


def test_the_minified_style_sheet_has_the_same_rules(page: Page) -> None:
    source = STYLE.read_bytes()
    before, after = (
        page.evaluate(RULES, text.decode()) for text in (source, served(f"{STATIC}{STYLE.name}", source))
    )
    assert len(before) > 200
    assert after == before


@pytest.mark.parametrize("make", [let_play, let_end])
def test_a_game_of_700_plies_is_below_the_limit_when_its_chart_has_been_seen(
    site: Site, minified_page: Page, make: Callable[..., Game]
) -> None:
    code, most = ENDLESS
    answers: list[Response] = []
    game = make(site, code, longest(code, most))
    minified_page.on("response", lambda answer: answers.append(answer))
    minified_page.goto(f"/games/{game.pk}/")
    minified_page.locator("#chart").scroll_into_view_if_needed()
    expect(minified_page.locator("#chart canvas")).to_have_count(2)
    expect(minified_page.locator("#moves a[aria-current]")).to_have_attribute("data-ply", str(most))
    loaded = [
        answer
        for answer in answers
        if answer.status == 200 and not answer.headers["content-type"].startswith("image/")
    ]
    assert any("uPlot" in answer.url for answer in loaded)
    assert sum(weight(answer.url, answer.body()) for answer in loaded) < MAX_BYTES


def test_a_long_live_game_gets_its_next_moves_from_minified_scripts(site: Site, minified_page: Page) -> None:
    code, most = ENDLESS
    game = let_play(site, code, longest(code, most))
    moves = LiveGame.objects.get(game=game).moves
    set_moves(game, moves[: most - 3])
    minified_page.goto(f"/games/{game.pk}/")
    expect(minified_page.locator("#move-list a")).to_have_count(most - 3)
    set_moves(game, moves)
    expect(minified_page.locator("#board")).to_have_attribute("data-ply", str(most), timeout=20_000)
    plies = minified_page.locator("#move-list a").evaluate_all("all => all.map((link) => link.dataset.ply)")
    assert plies == [str(ply) for ply in range(1, most + 1)]


def set_moves(game: Game, moves: list[list[str]]) -> None:
    LiveGame.objects.filter(game=game).update(moves=moves)
