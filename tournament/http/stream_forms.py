"""What a stream is asked for and how it is written: server-sent events, or lines of JSON for programs.

Pages have only the first. Programs ask at the addresses ``/api/v1/…/events/`` and get both from the same
response of a view: a line for each event (``tournament.api.v1.events.types``), with its ``id`` as that of the
server-sent event.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl, urlencode

import msgspec
from django.conf import settings
from django.http.response import HttpResponseBase

from tournament.http.limits import API_PATHS, BEAT_SECONDS
from tournament.views.polling import AFTER, LINES_TYPE, PART

Scope = Mapping[str, Any]
EVENTS_TYPE = "text/event-stream"
RETRY_MS = (1000, 3000)
"""A client of server-sent events comes back after so long."""


@dataclass(frozen=True, slots=True)
class StreamForm:
    """A way to write a stream."""

    content_type: str
    hello: bytes
    """Shows the client that something reaches it."""
    beat: bytes
    """Shows that the stream is alive, also to proxies."""

    def begin(self) -> bytes:
        """The first bytes of a stream."""
        retry = b"retry: %d\n\n" % random.randint(*RETRY_MS) if self is SENT_EVENTS else b""
        return retry + self.hello


SENT_EVENTS = StreamForm(EVENTS_TYPE, b"event: hello\ndata:\n\n", b"event: beat\ndata:\n\n")
JSON_LINES = StreamForm(LINES_TYPE, b"\n", b"\n")


class _Named(msgspec.Struct):
    """What is read of an event's line."""

    id: str


def form_of(scope: Scope) -> StreamForm | None:
    """The form in which a client asks for a stream; None if it asks for none."""
    if scope["method"] != "GET":
        return None
    accepted = dict(scope["headers"]).get(b"accept", b"").decode("latin-1")
    if not is_for_programs(scope["path"]):
        return SENT_EVENTS if accepted == EVENTS_TYPE else None
    kinds = [kind.partition(";")[0].strip().lower() for kind in accepted.split(",")]
    return next((form for form in (SENT_EVENTS, JSON_LINES) if form.content_type in kinds), None)


def is_for_programs(path: str) -> bool:
    """Whether streams of this address have events for programs, not parts of pages."""
    return path.startswith(API_PATHS) and path.endswith("/events/")


def beat_seconds(path: str) -> float:
    """How long a stream of this address may be silent; a page is told each time that nothing has changed."""
    return BEAT_SECONDS if is_for_programs(path) else 0.0


def query_of(scope: Scope) -> bytes:
    """The query with which a stream begins: the client's, or where it was before."""
    query: bytes = scope["query_string"]
    last: bytes = dict(scope["headers"]).get(b"last-event-id", b"")
    if not last:
        return query
    if not is_for_programs(scope["path"]):
        return last
    kept = [(name, value) for name, value in parse_qsl(query.decode("latin-1")) if name != AFTER]
    return urlencode([*kept, (AFTER, last.decode("latin-1"))]).encode()


def framed(response: HttpResponseBase, query: bytes) -> dict[str, bytes]:
    """What a view's response is in each form, by content type; ``query`` is that of the next request."""
    content: bytes = response.content  # type: ignore[attr-defined]
    if response.headers["Content-Type"] == LINES_TYPE:
        lines = content.splitlines()
        named = [(msgspec.json.decode(line, type=_Named).id.encode(), line) for line in lines]
        return {LINES_TYPE: content, EVENTS_TYPE: b"".join(b"id: %b\ndata: %b\n\n" % one for one in named)}
    lines = [b"data: %b\n" % line for line in content.splitlines()]
    return {EVENTS_TYPE: b"id: %b\n%b\n" % (query, b"".join(lines))}


def credentials_of(scope: Scope) -> bytes:
    """What says who asks; empty for a visitor. The API reads no cookies, and pages read no tokens."""
    headers = dict(scope["headers"])
    if is_for_programs(scope["path"]):
        kind, _, token = headers.get(b"authorization", b"").decode("latin-1").partition(" ")
        token = token.strip() if kind.lower() == "bearer" else ""
        return f"Bearer {token}".encode("latin-1") if token else b""
    session, csrf = (
        b"%b=" % name.encode() for name in (settings.SESSION_COOKIE_NAME, settings.CSRF_COOKIE_NAME)
    )
    kept = sorted(one for one in headers.get(b"cookie", b"").split(b"; ") if one.startswith((session, csrf)))
    return b"; ".join(kept) if any(one.startswith(session) for one in kept) else b""


def without_credentials(scope: Scope) -> Scope:
    """The same request of a visitor."""
    kept = [one for one in scope["headers"] if one[0] not in {b"cookie", b"authorization"}]
    return {**scope, "headers": kept}


def headers_of(scope: Scope) -> list[tuple[bytes, bytes]]:
    """The headers with which a view is asked for a part: as in a poll, not compressed."""
    kept = [(name, value) for name, value in scope["headers"] if name in {b"host", b"user-agent"}]
    name = b"authorization" if is_for_programs(scope["path"]) else b"cookie"
    credentials = credentials_of(scope)
    return [*kept, *([(name, credentials)] if credentials else []), (PART.lower().encode(), b"true")]
