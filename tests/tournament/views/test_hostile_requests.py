"""Requests that no page of ours sends: the site refuses or ignores what they hold, and never breaks on it.

The fields of an address are those that it has been seen to read, so that a new one is covered by itself.
"""

from __future__ import annotations

import re
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import quote

import pytest
from django.apps import apps
from django.core.handlers.wsgi import WSGIRequest
from django.db import connection, transaction
from django.http import HttpResponse, QueryDict
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver
from django.utils.datastructures import MultiValueDict
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.support import effort
from tests.support.addresses import EXPECTED, address_of
from tests.support.filled_site import LogIn, Site
from tournament.models import Token
from tournament.security import Utf8Request
from tournament.services.accounts.tokens import create_token
from workers.bundles.bundle_site import PROTOCOL_HEADER
from workers.jobs import PROTOCOL

pytestmark = [pytest.mark.django_db, pytest.mark.slow]
HOSTILE: Final = (
    "a\0b",
    "9" * 18,
    "9" * 30,
    "9" * 5000,
    "-1",
    "nan",
    "1e400",
    "\u0661\u0662",
    "\ud800",
    "\udcff" * 3,
    "x" * 20_000,
    "\u202e",
    "' OR 1=1 --",
    "%s%n{0}{{ 1 }}",
    "0000-00-00",
    "9999-12-31T23:59",
    "0001-01-01",
    "../../etc/passwd",
    "\r\nSet-Cookie: a=b",
    "running-9999999999999999999999-1-1",
    "[" * 10_000,
    "",
)
"""Zero bytes, numbers and times that no column holds, lone surrogates, digits of other scripts, markup."""
UNSTORABLE: Final = ("a\0b", "\ud800", "9" * 18, "9" * 30, "0001-01-01", "9999-12-31T23:59")
"""One of each kind that a database or a column refuses."""
EMPTY: Final = ""
"""What many rows have in a column that not each of them needs."""
HARMLESS: Final = (
    "1",
    "0",
    "on",
    "2",
    "dogon-kulei",
    "2026-01-02T03:04",
    "5+0.1",
    "stone-age",
    "olga",
    "csv",
    "games",
)
"""Values that some fields accept, so that the code behind them is reached."""
PARAMETERS: Final = (
    "",
    "",
    *(f"; charset={name}" for name in ("unicode_escape", "hex", "undefined", "idna")),
    "; x*=hex''%41",
)
"""Content types; some name codecs that raise or that make lone surrogates."""
FORM: Final = "application/x-www-form-urlencoded"
EXAMPLES: Final = {"quick": 100, "default": 300, "all": 1500}[effort.MODE]
ANOTHER_DATABASE: Final = 300
"""So many on PostgreSQL, beside each value that a column refuses: the other code has run on SQLite."""

FIRST: Final = (("more", "1"),)
"""A field of forms whose other fields are not read without it."""
SEEN: Final = {
    ("games/", "GET"): ("since", "min_plies", "opening"),
    ("tournaments/new/", "POST"): ("bots", "starts_at"),
    ("account/tokens/", "POST"): ("name", "scopes"),
    ("staff/annul/", "POST"): ("worker", "until"),
    ("api/bots/", "POST"): ("bundle", "notes"),
    ("admin/tournament/user/<path:object_id>/change/", "POST"): ("username", "_to_field"),
}
"""Some fields of strangers, users, staff and programs; they show that all pages are reached."""

VALUES = st.sampled_from(HOSTILE) | st.sampled_from(HARMLESS) | st.text(max_size=20)


@dataclass(frozen=True, slots=True)
class Address:
    """A pattern of the URL configuration, with an address that it matches."""

    name: str
    route: str
    example: str

    def path(self, parts: dict[str, str]) -> str:
        """The address with other parts in the place of those that vary."""
        if not parts:
            return self.example
        return re.sub(
            r"<(?:\w+:)?(\w+)>|\(\?P<(\w+)>[^)]*\)",
            lambda found: quoted(parts.get(found[1] or found[2], "1")),
            "/" + self.route.strip("^$"),
        )

    @property
    def variables(self) -> list[str]:
        return [one or other for one, other in re.findall(r"<(?:\w+:)?(\w+)>|\(\?P<(\w+)>", self.route)]


def quoted(text: str) -> str:
    return quote(text.encode("utf-8", "surrogatepass"), safe="")


def urlencoded(fields: Sequence[tuple[str, str]]) -> str:
    return "&".join(f"{quoted(name)}={quoted(value)}" for name, value in fields)


def multipart(fields: Sequence[tuple[str, str]], more: str) -> bytes:
    """A form with ``more`` parameters of each field, such as a file's name."""
    parts = []
    for name, value in fields:
        head = f'--x\r\nContent-Disposition: form-data; name="{name}"{more}\r\n\r\n'
        parts.append(head.encode("utf-8", "surrogatepass") + value.encode("utf-8", "surrogatepass") + b"\r\n")
    return b"".join(parts) + b"--x--\r\n"


def patterns(found: Sequence[Any], before: str = "") -> Iterator[tuple[str, str]]:
    """The name and the route of every address of the URL configuration."""
    for pattern in found:
        route = before + str(pattern.pattern)
        if isinstance(pattern, URLResolver):
            yield from patterns(pattern.url_patterns, route)
        else:
            assert isinstance(pattern, URLPattern)
            yield pattern.name or route, route


def row_of(route: str) -> str:
    """The key of a row of the table that an address of the administration shows; "1" if there is none."""
    of_table = re.match(r"admin/(\w+)/(\w+)/<path:object_id>", route)
    if of_table is None:
        return "1"
    rows = apps.get_model(of_table[1], of_table[2])._default_manager.order_by("pk")
    first = rows.values_list("pk", flat=True).first()
    return "1" if first is None else quoted(str(first))


def addresses(site: Site) -> list[Address]:
    """Every address; those of the administration with rows of this site."""
    found = []
    for name, route in patterns(get_resolver().url_patterns):
        if name in EXPECTED and not route.startswith("admin/"):
            example = address_of(site, EXPECTED[name][0].removeprefix("POST ")).partition("?")[0]
        else:
            variable = r"<[^>]*>|\(\?P<\w+>[^)]*\)"
            example = "/" + re.sub(variable, row_of(route), route.strip("^$").replace("\\", ""))
        found.append(Address(name, route, example))
    return found


class WatchedFields:
    """Notes the names that each address looks up in its query, form and files."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.of: dict[tuple[str, str], set[str]] = defaultdict(set)
        """By route and method."""
        self.now = ("", "")
        """What is being asked."""
        for method in ("__getitem__", "__contains__", "getlist", "get"):
            monkeypatch.setattr(MultiValueDict, method, self._noting(getattr(MultiValueDict, method)))

    def _noting(self, method: Callable[..., Any]) -> Callable[..., Any]:
        def look_up(fields: Any, name: object, *more: Any, **named: Any) -> Any:
            is_of_request = isinstance(fields, QueryDict) or not fields  # the files, of which none is sent
            if is_of_request and isinstance(name, str):
                self.of[self.now].add(name)
            return method(fields, name, *more, **named)

        return look_up


@dataclass(frozen=True, slots=True)
class Visitors:
    """The cookies of visitors by what they may do."""

    cookies: Sequence[dict[str, str]]
    token: str

    def ask(self, request: OddRequest) -> HttpResponse:
        """Each time with a new client: an answer may delete its cookies."""
        headers = {}
        if request.path.startswith("/api/"):
            headers = {"Authorization": f"Bearer {self.token}", PROTOCOL_HEADER: str(PROTOCOL)}
        client: Any = Client()
        client.cookies.load(self.cookies[request.visitor])
        response: HttpResponse = client.generic(
            request.method, request.path, request.body, request.content_type, headers=headers
        )
        return response


def visitors(site: Site) -> Visitors:
    """A stranger, a bot's owner and staff; both users have just entered their passwords."""
    cookies: list[dict[str, str]] = [{}]
    for user in (site.owner, site.staff):
        client = Client()
        client.force_login(user)
        session = client.session
        session["account_authentication_methods"] = [{"method": "password", "at": time.time()}]
        session.save()
        cookies.append({name: morsel.value for name, morsel in client.cookies.items()})
    return Visitors(cookies, create_token(site.staff, "all", Token.Scope.values)[1])


@dataclass(frozen=True, slots=True)
class OddRequest:
    """What is asked, and by which visitor."""

    visitor: int
    method: str
    path: str
    content_type: str
    body: bytes


@st.composite
def odd_requests(draw: st.DrawFn, address: Address, fields: Sequence[str]) -> OddRequest:
    """A request with odd values in the path, the query and the form."""
    changed = draw(st.sets(st.sampled_from(address.variables))) if address.variables else set()
    path = address.path({name: draw(VALUES) for name in sorted(changed)})
    some = st.lists(st.tuples(st.sampled_from(fields), VALUES), max_size=8) if fields else st.just([])
    query, form = urlencoded(draw(some)), draw(some)
    kind = draw(st.sampled_from(["nothing", "form", "parts", "json"]))
    if kind == "parts":
        names = ("", '; filename="a.zip"', '; filename="\ud800"', "; filename*=hex''%41")
        body, content_type = multipart(form, draw(st.sampled_from(names))), "multipart/form-data; boundary=x"
    elif kind == "form":
        body, content_type = urlencoded(form).encode(), FORM
    else:
        body = (
            draw(st.sampled_from([b'{"a": "\\ud800"}', b"[" * 100_000, b"\xff"])) if kind == "json" else b""
        )
        content_type = "application/json"
    content_type += draw(st.sampled_from(PARAMETERS))
    method = "GET" if kind == "nothing" else "POST"
    return OddRequest(draw(st.integers(0, 2)), method, f"{path}?{query}", content_type, body)


def each_odd_value(address: Address, queried: Sequence[str], sent: Sequence[str]) -> Iterator[OddRequest]:
    """Requests of staff with one odd value each, in every field and every part of the path."""
    for value in (EMPTY, *UNSTORABLE):
        paths = [address.path({name: value}) for name in address.variables]
        paths += [f"{address.example}?{urlencoded([(name, value)])}" for name in queried]
        for path in paths:
            yield OddRequest(2, "GET", path, FORM, b"")
        for name in sent:
            form = urlencoded(list((dict(FIRST) | {name: value}).items()))
            yield OddRequest(2, "POST", address.example, FORM, form.encode())


def test_no_address_breaks_on_odd_values(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    request_class = type("Request", (Utf8Request, WSGIRequest), {})
    monkeypatch.setattr("django.test.client.WSGIRequest", request_class)
    watched, clients = WatchedFields(monkeypatch), visitors(site)
    everywhere = addresses(site)

    def ask(address: Address, request: OddRequest) -> None:
        watched.now = address.route, request.method
        with transaction.atomic():
            response = clients.ask(request)
            if response.streaming:
                response.getvalue()
            transaction.set_rollback(True)
        assert response.status_code < 500 or address.route == "healthz"  # no record keeper works here
        assert "a" not in response.cookies

    for address in everywhere:  # to learn their fields
        for visitor, method in ((2, "GET"), (2, "POST"), (0, "POST")):
            ask(address, OddRequest(visitor, method, address.example, FORM, urlencoded(FIRST).encode()))
    for learned, fields in SEEN.items():
        assert set(fields) <= watched.of[learned], "the fields of the page were not learned"

    queried, sent = (
        {address.route: sorted(watched.of[address.route, method]) for address in everywhere}
        for method in ("GET", "POST")
    )
    ours = [address for address in everywhere if not address.route.startswith("admin/")]
    chosen = [*everywhere, *ours, *ours, *ours]

    examples = EXAMPLES if connection.vendor == "sqlite" else min(EXAMPLES, ANOTHER_DATABASE)

    @settings(max_examples=examples, suppress_health_check=list(HealthCheck))
    @given(st.integers(0, len(chosen) - 1), st.data())
    def break_one(number: int, data: st.DataObject) -> None:
        address = chosen[number]
        ask(address, data.draw(odd_requests(address, [*queried[address.route], *sent[address.route]])))

    break_one()
    for address in ours if effort.MODE == "all" else ():
        for request in each_odd_value(address, queried[address.route], sent[address.route]):
            ask(address, request)


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
    "half a fragment": {"X-Part": "true", "X-Reload": "<script>", "Last-Event-ID": "\xe9"},
    "an unknown language": {"Accept-Language": "x" * 4000, "Accept-Encoding": "gzip;q=nan, br;q=9"},
}


@pytest.mark.parametrize("what", HEADERS)
def test_no_address_breaks_on_odd_headers(site: Site, what: str) -> None:
    client = Client(raise_request_exception=False)
    asks_for_part = {200} if "X-Part" in HEADERS[what] else set()
    for name, (address, expected) in EXPECTED.items():
        if address.startswith("POST "):
            continue
        response = client.get(address_of(site, address), headers=HEADERS[what])
        allowed = {expected[0], 206, 304, 400, 412, 416} | asks_for_part
        if address.startswith("/api/v1/") and "a token" in what:
            allowed = {401}
        assert response.status_code in allowed, (name, response.status_code)
        if response.streaming:
            response.getvalue()


@pytest.mark.parametrize("method", ["PUT", "PATCH", "DELETE", "TRACE", "OPTIONS", "PROPFIND"])
def test_no_address_takes_other_methods(site: Site, as_user: LogIn, method: str) -> None:
    client = as_user(site.staff)
    for name, (address, _) in EXPECTED.items():
        path = address_of(site, address.removeprefix("POST "))
        response = client.generic(method, path)
        allowed = {302, 404, 405, *((200, 204) if method == "OPTIONS" else ())}
        if method == "DELETE" and name.startswith("v1-follow-"):
            allowed = {401}  # a token follows it no more
        assert response.status_code in allowed, (name, response.status_code)
