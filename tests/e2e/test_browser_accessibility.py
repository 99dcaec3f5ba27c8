"""Every page of the site in a browser: axe's findings, errors in the console, widths and weights.

The addresses are those of `tests.support.addresses`; Django's own administration is left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Literal

import pytest
from allauth.core.ratelimit import respond_429
from django.conf import settings
from django.contrib.auth.models import AnonymousUser
from django.core.exceptions import SuspiciousOperation
from django.http import HttpResponse
from django.test import Client, RequestFactory
from django.urls import URLPattern
from django.views import defaults
from playwright.sync_api import Browser, ConsoleMessage, Page, Response
from pytest_django.live_server_helper import LiveServer

from tests.e2e.pages import violations
from tests.support.addresses import EXPECTED, address_of, all_addresses
from tests.support.browsers import DRAWN, NO_STREAMS, wait_in
from tests.support.filled_site import LADDER, Site, add_version
from tests.support.sampled import speak, store_samples
from tests.support.weights import MAX_BYTES, weight
from tournament.urls import urlpatterns

READ_MOST: Final = (
    "/",
    "/ladders/dogon-kulei/",
    "/bots/stone-age/",
    "/games/",
    "/games/{played}/",
    "/tournaments/{running}/",
    "/rules/dogon-kulei/",
    "/log-in/",
)
VISITORS: Final = ("guest", "owner", "staff")
SCROLLS: Final = "document.documentElement.scrollWidth > document.documentElement.clientWidth"


@dataclass(frozen=True, slots=True)
class Window:
    """The size of a window and its colour scheme."""

    width: int
    height: int
    scheme: Literal["light", "dark"]

    def __str__(self) -> str:
        return f"{self.width} {self.scheme}"


WINDOWS: Final = (Window(1280, 900, "light"), Window(360, 740, "dark"))
ZOOMED: Final = 640
"""The width of the first window at 200 %, in the pixels of the page."""


@dataclass
class Probe:  # without slots: Playwright sets attributes
    """A page that collects what is wrong with the addresses it opens."""

    page: Page
    weights: dict[str, int] = field(default_factory=dict)
    """Bytes of the resources seen so far, by address."""
    complaints: list[str] = field(default_factory=list)
    responses: list[Response] = field(default_factory=list)
    found: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.page.on("console", self._listen)
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("response", lambda response: self._note(response))

    def examine(self, path: str, *, is_error: bool = False) -> None:
        """Open the address and add what is wrong in each window to ``found``.

        The console is not looked at if the answer ``is_error``: Chromium reports its status there.
        """
        self.complaints.clear()
        for number, window in enumerate(WINDOWS):
            self.page.set_viewport_size({"width": window.width, "height": window.height})
            self.page.emulate_media(color_scheme=window.scheme)
            if not number:
                self.page.goto(path, wait_until="networkidle")
                self._weigh(path)
            self._run(f"{path} {window}")
        self.page.set_viewport_size({"width": ZOOMED, "height": 450})
        if self.page.evaluate(SCROLLS):
            self.found.append(f"{path} at 200 %: the page scrolls sideways")
        if not is_error:
            self.found += [f"{path}: console: {text}" for text in self.complaints]

    def _note(self, response: Response) -> None:
        """Remember the responses to this page: what arrives late for the page before it is dropped."""
        if response.request.is_navigation_request():
            self.responses.clear()
        self.responses.append(response)

    def _run(self, where: str) -> None:
        self.found += [f"{where}: {text}" for text in violations(self.page)]
        if self.page.evaluate(SCROLLS):
            self.found.append(f"{where}: the page scrolls sideways")

    def _weigh(self, path: str) -> None:
        wait_in(self.page, DRAWN)
        size = sum(self._weight(response) for response in self.responses)
        if size > MAX_BYTES:
            self.found.append(f"{path}: {size} bytes, more than {MAX_BYTES}")

    def _weight(self, response: Response) -> int:
        kind = response.headers.get("content-type", "")
        if kind.startswith("image/") or response.status in {204, *range(300, 400)}:
            return 0
        if "/static/" not in response.url:
            return weight(response.url, response.body())
        if response.url not in self.weights:
            self.weights[response.url] = weight(response.url, response.body())
        return self.weights[response.url]

    def _listen(self, message: ConsoleMessage) -> None:
        if message.type in {"error", "warning"}:
            self.complaints.append(message.text)


@pytest.fixture
def addresses(site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Every address that answers to GET; fails for an address that the table does not fill."""
    known = {pattern.name for pattern in urlpatterns if isinstance(pattern, URLPattern)}
    assert known <= EXPECTED.keys()
    monkeypatch.setattr(settings, "BUNDLES", tmp_path)
    others = [add_version(site.rival, f"Other {number}") for number in range(8)]
    store_samples(LADDER, [site.white, *others])
    speak(site.live, others[0])
    return all_addresses(site)


@pytest.mark.slow
def test_the_pages_that_guests_read_most_are_accessible_and_small_and_report_no_error(
    site: Site, browser: Browser, live_server: LiveServer
) -> None:
    with examined(browser, live_server.url, Client()) as probe:
        for template in READ_MOST:
            probe.examine(address_of(site, template))
    assert probe.found == [], "\n".join(probe.found)


@pytest.mark.thorough
@pytest.mark.parametrize("number", range(len(VISITORS)), ids=VISITORS)
def test_every_page_is_accessible_and_small_and_reports_no_error(
    site: Site, addresses: list[str], browser: Browser, live_server: LiveServer, number: int
) -> None:
    """The same content is examined once: what differs around it is on the visitor's other pages."""
    *earlier, client = visitors(site)[: number + 1]
    with examined(browser, live_server.url, client) as probe:
        pages = [path for path in addresses if _is_new(path, client, earlier)]
        for path in pages:
            probe.examine(path)
    assert len(pages) > 20
    assert probe.found == [], "\n".join(probe.found)


def visitors(site: Site) -> list[Client]:
    clients = [Client() for _ in VISITORS]
    for client, user in zip(clients[1:], (site.owner, site.staff), strict=True):
        client.force_login(user)
    return clients


@pytest.mark.parametrize("status", [400, 404, 405, 413, 429, 500])
def test_the_page_of_an_error_is_accessible_and_reports_no_error(
    site: Site, browser: Browser, live_server: LiveServer, status: int
) -> None:
    answer = _error_page(status)
    assert answer.status_code == status
    with examined(browser, live_server.url, Client()) as probe:
        # Chromium reports a status of 400 or more in the console, so the page comes with status 200.
        probe.page.route(
            "**/error/",
            lambda route: route.fulfill(content_type="text/html; charset=utf-8", body=answer.getvalue()),
        )
        probe.examine("/error/")
    assert probe.found == [], "\n".join(probe.found)


def _error_page(status: int) -> HttpResponse:
    request = RequestFactory().get("/account/password/")
    request.user = AnonymousUser()
    if status == 400:
        return defaults.bad_request(request, SuspiciousOperation())
    if status == 429:
        return respond_429(request)  # type: ignore[no-any-return]
    if status == 500:
        return defaults.server_error(request)
    if status == 413:
        return Client().generic("POST", "/log-in/", b"x" * 600_000)  # type: ignore[return-value]
    return Client().get({404: "/nowhere/", 405: "/log-out/"}[status])  # type: ignore[return-value]


def test_the_probe_finds_what_is_wrong_with_a_page(browser: Browser, live_server: LiveServer) -> None:
    with examined(browser, live_server.url, Client()) as probe:
        heavy = "".join(f"{number**9}," for number in range(20_000))
        body = f"<h3>x</h3><img src='/none.png'><p style='width: 9999px'>{heavy}</p>"
        probe.page.route("**/bad/", lambda route: route.fulfill(content_type="text/html", body=body))
        probe.page.route("**/none.png", lambda route: route.fulfill(status=404))
        probe.examine("/bad/")
    found = "\n".join(probe.found)
    for complaint in (
        "image-alt",
        "html-has-lang",
        "dark: the page scrolls",
        "200 %: the page scrolls",
        "bytes, more than",
        "console: ",
    ):
        assert complaint in found


@contextmanager
def examined(browser: Browser, address: str, client: Client) -> Iterator[Probe]:
    """A probe with the session of the client."""
    context = browser.new_context(base_url=address)
    context.add_init_script(NO_STREAMS)
    if session := client.cookies.get(settings.SESSION_COOKIE_NAME):
        context.add_cookies([{"name": session.key, "value": session.value, "url": address}])
    yield Probe(context.new_page())
    context.close()


def _is_new(path: str, client: Client, earlier: Sequence[Client]) -> bool:
    """Whether the answer is a page that no earlier visitor has seen."""
    content = _content(client, path)
    return content != "" and all(_content(other, path) != content for other in earlier)


def _content(client: Client, path: str) -> str:
    """The part of a page that may differ between visitors beside its frame; empty if it is no page."""
    answer = client.get(path)
    if answer.status_code != 200 or not answer["Content-Type"].startswith("text/html"):
        return ""
    page = re.sub(r'(name="csrfmiddlewaretoken" value=)"\w+"', r"\1", answer.content.decode())
    found = re.search(r"<main.*</main>", page, re.DOTALL)
    return found[0] if found else page
