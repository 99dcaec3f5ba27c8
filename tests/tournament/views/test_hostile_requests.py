"""Requests that no page of ours sends: the site refuses or ignores what they hold, and never breaks on it."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from urllib.parse import urlencode

import pytest
from django.http import HttpResponse
from django.test import Client

from tests.support.addresses import EXPECTED, address_of
from tests.support.filled_site import Site

pytestmark = [pytest.mark.django_db, pytest.mark.slow]
NAMES = (
    *("after", "before", "boards", "bot", "colour", "fault", "flip", "from", "id", "kind", "ladder"),
    *("max_plies", "min_plies", "min_sequence", "moves", "next", "one", "opening", "opponent", "opponents"),
    *("order", "other", "owner", "page", "pair", "q", "rated", "result", "round", "seen", "since", "sort"),
    *("table", "termination", "to", "tournament", "until", "v", "version", "with", "worker"),
)
VALUES: dict[str, str | bytes] = {
    "a zero byte": "a\0b",
    "the largest whole number": "9" * 18,
    "a number over 64 bits": "9" * 30,
    "a number that Python does not read": "9" * 5000,
    "a negative number": "-1",
    "no number": "nan",
    "digits of another script": "١٢",
    "half a character": "\ud800".encode("utf-8", "surrogatepass"),
    "a long text": "x" * 20_000,
    "a mark that turns the text round": "\u202e",
    "SQL": "' OR 1=1 --",
    "formats": "%s%n{0}{{ 1 }}",
    "a date that does not exist": "0000-00-00",
    "a path": "../../etc/passwd",
    "a header": "\r\nSet-Cookie: a=b",
    "a state that was seen": "running-9999999999999999999999-1-1",
}

READ_EVERYWHERE = ("a zero byte", "a number over 64 bits", "half a character", "a date that does not exist")
"""Values of which each has broken a page; the others are for thorough runs."""


def requests(client: Client, site: Site, value: str | bytes) -> Iterator[tuple[str, HttpResponse]]:
    """Each address with this value for all parameters, and for some of them; forms with it in all fields."""
    chance = random.Random(1)
    for name, (address, _) in EXPECTED.items():
        path = address_of(site, address.removeprefix("POST ")).partition("?")[0]
        for names in (NAMES, chance.sample(NAMES, 4)):
            query = urlencode(dict.fromkeys(names, value))
            if address.startswith("POST "):
                fields = dict.fromkeys((*NAMES, "more", "name", "priority", "reason"), value)
                yield name, client.post(f"{path}?{query}", fields)  # type: ignore[misc]
            else:
                yield name, client.get(f"{path}?{query}")  # type: ignore[misc]


@pytest.mark.parametrize(
    "what",
    [what if what in READ_EVERYWHERE else pytest.param(what, marks=pytest.mark.thorough) for what in VALUES],
)
def test_no_address_breaks_on_odd_parameters(site: Site, as_user: Callable[..., Client], what: str) -> None:
    client = as_user(site.staff)
    client.raise_request_exception = False
    for name, response in requests(client, site, VALUES[what]):
        assert response.status_code < 500, (name, getattr(response, "exc_info", None))
        if response.streaming:
            response.getvalue()
        assert "a" not in response.cookies


HEADERS = {
    "an upgrade": {"Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Key": "x" * 24},
    "a range": {"Range": "bytes=0-10"},
    "many ranges": {"Range": "bytes=" + ",".join("0-" for _ in range(1000))},
    "a range that ends before it begins": {"Range": "bytes=9-1"},
    "a broken range": {"Range": "bytes=--1"},
    "a broken date": {"If-Modified-Since": "yesterday", "If-Unmodified-Since": "x"},
    "a broken tag": {"If-None-Match": '"' * 5000},
    "a method in a header": {"X-HTTP-Method-Override": "DELETE"},
    "a path in a header": {"X-Original-URL": "/admin/", "X-Rewrite-URL": "/admin/"},
    "a token that is no text": {"Authorization": "Bearer \xff\xfe"},
    "an empty token": {"Authorization": "Bearer "},
    "cookies without sense": {"Cookie": "sessionid=../../x; csrftoken=\x7f; =; ;;"},
    "half a fragment": {"HX-Request": "true", "HX-Target": "<script>", "HX-Current-URL": "\xe9"},
    "an unknown language": {"Accept-Language": "x" * 4000, "Accept-Encoding": "gzip;q=nan, br;q=9"},
}


@pytest.mark.parametrize("what", HEADERS)
def test_no_address_breaks_on_odd_headers(site: Site, what: str) -> None:
    client = Client(raise_request_exception=False)
    for name, (address, expected) in EXPECTED.items():
        if address.startswith("POST "):
            continue
        response = client.get(address_of(site, address), headers=HEADERS[what])
        assert response.status_code in {expected[0], 206, 304, 400, 412, 416}, (name, response.status_code)
        if response.streaming:
            response.getvalue()


@pytest.mark.parametrize("method", ["PUT", "PATCH", "DELETE", "TRACE", "OPTIONS", "PROPFIND"])
def test_no_address_takes_other_methods(site: Site, as_user: Callable[..., Client], method: str) -> None:
    client = as_user(site.staff)
    for name, (address, _) in EXPECTED.items():
        path = address_of(site, address.removeprefix("POST "))
        response = client.generic(method, path)
        assert response.status_code in {302, 404, 405, *((200,) if method == "OPTIONS" else ())}, (
            name, response.status_code,
        )  # fmt: skip
