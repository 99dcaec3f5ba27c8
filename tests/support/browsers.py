"""Headless Chromium, for tests of the pages and for pictures of them."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from playwright.sync_api import Browser, sync_playwright

INSTALLED: Final = "/usr/bin/chromium"
DRAWN: Final = """() => [...document.querySelectorAll(".chart:not([hidden])")].every((box) => {
  box.scrollIntoView();
  return box.querySelector("canvas");
})"""
"""Whether all charts of a page are drawn, each of which begins when it is in view."""


def find_chromium() -> str | None:
    """The path of Chromium; None if it is not installed."""
    chromium = shutil.which("chromium") or INSTALLED
    return chromium if Path(chromium).exists() else None


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
