"""Fixtures of the tests in a real browser."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, closing
from typing import Any

import pytest
from django.core.cache import caches
from playwright.sync_api import Browser, ConsoleMessage, Page
from pytest_django.live_server_helper import LiveServer

from tests.e2e.pages import DESK, PHONE, Visit
from tests.support.browsers import NO_STREAMS, POLLS_OFTEN, started_browser
from tests.support.filled_site import Site, fill_site
from tests.support.needs import need


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    chromium = need("chromium")
    with started_browser(chromium) as browser:
        yield browser


@pytest.fixture
def site(transactional_db: None) -> Site:
    caches["default"].clear()  # counts of log-ins; its table is not emptied between tests
    return fill_site()


@pytest.fixture
def visit(browser: Browser, live_server: LiveServer) -> Iterator[Visit]:
    """Opens a page in a browser of its own; the options are those of ``Browser.new_context``."""
    with ExitStack() as stack:

        def opened(**options: Any) -> Page:
            context = browser.new_context(base_url=live_server.url, **options)
            context.add_init_script(NO_STREAMS + POLLS_OFTEN)
            stack.enter_context(closing(context))
            return context.new_page()

        yield opened


@pytest.fixture
def unscripted(visit: Visit) -> Page:
    """A page without JavaScript on a phone."""
    return visit(java_script_enabled=False, viewport=PHONE)


@pytest.fixture
def page(visit: Visit) -> Iterator[Page]:
    """A page on which an error in the console, the policy's included, fails the test."""
    page, complaints = visit(viewport=DESK), list[str]()

    def listen(message: ConsoleMessage) -> None:
        if message.type in {"error", "warning"}:
            complaints.append(message.text)

    page.on("console", listen)
    page.on("pageerror", lambda error: complaints.append(str(error)))
    yield page
    page.close()
    assert complaints == []
