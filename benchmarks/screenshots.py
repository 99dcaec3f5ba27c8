"""Takes pictures of all pages in four settings, and joins them to one contact sheet.

The pages are those of the table of addresses that the tests use, on a filled site in a temporary folder: for
a guest, and for an owner and staff where the page has something else for them. ``--readme`` takes the
pictures of the README instead: from a site on which the bots of ``engines.bots`` play a tournament first.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal

from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page

from engines.bots import SampleBot
from engines.records import Termination
from engines.rules.registry import GAMES
from tests.support.browsers import DRAWN, find_chromium, started_browser, wait_in
from tournament.embedded.console import Console
from tournament.embedded.instance import Instance, running_instance
from tournament.embedded.options import Options
from tournament.embedded.plan import ROOT

if TYPE_CHECKING:  # they need the settings, which this module chooses when it runs
    from django.test import Client

MISSING: Final = ("/nowhere/", "/log-out/")
"""Addresses of error pages: Chromium reports their status as an error."""
MOST_WAIT_MS: Final = 300_000
"""On a busy machine, and for the sheet, which holds hundreds of pictures."""
THUMBNAIL: Final = 280
"""Height of a picture on the sheet, in pixels; the lower part of a long page is cut off."""
SHEET: Final = 2700
"""Width of the sheet."""
LOADED: Final = """() => [...document.images].every((image) => {
  image.loading = "eager";
  return image.complete;
})"""
"""Whether all pictures of a page are there; browsers fetch those below the window later."""
LONGEST: Final = 4000
"""The most pixels of a page's height in its own picture."""
END: Final = (
    "Math.ceil(document.querySelector('main').lastElementChild.getBoundingClientRect().bottom + scrollY) + 24"
)
"""Where the content of a page ends; its foot is at the end of the window."""
README_LADDER: Final = "dogon-gagara"
README_PAIRS: Final = 10
README_TIME: Final = "1+0.03"
README_SEED: Final = 3
README_FOLDER: Final = ROOT / "docs" / "images"
README_LONGEST: Final = 1000
"""The most pixels of the height of a picture in the README."""


@dataclass(frozen=True, slots=True)
class Setting:
    """A window and a colour scheme."""

    name: str
    width: int
    height: int
    scheme: Literal["light", "dark"]


SETTINGS: Final = (
    Setting("wide-light", 1280, 900, "light"),
    Setting("wide-dark", 1280, 900, "dark"),
    Setting("phone-light", 390, 844, "light"),
    Setting("phone-dark", 390, 844, "dark"),
)


@dataclass(frozen=True, slots=True)
class View:
    """A page as one visitor sees it; ``session`` is the key of the visitor's session, empty for a guest."""

    visitor: str
    address: str
    session: str

    def file_name(self, setting: Setting) -> str:
        words = re.sub(r"[^\w-]+", "-", self.address).strip("-") or "home"
        return f"{self.visitor}-{words}-{setting.name}.png"


def main(words: Sequence[str] | None = None) -> int:
    """Write the pictures; returns 1 if a page had an error in its console or was wider than its window."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.screenshots", description=__doc__)
    parser.add_argument("--out", metavar="FOLDER", type=Path, default=ROOT / "var" / "screenshots")
    parser.add_argument("--only", metavar="REGEX", default="", help="only addresses with a match of this")
    parser.add_argument("--readme", action="store_true", help="take the pictures of the README")
    options = parser.parse_args(words)
    options.out.mkdir(parents=True, exist_ok=True)
    chromium = find_chromium()
    if chromium is None:
        parser.error("Chromium is not installed: apt-get install chromium")
    if options.readme:
        return _shoot_readme(chromium)
    with filled_server() as server, started_browser(chromium) as browser:
        views = [view for view in _views(server.addresses) if re.search(options.only, view.address)]
        errors = [
            error
            for setting in SETTINGS
            for error in _shoot(browser, server.url, views, setting, options.out)
        ]
        _join(browser, views, options.out)
    sheet = options.out / "sheet.png"
    print("\n".join(errors) or f"{len(views)} pages in {len(SETTINGS)} settings: {sheet}")
    return 1 if errors else 0


@dataclass(frozen=True, slots=True)
class Server:
    """A running site, and all its addresses that answer to GET."""

    url: str
    addresses: list[str]


@contextmanager
def filled_server() -> Iterator[Server]:
    """The filled site of the tests on a database and in a folder of its own."""
    os.environ["DJANGO_SETTINGS_MODULE"] = "tests.support.settings"
    os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "1"  # the event loop is Playwright's
    import django

    django.setup()
    from django.test.runner import DiscoverRunner
    from pytest_django.live_server_helper import LiveServer

    from tests.support.addresses import all_addresses
    from tests.support.whole_site import fill_whole_site, more_addresses

    runner = DiscoverRunner(verbosity=0, interactive=False)
    runner.setup_test_environment()
    databases = runner.setup_databases()
    addresses = list(dict.fromkeys([*all_addresses(fill_whole_site()), *more_addresses(), *MISSING]))
    live = LiveServer("127.0.0.1")
    try:
        yield Server(live.url, addresses)
    finally:
        live.stop()
        runner.teardown_databases(databases)
        runner.teardown_test_environment()


def _views(addresses: Sequence[str]) -> list[View]:
    """What to take: each page for a guest, and for others where it differs from the guest's."""
    from django.conf import settings
    from django.test import Client

    from tournament.models import User

    views: list[View] = []
    seen: set[tuple[str, str]] = set()
    for visitor, name in (("guest", ""), ("owner", "olga"), ("staff", "stan")):
        client = Client()
        if name:
            client.force_login(User.objects.get(username=name))
        session = client.cookies[settings.SESSION_COOKIE_NAME].value if name else ""
        for address in addresses:
            content = _content(client, address)
            if content and (address, content) not in seen:
                seen.add((address, content))
                views.append(View(visitor, address, session))
    return views


def _content(client: Client, address: str) -> str:
    """The main part of a page, without what differs at every request; empty if there is no page."""
    answer = client.get(address)
    is_page = answer.status_code == 200 or address in MISSING
    if not is_page or not answer["Content-Type"].startswith("text/html"):
        return ""
    text = answer.content.decode()
    return re.sub(
        r'csrfmiddlewaretoken" value="\w+"', "", text[text.index("<main") if "<main" in text else 0 :]
    )


def _shoot(browser: Browser, site: str, views: Sequence[View], setting: Setting, out: Path) -> Iterator[str]:
    """Take the pictures of one setting; a sentence for each error in a page's console."""
    for visitor in dict.fromkeys(view.visitor for view in views):
        own = [view for view in views if view.visitor == visitor]
        context = _context(browser, site, own[0].session, setting)
        yield from _shoot_visitor(context, own, setting, out)
        context.close()


def _context(browser: Browser, site: str, session: str, setting: Setting) -> BrowserContext:
    context = browser.new_context(
        base_url=site,
        viewport={"width": setting.width, "height": setting.height},
        color_scheme=setting.scheme,
        reduced_motion="reduce",
        timezone_id="Europe/Berlin",
    )
    context.set_default_timeout(MOST_WAIT_MS)
    if session:
        from django.conf import settings

        context.add_cookies([{"name": settings.SESSION_COOKIE_NAME, "value": session, "url": site}])
    return context


def _shoot_visitor(
    context: BrowserContext, views: Sequence[View], setting: Setting, out: Path
) -> Iterator[str]:
    page = context.new_page()
    errors: list[str] = []
    shown = [""]  # the address of the page that reports an error

    def listen(said: ConsoleMessage) -> None:
        if said.type == "error" and shown[0] not in MISSING:
            errors.append(f"{setting.name} {shown[0]}: {said.text}")

    page.on("console", listen)
    page.on("pageerror", lambda error: errors.append(f"{setting.name} {shown[0]}: {error}"))
    for view in views:
        shown[0] = view.address
        _open(page, view.address)
        _take(page, out / view.file_name(setting), setting)
        if (width := page.evaluate("document.documentElement.scrollWidth")) > setting.width:
            errors.append(f"{setting.name} {view.address}: {width} pixels wide")
    yield from errors


def _shoot_readme(chromium: str) -> int:
    """Write the pictures of the README from a site of its own, after its tournament."""
    setting = SETTINGS[0]
    with tempfile.TemporaryDirectory() as folder:
        options, console = Options("up", Path(folder), workers=os.cpu_count() or 1), Console(sys.stdout)
        with running_instance(options, console, _start_readme_event) as instance:
            addresses = _play_readme_event(instance, console)
            with started_browser(chromium) as browser:
                page = _context(browser, instance.address.url, "", setting).new_page()
                for name, address in addresses.items():
                    _open(page, address)
                    longest = min(README_LONGEST, page.evaluate(END))
                    _take(page, README_FOLDER / f"{name}.png", setting, longest)
    return 0


def _start_readme_event() -> None:
    """A tournament of the sample bots and MCTS, on one ladder."""
    from tournament.embedded.samples import register_sample, register_samples
    from tournament.services.schedule.tournaments import create_round_robin, start

    mcts = SampleBot(
        "mcts_bot", "MCTS", "Monte Carlo tree search, as long as its clock allows.", tuple(GAMES)
    )
    tournament = create_round_robin(
        None,
        name="Winter",
        versions=[*register_samples(), register_sample(mcts)],
        ladders=[README_LADDER],
        pairs=README_PAIRS,
        time_control=README_TIME,
        seed=README_SEED,
        opening_plies=2,
    )
    start(tournament)


def _play_readme_event(instance: Instance, console: Console) -> dict[str, str]:
    """Wait for the end of the tournament; returns the pages' addresses by the names of their pictures."""
    from tournament.models import Tournament
    from tournament.views.games.board import load_replay

    tournament = Tournament.objects.get(name="Winter")
    while not tournament.is_over:
        instance.supervisor.tend()
        if instance.supervisor.stopping:
            raise SystemExit("stopped before all games were played")
        instance.supervisor.wait(1.0)
        tournament.refresh_from_db()
        console.progress(f"{tournament.games_done} of {tournament.games_total} games")
    best = {"white__bot__name__in": ("Alphabeta", "MCTS"), "black__bot__name__in": ("Alphabeta", "MCTS")}
    game = tournament.games.filter(**best, termination=Termination.RULES).latest("plies")
    moves = load_replay(game)[0].moves
    ply = next(ply for ply in range(game.plies // 3, game.plies) if moves[ply - 1].token != "pass")
    return {"replay": f"/games/{game.pk}/?ply={ply}", "ladder": f"/ladders/{README_LADDER}/"}


def _open(page: Page, address: str) -> None:
    """Open the page and wait until everything is drawn."""
    page.goto(address)
    page.wait_for_load_state("networkidle")
    wait_in(page, LOADED)
    wait_in(page, DRAWN)


def _take(page: Page, path: Path, setting: Setting, longest: int = LONGEST) -> None:
    height = int(page.evaluate("document.documentElement.scrollHeight"))
    clip = {"x": 0, "y": 0, "width": setting.width, "height": min(height, longest)}
    page.screenshot(path=path, full_page=True, clip=clip)  # type: ignore[arg-type]


def _join(browser: Browser, views: Sequence[View], out: Path) -> None:
    """One picture of all: for each page its settings side by side."""
    figures = "".join(
        f"<figure><figcaption>{view.visitor} {view.address}</figcaption>"
        + "".join(_thumbnail(view, setting) for setting in SETTINGS)
        + "</figure>"
        for view in views
    )
    style = (
        "body { font: 14px sans-serif } figure { display: inline-block; margin: 8px } "
        "img { object-fit: cover; object-position: top; margin-right: 4px }"
    )
    sheet = out / "sheet.html"
    sheet.write_text(
        f"<!doctype html><title>Duarena</title><style>{style}</style>{figures}", encoding="utf-8"
    )
    page: Page = browser.new_page(viewport={"width": SHEET, "height": 900})
    page.goto(sheet.resolve().as_uri(), timeout=MOST_WAIT_MS)
    page.screenshot(path=out / "sheet.png", full_page=True, timeout=MOST_WAIT_MS)
    page.close()


def _thumbnail(view: View, setting: Setting) -> str:
    name = view.file_name(setting)
    width = THUMBNAIL * setting.width // setting.height
    return f'<a href="{name}"><img src="{name}" width="{width}" height="{THUMBNAIL}" alt=""></a>'


if __name__ == "__main__":
    sys.exit(main())
