"""Pages that follow a game by server-sent events: a real site, a slot of the test, and a browser."""

from __future__ import annotations

import itertools
import signal
import uuid
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from functools import partial
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, Route, expect

from engines.records import Record, read_records
from engines.rules.history import History
from engines.rules.registry import find_game
from tests.e2e.pages import DESK
from tests.support.browsers import DRAWN, wait_in
from tests.support.fake_door import PATIENCE_SECONDS
from tests.support.heartbeats import heartbeat_of
from tests.support.jobs import wait_until
from tests.support.schedule import play
from tests.support.sites import LonelySite, running_lonely_site
from workers.bundles.bundle_site import SiteAway
from workers.jobs import Ask, GameReport, Post, PostAnswer, Progress, Work
from workers.service.site import SiteDoor

pytestmark = pytest.mark.thorough
LADDER = "duploline"
LONG_SECONDS = 4 * PATIENCE_SECONDS
LONG_MS = 1000 * LONG_SECONDS
"""A process of the server that was killed is replaced within 40 seconds, on a busy machine later."""
NOTED = """
window.chart = 0;  // how many plies the chart has
addEventListener("DOMContentLoaded", () => {
  const values = document.getElementById("chart-values");
  if (values) window.chart = JSON.parse(values.textContent).score.length;
});
document.addEventListener("replay:more", ({ detail: { values } }) => {
  window.chart = values.since > window.chart ? NaN : values.since + values.score.length;
});
"""
SHOWS = """() => [
  Number(document.getElementById("headline").dataset.plies),
  document.querySelectorAll("#move-list a").length,
  Number(document.getElementById("board").dataset.ply),
  window.chart,
]"""
"""The plies that the head line, the list of moves, the board and the chart have."""
SOURCE = """
window.EventSource = class extends EventSource {
  constructor(address) {
    super(address);
    window.source = this;
  }
};
"""
HAS_STREAM = "window.source?.readyState === EventSource.OPEN"
SET_HIDDEN = """hidden => {
  Object.defineProperty(document, "hidden", { configurable: true, get: () => hidden });
  document.dispatchEvent(new Event("visibilitychange"));
}"""


class LiveSlot:
    """A slot that has taken the games of a tournament of its own, and plays the first one."""

    names = map("Live {}".format, itertools.count())

    def __init__(self, site: LonelySite) -> None:
        self.site, self.name = site, next(self.names)
        site.schedule(self.name, LADDER)
        self.door = SiteDoor(site.url, site.token)
        self.told = heartbeat_of(run=str(uuid.uuid4()))
        assert self.door.beat(self.told).admitted
        ask = Ask(str(uuid.uuid4()), self.told.worker, self.told.run, 0, (Work.GAMES,), ())
        batch = self.door.ask(ask)
        assert batch is not None
        self.job = batch.jobs[0]
        self.report: GameReport = play(self.job, self.job.games[0], slot=f"{self.told.worker}/1")
        self.plies = len(self.report.moves)
        key = self.report.key
        ((self.pk,),) = site.ask(f"SELECT id FROM tournament_game WHERE key = '{key}'")
        self.path = f"/games/{self.pk}/"

    def post(self, **content: Any) -> PostAnswer:
        told = self.told
        return self.door.post(self.job.job, replace(Post(told.worker, told.run, 0), **content))

    def show(self, plies: int) -> PostAnswer | None:
        """The answer to a post with so many moves; None if the site is away."""
        moves = self.report.moves[:plies]
        try:
            return self.post(progress=Progress(self.report.key, self.report.attempt, 0, moves, 900, None))
        except SiteAway:
            return None

    def has(self, plies: int) -> bool:
        """Whether the site has so many moves; posts them."""
        answer = self.show(plies)
        return answer is not None and answer.known == plies

    def is_watched(self, plies: int) -> bool:
        answer = self.show(plies)
        return answer is not None and answer.pace_ms > 0

    def play_on(self, *plies: int) -> None:
        """Make moves, one by one."""
        for ply in plies:
            assert wait_until(partial(self.has, ply), LONG_SECONDS, pause=0.02), ply

    def finish(self) -> None:
        """Report the game, until it is recorded."""
        self.post(reports=(self.report,))
        state = f"SELECT state FROM tournament_game WHERE id = {self.pk}"
        assert wait_until(lambda: self.site.ask(state) == [("done",)], LONG_SECONDS, pause=0.1)


@pytest.fixture(scope="module")
def live_site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LonelySite]:
    with running_lonely_site(tmp_path_factory.mktemp("live"), 18_970) as site:
        yield site


@pytest.fixture
def slot(live_site: LonelySite) -> Iterator[LiveSlot]:
    slot = LiveSlot(live_site)
    yield slot
    slot.post(returned=tuple(game.attempt for game in slot.job.games))


@pytest.fixture
def page(browser: Browser, live_site: LonelySite) -> Iterator[Page]:
    with closing(browser.new_context(base_url=live_site.url, viewport=DESK)) as context:
        context.add_init_script(NOTED)
        yield context.new_page()


def open_game(page: Page, slot: LiveSlot, plies: int) -> None:
    page.goto(slot.path)
    page.evaluate("window.isStill = true")
    assert shows(page, plies)


def shows(page: Page, plies: int) -> bool:
    """Whether the page soon shows each of so many plies once."""
    return wait_until(lambda: page.evaluate(SHOWS) == [plies] * 4, LONG_SECONDS)


def shows_end(page: Page, slot: LiveSlot) -> None:
    """The page shows the whole game and its end, and was not reloaded."""
    expect(page.locator("#headline")).not_to_have_attribute("data-follow", "", timeout=LONG_MS)
    expect(page.locator("#facts")).to_contain_text("Ending", timeout=LONG_MS)
    assert shows(page, slot.plies), page.evaluate(SHOWS)
    tokens = page.locator("#move-list a b").all_text_contents()
    assert tokens == [token for token, _ in slot.report.moves]
    assert page.evaluate("window.isStill"), "the page was reloaded"


def test_a_page_shows_each_move_of_a_game_and_its_end(
    live_site: LonelySite, slot: LiveSlot, page: Page
) -> None:
    begun = len(slot.job.opening)
    slot.play_on(begun)
    assert not slot.is_watched(begun)
    open_game(page, slot, begun)
    assert wait_until(lambda: slot.is_watched(begun), LONG_SECONDS, pause=0.05)
    for ply in range(begun + 1, slot.plies + 1):
        slot.play_on(ply)
        assert shows(page, ply), page.evaluate(SHOWS)
    wait_in(page, DRAWN)
    expect(page.locator("#facts")).not_to_contain_text("rating")
    slot.finish()
    shows_end(page, slot)
    expect(page.locator("#facts")).to_contain_text("rating")
    shown = page.locator("#board svg").first.inner_html(), page.locator("#position").input_value()
    page.goto(slot.path)
    assert (page.locator("#board svg").first.inner_html(), page.locator("#position").input_value()) == shown
    (record,) = read_records(live_site.page(f"/games/{slot.pk}.pgn").splitlines(keepends=True), "site")
    assert isinstance(record, Record)
    history = History(find_game(LADDER))
    for move in record.moves:
        history.play(move.token)
    assert shown[1] == str(history.position)


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGHUP])
def test_no_move_is_lost_or_doubled_when_the_server_s_processes_are_replaced(
    live_site: LonelySite, slot: LiveSlot, page: Page, how: signal.Signals
) -> None:
    begun = len(slot.job.opening)
    slot.play_on(begun)
    open_game(page, slot, begun)
    assert wait_until(lambda: slot.is_watched(begun), LONG_SECONDS, pause=0.05)
    first, *others = live_site.processes
    for process in others if how is signal.SIGKILL else [first]:
        process.send_signal(how)
    slot.play_on(*range(begun + 1, slot.plies + 1))
    assert wait_until(lambda: not set(others) & set(live_site.processes), LONG_SECONDS, pause=0.1)
    slot.finish()
    shows_end(page, slot)


def test_a_hidden_page_has_no_stream_and_gets_what_it_missed(slot: LiveSlot, page: Page) -> None:
    begun = len(slot.job.opening)
    slot.play_on(begun)
    open_game(page, slot, begun)
    assert wait_until(lambda: slot.is_watched(begun), LONG_SECONDS, pause=0.05)
    page.evaluate(SET_HIDDEN, True)
    assert wait_until(lambda: not slot.is_watched(begun), LONG_SECONDS, pause=0.2)
    slot.play_on(begun + 1, begun + 3)
    assert page.evaluate(SHOWS) == [begun] * 4
    page.evaluate(SET_HIDDEN, False)
    assert shows(page, begun + 3), page.evaluate(SHOWS)
    assert page.evaluate("window.isStill")


def test_a_browser_has_two_streams_and_all_of_its_windows_load_and_follow(slot: LiveSlot, page: Page) -> None:
    """A browser has six connections to a site, over HTTP/1.1; each stream keeps one."""

    def with_stream(windows: list[Page]) -> list[Page]:
        return [window for window in windows if window.evaluate(HAS_STREAM)]

    begun = len(slot.job.opening)
    slot.play_on(begun)
    page.context.add_init_script(SOURCE)
    windows = [page, *(page.context.new_page() for _ in range(7))]
    for window in windows:
        window.goto(f"/tv/{LADDER}/", timeout=LONG_MS)
    assert wait_until(lambda: len(with_stream(windows)) == 2, LONG_SECONDS)
    slot.play_on(begun + 1)
    for window in windows:
        board = window.locator("#broadcast-game .featured")
        expect(board).to_have_attribute("data-plies", str(begun + 1), timeout=LONG_MS)
    for window in with_stream(windows):
        windows.remove(window)
        window.close()
    assert wait_until(lambda: len(with_stream(windows)) == 2, LONG_SECONDS), "nobody took over the streams"
    windows[-1].goto("/rules/", timeout=LONG_MS)


@pytest.mark.parametrize("passes", ["nothing", "an error"])
def test_a_page_polls_where_streams_do_not_pass(slot: LiveSlot, page: Page, passes: str) -> None:
    def stop(route: Route) -> None:
        if route.request.resource_type != "eventsource":
            route.continue_()
        elif passes == "an error":
            route.fulfill(status=503)

    begun = len(slot.job.opening)
    slot.play_on(begun)
    page.route("**/games/**", stop)
    open_game(page, slot, begun)
    slot.play_on(begun + 1, begun + 2)
    assert shows(page, begun + 2), page.evaluate(SHOWS)
    slot.finish()
    shows_end(page, slot)
