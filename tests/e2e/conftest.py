"""Fixtures of the tests in a real browser."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from django.core.cache import caches
from playwright.sync_api import Browser, ConsoleMessage, Page
from pytest_django.live_server_helper import LiveServer

from tests.support.browsers import find_chromium, started_browser
from tests.support.filled_site import Site, fill_site


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    chromium = find_chromium()
    if chromium is None:
        pytest.skip("no chromium here: apt-get install chromium")
    with started_browser(chromium) as browser:
        yield browser


@pytest.fixture
def site(transactional_db: None) -> Site:
    caches["shared"].clear()  # counts of log-ins; its table is not emptied between tests
    return fill_site()


@pytest.fixture
def page(browser: Browser, live_server: LiveServer) -> Iterator[Page]:
    """A page on which an error in the console, the policy's included, fails the test."""
    context = browser.new_context(base_url=live_server.url, viewport={"width": 1280, "height": 900})
    page, complaints = context.new_page(), list[str]()

    def listen(message: ConsoleMessage) -> None:
        if message.type in {"error", "warning"}:
            complaints.append(message.text)

    page.on("console", listen)
    page.on("pageerror", lambda error: complaints.append(str(error)))
    yield page
    context.close()
    assert complaints == []
