"""Takes pictures of all pages in four settings, and lists them on one page, ``sheet.html``.

The pages are those of the table of addresses that the tests use, on a filled site in a temporary folder: for
a guest, and for an owner and staff where the page has something else for them.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal

from playwright.sync_api import Browser, BrowserContext, Page

from benchmarks.measuring import parser_of
from tests.support.browsers import DRAWN, NO_STREAMS, find_chromium, started_browser, wait_in
from tournament.embedded.plan import ROOT

if TYPE_CHECKING:  # they need the settings, which this module chooses when it runs
    from django.test import Client

MISSING: Final = ("/nowhere/", "/log-out/")
"""Addresses of error pages: Chromium reports their status as an error."""
MAX_WAIT_MS: Final = 300_000
"""On a busy machine."""
LOADED: Final = """() => [...document.images].every((image) => {
  image.loading = "eager";
  return image.complete;
})"""
"""Whether all pictures of a page are there; browsers fetch those below the window later."""
LONGEST: Final = 4000
"""The most pixels of a page's height in its own picture."""


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
    parser = parser_of("screenshots", __doc__)
    parser.add_argument("--out", metavar="FOLDER", type=Path, default=ROOT / "var" / "screenshots")
    parser.add_argument("--only", metavar="REGEX", default="", help="only addresses with a match of this")
    options = parser.parse_args(words)
    options.out.mkdir(parents=True, exist_ok=True)
    chromium = find_chromium()
    if chromium is None:
        parser.error("Chromium is not installed: apt-get install chromium")
    with filled_server() as (site, addresses), started_browser(chromium) as browser:
        views = [view for view in _views(addresses) if re.search(options.only, view.address)]
        errors = [
            error for setting in SETTINGS for error in _shoot(browser, site, views, setting, options.out)
        ]
    sheet = options.out / "sheet.html"
    sheet.write_text(_sheet(views), encoding="utf-8")
    print("\n".join(errors) or f"{len(views)} pages in {len(SETTINGS)} settings: {sheet}")
    return 1 if errors else 0


@contextmanager
def filled_server() -> Iterator[tuple[str, list[str]]]:
    """The filled site of the tests on a database of its own, and all its addresses that answer to GET."""
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
        yield live.url, addresses
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
    for session, own in groupby(views, key=lambda view: view.session):
        page = _context(browser, site, session, setting).new_page()
        errors: list[str] = []
        page.on("console", lambda said: errors.append(said.text) if said.type == "error" else None)  # noqa: B023
        page.on("pageerror", lambda error: errors.append(str(error)))  # noqa: B023
        for view in own:
            _take(page, view.address, out / view.file_name(setting), setting)
            if (width := page.evaluate("document.documentElement.scrollWidth")) > setting.width:
                errors.append(f"{width} pixels wide")
            if view.address not in MISSING:
                yield from (f"{setting.name} {view.address}: {error}" for error in errors)
            errors.clear()
        page.context.close()


def _context(browser: Browser, site: str, session: str, setting: Setting) -> BrowserContext:
    context = browser.new_context(
        base_url=site,
        viewport={"width": setting.width, "height": setting.height},
        color_scheme=setting.scheme,
        reduced_motion="reduce",
        timezone_id="Europe/Berlin",
    )
    context.set_default_timeout(MAX_WAIT_MS)
    context.add_init_script(NO_STREAMS)
    if session:
        from django.conf import settings

        context.add_cookies([{"name": settings.SESSION_COOKIE_NAME, "value": session, "url": site}])
    return context


def _take(page: Page, address: str, path: Path, setting: Setting) -> None:
    """Open a page, wait until everything is drawn, and take its picture."""
    page.goto(address)
    page.wait_for_load_state("networkidle")
    wait_in(page, LOADED)
    wait_in(page, DRAWN)
    height = int(page.evaluate("document.documentElement.scrollHeight"))
    clip = {"x": 0, "y": 0, "width": setting.width, "height": min(height, LONGEST)}
    page.screenshot(path=path, full_page=True, clip=clip)  # type: ignore[arg-type]


def _sheet(views: Sequence[View]) -> str:
    """One page with the pictures of all: for each page its settings side by side."""
    figures = []
    for view in views:
        names = [view.file_name(setting) for setting in SETTINGS]
        pictures = "".join(f'<a href="{name}"><img src="{name}" alt=""></a>' for name in names)
        figures.append(f"<figure><figcaption>{view.visitor} {view.address}</figcaption>{pictures}</figure>")
    style = "figure { display: inline-block } img { height: 280px; margin: 4px }"
    return f"<!doctype html><title>Duarena</title><style>{style}</style>{''.join(figures)}"


if __name__ == "__main__":
    sys.exit(main())
