"""Takes pictures of all pages in four settings, and joins them to one contact sheet.

Without ``--site`` a site is started in a temporary folder, and its first tournament is awaited.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from playwright.sync_api import Browser, ConsoleMessage, Page

from tests.support.browsers import find_chromium, started_browser
from tests.support.jobs import wait_until
from tests.support.sites import bare_environment
from tournament.embedded.options import find_port
from tournament.embedded.plan import ROOT

READY_S: Final = 600.0
FIRST: Final = "/tournaments/first-round-robin/"
"""The tournament of the sample bots that a new site plays."""
MISSING: Final = "/nowhere/"
"""A page that is not there: Chromium reports its status as an error."""
ADDRESSES: Final = (
    "/", "/ladders/", "/ladders/dualma/", "/tournaments/", FIRST, "/queue/", "/bots/", "/bots/alphabeta/",
    "/bots/alphabeta/1/", "/bots/alphabeta/against/greedy/", "/version-tests/", "/games/",
    "/games/{duovallis}/", "/games/{dualma}/", "/games/{dogon-gagara}/", "/games/{duploline}/",
    "/games/{dualma}/embed/", "/rules/", "/rules/duovallis/", "/kit/", "/protocol/", "/records/",
    "/formats/", "/workers/", "/about/", "/log-in/", "/sign-up/", MISSING,
)  # fmt: skip
"""``{code}`` stands for Alphabeta's longest game on a ladder."""
THUMBNAIL: Final = 280
"""Height of a picture on the sheet, in pixels."""
SHEET: Final = 2260
"""Width of the sheet."""


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


def main(words: Sequence[str] | None = None) -> int:
    """Write the pictures; returns 1 if a page had an error in its console."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.screenshots", description=__doc__)
    parser.add_argument("--site", metavar="URL", help="a running site; default: start one")
    parser.add_argument("--out", metavar="FOLDER", type=Path, default=ROOT / "var" / "screenshots")
    options = parser.parse_args(words)
    options.out.mkdir(parents=True, exist_ok=True)
    chromium = find_chromium()
    if chromium is None:
        parser.error("Chromium is not installed: apt-get install chromium")
    with (
        started_site() if options.site is None else _given(options.site) as site,
        started_browser(chromium) as browser,
    ):
        addresses = [_fill(site, address) for address in ADDRESSES]
        errors = [
            error for setting in SETTINGS for error in _shoot(browser, site, addresses, setting, options.out)
        ]
        _join(browser, addresses, options.out)
    print(
        "\n".join(errors)
        or f"{len(addresses)} pages in {len(SETTINGS)} settings: {options.out / 'sheet.png'}"
    )
    return 1 if errors else 0


@contextmanager
def _given(site: str) -> Iterator[str]:
    yield site.rstrip("/")


@contextmanager
def started_site() -> Iterator[str]:
    """The address of a new site whose first tournament is finished."""
    with tempfile.TemporaryDirectory(prefix="duarena-screenshots-") as folder:
        port = find_port("127.0.0.1", 8100)
        command = (sys.executable, "-m", "tournament.embedded", "up", "--data", folder, "--port", str(port))
        process = subprocess.Popen(command, cwd=ROOT, env=bare_environment(), stdout=subprocess.DEVNULL)
        try:
            site = f"http://127.0.0.1:{port}"
            if not wait_until(lambda: _shows(f"{site}{FIRST}", "finished"), READY_S, pause=1):
                raise TimeoutError(f"{FIRST} was not finished within {READY_S:.0f} s")
            yield site
        finally:
            process.terminate()
            process.wait(60)


def _shows(address: str, tag: str) -> bool:
    """Whether a page is there and has a tag with this word."""
    try:
        with urllib.request.urlopen(address, timeout=10) as answer:
            return f">{tag}<" in answer.read().decode()
    except OSError:
        return False  # not started yet


def _fill(site: str, address: str) -> str:
    code = re.search(r"\{(.+)\}", address)
    if code is None:
        return address
    with urllib.request.urlopen(
        f"{site}/games/?ladder={code[1]}&bot=alphabeta&sort=longest", timeout=30
    ) as answer:
        games = re.findall(r'href="/games/(\d+)/"', answer.read().decode())
    return address.replace(code[0], games[0])


def _shoot(
    browser: Browser, site: str, addresses: Sequence[str], setting: Setting, out: Path
) -> Iterator[str]:
    """Take the pictures of one setting; a sentence for each error in a page's console."""
    context = browser.new_context(
        base_url=site,
        viewport={"width": setting.width, "height": setting.height},
        color_scheme=setting.scheme,
        reduced_motion="reduce",
    )
    page = context.new_page()
    errors: list[str] = []

    def listen(said: ConsoleMessage) -> None:
        if said.type == "error" and not page.url.endswith(MISSING):
            errors.append(f"{setting.name} {page.url}: {said.text}")

    page.on("console", listen)
    page.on("pageerror", lambda error: errors.append(f"{setting.name} {page.url}: {error}"))
    for number, address in enumerate(addresses):
        page.goto(address)
        page.wait_for_load_state("networkidle")
        page.screenshot(path=out / _name(number, setting))
        if (width := page.evaluate("document.documentElement.scrollWidth")) > setting.width:
            errors.append(f"{setting.name} {address}: {width} pixels wide")
    context.close()
    yield from errors


def _join(browser: Browser, addresses: Sequence[str], out: Path) -> None:
    """One picture of all: for each page its settings side by side."""
    figures = "".join(
        f"<figure><figcaption>{address}</figcaption>"
        + "".join(f'<img src="{_name(number, setting)}" height="{THUMBNAIL}"> ' for setting in SETTINGS)
        + "</figure>"
        for number, address in enumerate(addresses)
    )
    sheet = out / "sheet.html"
    style = "body { font: 14px sans-serif } figure { display: inline-block; margin: 8px }"
    sheet.write_text(
        f"<!doctype html><title>Duarena</title><style>{style}</style>{figures}", encoding="utf-8"
    )
    page: Page = browser.new_page(viewport={"width": SHEET, "height": 900})
    page.goto(sheet.resolve().as_uri())
    page.screenshot(path=out / "sheet.png", full_page=True)
    page.close()


def _name(number: int, setting: Setting) -> str:
    return f"{number:02}-{setting.name}.png"


if __name__ == "__main__":
    sys.exit(main())
