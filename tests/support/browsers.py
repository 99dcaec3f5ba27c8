"""Headless Chromium, for tests of the pages and for pictures of them."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from playwright.sync_api import Browser, ElementHandle, Page, sync_playwright

from tests.support.jobs import wait_until

NO_STREAMS = "delete window.EventSource;"
"""Django's server has no streams of events, so pages poll; for streams see ``test_browser_live.py``."""
POLLS_OFTEN = """{
  const every = window.setInterval;
  window.setInterval = (act, ms, ...rest) => every(act, ms === 2000 ? 250 : ms, ...rest);
}"""
"""Pages poll eight times as often as elsewhere, so that tests wait less; their network is never idle then."""
DRAWN: Final = """() => [...document.querySelectorAll(".chart:not([hidden])")].every((box) => {
  box.scrollIntoView();
  return box.querySelector("canvas");
})"""
"""Whether all charts of a page are drawn; each begins when it is in view."""


def find_chromium() -> str | None:
    """The path of Chromium; None if it is not installed."""
    return shutil.which("chromium")


def wait_in(page: Page, condition: str, element: ElementHandle | None = None) -> None:
    """Wait until a JavaScript expression, or a function of the element, is true.

    Playwright's ``wait_for_function`` evaluates it in the page from the second time on, which the site's
    Content Security Policy forbids; then it fails if the condition is not true at once.
    """
    assert wait_until(lambda: page.evaluate(condition, element), pause=0.05), condition


@contextmanager
def started_browser(chromium: str) -> Iterator[Browser]:
    """A running browser. Django's guard against its use in an event loop is off: the loop is Playwright's."""
    before = os.environ.get("DJANGO_ALLOW_ASYNC_UNSAFE")
    os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "1"
    try:
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
            yield browser
            browser.close()
    finally:
        del os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"]
        if before is not None:
            os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = before
