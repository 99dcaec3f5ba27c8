"""Pages that change while somebody looks at them: boards stay in their place, and forms are left alone."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator
from datetime import timedelta

import pytest
from django.utils import timezone
from playwright.sync_api import Page, expect

from engines.rules.registry import GAMES
from tests.e2e.pages import DESK, PHONE, Visit, box_of, fits
from tests.support.filled_site import LADDER, Site, add_version, finish, go_live, round_robin
from tournament.models import Game, LiveGame, Tournament
from tournament.services.schedule.tournaments import start
from tournament.views.site.featured import END_SECONDS

MAX_SHIFT = 0.05
"""What users take for a page that stands still."""
COUNT_SHIFTS = """
new PerformanceObserver((list) => {
  for (const { value, hadRecentInput } of list.getEntries()) {
    if (!hadRecentInput) sessionStorage.shift = Number(sessionStorage.shift ?? 0) + value;
  }
}).observe({ type: "layout-shift", buffered: true });
"""

SHOW_WHAT_FOLLOWS = """() => {
  const { bottom } = document.querySelector("[data-follow]").getBoundingClientRect();
  scrollBy(0, bottom - innerHeight / 2);
}"""
"""Scrolls to the end of the part that changes: what comes after it would move."""

SHIFT_SO_FAR = """() => new Promise((done) => {
  requestAnimationFrame(() => setTimeout(() => done(Number(sessionStorage.shift ?? 0))));
})"""
"""The observer is told of a frame after it is drawn."""


@pytest.fixture
def event(site: Site) -> Tournament:
    """A running tournament on all ladders, with a name of 40 letters; nothing else is played."""
    LiveGame.objects.all().delete()
    names = ["Bo", "Monte Carlo with a long name", "Gerda"]
    versions = [add_version(site.owner if n else site.rival, name) for n, name in enumerate(names)]
    event = round_robin(site.owner, "Autumn", versions, pairs=2, ladders=list(GAMES))
    start(event)
    return event


def play(event: Tournament) -> Iterator[None]:
    """Play games of a low and of a high board, a step at a time; each begins, goes on and ends."""
    chance, before = random.Random(1), timezone.now() - timedelta(seconds=END_SECONDS)
    for number, ladder in enumerate([LADDER, "duovallis", "dualma"], start=1):
        for game in event.games.filter(ladder=ladder, state=Game.State.WAITING).order_by("pk")[:number]:
            go_live(game, plies=2)
        yield
        for plies, white_ms in ((12, 9_000), (13, None)):
            for live in LiveGame.objects.filter(game__tournament=event).select_related("game__pairing"):
                go_live(live.game, plies, chance)
            LiveGame.objects.update(white_ms=white_ms, black_ms=4_000)
            yield
        for game in Game.objects.filter(live__isnull=False, tournament=event).select_related("pairing"):
            LiveGame.objects.filter(game=game).delete()
            finish(game, sequence=1 + Game.objects.filter(ladder=ladder, sequence__isnull=False).count())
        yield
        Game.objects.filter(tournament=event).update(finished_at=before)


def see_changes(page: Page) -> None:
    """Wait until an answer has come that was asked for after this call."""
    for _ in range(2):
        with page.expect_response(lambda answer: "seen=" in answer.url):
            pass


@pytest.mark.parametrize("address", ["/", "/tv/", "/tournaments/autumn/", f"/ladders/{LADDER}/", "game"])
def test_nothing_moves_on_a_page_while_games_are_played(
    event: Tournament, visit: Visit, address: str
) -> None:
    steps = play(event)
    next(steps)
    sizes = [DESK, PHONE]
    if address == "game":
        address = f"/games/{event.games.filter(live__isnull=False).earliest('pk').pk}/"
        steps, sizes = itertools.islice(steps, 2), [DESK]
    pages = [visit(viewport=size) for size in sizes]
    for page in pages:
        page.add_init_script(COUNT_SHIFTS)
        page.goto(address)
        page.evaluate(SHOW_WHAT_FOLLOWS)
    for _ in steps:
        for page in pages:
            see_changes(page)
    shifts = [float(page.evaluate("sessionStorage.shift ?? 0")) for page in pages]
    assert max(shifts) <= MAX_SHIFT, shifts


def test_a_live_game_s_page_stands_still_on_a_phone_from_its_opening_to_its_end(
    event: Tournament, visit: Visit
) -> None:
    game = event.games.filter(ladder=LADDER, white__bot__name__startswith="Monte").earliest("pk")
    go_live(game, plies=2)
    page = visit(viewport=PHONE)
    page.add_init_script(COUNT_SHIFTS)
    page.goto(f"/games/{game.pk}/")
    page.evaluate("document.getElementById('move-list').scrollIntoView({ block: 'center' })")
    for plies in (4, 13):
        go_live(game, plies)
        expect(page.locator("#move-list a")).to_have_count(plies, timeout=20_000)
        expect(page.locator("#chart canvas")).to_have_count(2)
    LiveGame.objects.all().delete()
    finish(game, sequence=2)
    expect(page.locator("#headline:not([data-follow])")).to_be_visible(timeout=20_000)
    expect(page.locator("#computer")).to_contain_text("Nobody has requested an analysis")
    assert page.evaluate(SHIFT_SO_FAR) <= MAX_SHIFT


@pytest.mark.parametrize("ladder", GAMES)
def test_the_broadcast_has_the_board_and_both_engines_in_view_on_every_ladder(
    event: Tournament, visit: Visit, ladder: str
) -> None:
    go_live(event.games.filter(ladder=ladder).earliest("pk"), 24, random.Random(3))
    page = visit(viewport=DESK)
    page.goto(f"/tv/{ladder}/")
    for part in page.locator("#broadcast-game :is(.featured, .engine)").all():
        expect(part).to_be_in_viewport(ratio=1)
    assert len({box_of(number)["height"] for number in page.locator(".engine dd").all()}) == 1, (
        "one line each"
    )
    expect(page.locator("#broadcast-game .caption")).to_contain_text("live")
    page.set_viewport_size(PHONE)
    assert fits(page)
    parts = (".featured", ".engine", "#broadcast-event")
    board, engines, tables = (box_of(page.locator(one).first) for one in parts)
    assert board["y"] < engines["y"] < tables["y"]
    expect(page.locator("#broadcast-game .featured")).to_be_in_viewport(ratio=1)


def test_a_form_that_is_filled_in_stays_while_the_rest_of_its_part_goes_on(site: Site, page: Page) -> None:
    page.goto("/tournaments/spring/")
    page.select_option("select[name=result]", "white")
    page.locator("select[name=bot]").focus()
    live = page.locator("#live")
    expect(live.locator(".games time")).to_have_count(1)
    finish(site.live, sequence=2)
    LiveGame.objects.all().delete()
    expect(live.locator("progress")).to_have_attribute("value", "2", timeout=20_000)
    expect(live.locator(".games time")).to_have_count(2)
    expect(page.locator("select[name=bot]")).to_be_focused()
    expect(page.locator("select[name=result]")).to_have_value("white")
    expect(live.locator("form.filters")).to_have_count(1)
