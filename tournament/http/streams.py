"""Streams of server-sent events: the server polls a part of a page for all who show it in the same state.

Asked for ``text/event-stream``, the address of such a part (``tournament.views.polling``) gives a stream. An
event has the part as the same view makes it for a poll; its id is the query of the next poll, so a client
that comes back is sent what it missed. A view is called once for all streams of the process with the same
address, and for each logged-in user.

A stream keeps nothing that its client has not taken: a slow client gets fewer events, each with all that is
new to it. The system closes a connection of which nothing is taken for ``limits.UNREAD_SECONDS``.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.http.response import HttpResponseBase

from tournament.http.changes import Changes
from tournament.http.limits import (
    CONTENT_KEPT_SECONDS,
    PARTS,
    STREAMS,
    STREAMS_PER_ADDRESS,
    AtOnce,
    RefusedRequest,
)
from tournament.views.polling import PART, RELOAD, LivePart

EVENTS = b"text/event-stream"
HEADERS = [
    (b"content-type", b"text/event-stream; charset=utf-8"),
    (b"cache-control", b"no-store, no-transform"),
    (b"x-accel-buffering", b"no"),
]
"""The last two keep proxies from compressing and from holding events back."""
HELLO = b"event: hello\ndata:\n\n"
"""Shows the page that events reach it."""
BEAT = b"event: beat\ndata:\n\n"
"""Shows that the stream is alive, also to proxies."""
RELOAD_PAGE = b"event: reload\ndata:\n\n"
RETRY_MS = (1000, 3000)
"""A client comes back after so long."""
STOPS = "The server is being restarted."

Scope = Mapping[str, Any]
Key = tuple[bytes, ...]
Ask = Callable[[Scope, str], Awaitable[HttpResponseBase]]


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a page as a view made it after the change ``since``; without an event if it is as before."""

    response: HttpResponseBase
    event: bytes
    follow: LivePart | None
    is_personal: bool
    """Whether it was made for a logged-in user; a session that has ended, or never was, is nobody's."""
    query: bytes
    """The query of the next request."""
    since: int
    made: float


@dataclass(slots=True, eq=False)
class Stream:
    """One client."""

    task: asyncio.Future[None] | None = None
    topics: tuple[str, ...] = ()


class Streams:
    """The streams of one process. ``ask`` calls Django, in the turn of an address."""

    def __init__(self, ask: Ask) -> None:
        self._ask = ask
        self._changes = Changes(self._watched)
        self._open = set[Stream]()
        self._limit = AtOnce("followed pages", STREAMS, STREAMS_PER_ADDRESS)
        self._parts: dict[Key, asyncio.Task[Part]] = {}
        self._listener: asyncio.Task[None] | None = None
        self._is_stopping = False

    def note(self, *topics: str) -> None:
        """These have changed, as if Redis had said so."""
        self._changes.note(topics)

    def stop(self) -> None:
        """End all streams: their clients come back and get another process."""
        self._is_stopping = True
        for stream in self._open:
            if stream.task is not None:
                stream.task.cancel()

    async def serve(self, scope: Scope, address: str, receive: Any, send: Any) -> bool:
        """Answer with a stream until its client is gone; False if there is none at this address.

        Raises ``RefusedRequest``.
        """
        with self._limit.counted(address), self._opened() as stream:
            query = dict(scope["headers"]).get(b"last-event-id") or scope["query_string"]
            part = await self._part(scope, query, address)
            if part.follow is None or not (part.follow.topics or part.event):
                return False
            if self._is_stopping:
                raise RefusedRequest(503, STOPS)
            if not part.is_personal:
                scope = {**scope, "headers": [one for one in scope["headers"] if one[0] != b"cookie"]}
            self._listen()
            await send({"type": "http.response.start", "status": 200, "headers": HEADERS})
            stream.task = asyncio.ensure_future(self._send_all(scope, stream, part, send))
            gone = asyncio.ensure_future(_until_gone(receive))
            try:
                await asyncio.wait({stream.task, gone}, return_when=asyncio.FIRST_COMPLETED)
            finally:
                gone.cancel()
                stream.task.cancel()
                with suppress(asyncio.CancelledError):
                    await stream.task
            await send({"type": "http.response.body", "body": b"", "more_body": False})
        return True

    async def _send_all(self, scope: Scope, stream: Stream, part: Part, send: Any) -> None:
        async def write(data: bytes) -> None:
            await send({"type": "http.response.body", "body": data, "more_body": True})

        await write(b"retry: %d\n\n" % random.randint(*RETRY_MS) + HELLO)
        while True:
            if part.response.headers.get(RELOAD):
                await write(RELOAD_PAGE)
                return
            if (follow := part.follow) is None:
                return  # no longer for this client: it gets the reason when it comes back
            await write(part.event or BEAT)
            if not follow.topics:
                return
            stream.topics = follow.topics
            if part.event:
                await asyncio.sleep(follow.pause_s)
            await self._changes.wait(follow.topics, part.since, follow.again_s)
            part = await self._part(scope, part.query)

    async def _part(self, scope: Scope, query: bytes, address: str = "") -> Part:
        """The part of the page at the stream's address; made once for all streams in the same state.

        The first one of a stream is made in the turn of its client's ``address``.
        """
        key = _key_of(scope, query)
        task = self._parts.get(key)
        if task is None or (task.done() and self._is_old(task)):
            self._forget()
            task = self._parts[key] = asyncio.create_task(self._make(scope, query, address))
        return await asyncio.shield(task)

    async def _make(self, scope: Scope, query: bytes, address: str) -> Part:
        since = self._changes.count
        response = await self._ask({**scope, "query_string": query, "headers": _headers_of(scope)}, address)
        follow: LivePart | None = getattr(response, "follow", None)
        event, next_query = b"", follow.query.encode("latin-1") if follow else b""
        if response.status_code == 200 and follow is not None:
            lines = b"".join(b"data: %b\n" % line for line in response.content.splitlines())  # type: ignore[attr-defined]
            event = b"id: %b\n%b\n" % (next_query, lines)
        is_personal: bool = getattr(response, "is_personal", False)
        return Part(response, event, follow, is_personal, next_query, since, time.monotonic())

    def _is_old(self, task: asyncio.Task[Part]) -> bool:
        if task.cancelled() or task.exception() is not None:
            return True
        part = task.result()
        if part.follow is None:
            return True
        kept_s = CONTENT_KEPT_SECONDS if part.event else part.follow.again_s
        is_kept = time.monotonic() - part.made < kept_s
        return not is_kept or self._changes.has_changed(part.follow.topics, part.since)

    def _forget(self) -> None:
        """Forget parts that are old, and all if there are too many."""
        if len(self._parts) > PARTS:
            self._parts.clear()
        for key in [key for key, task in self._parts.items() if task.done() and self._is_old(task)]:
            del self._parts[key]

    def _listen(self) -> None:
        if self._listener is None or self._listener.done():
            self._listener = asyncio.create_task(self._changes.listen())

    def _watched(self) -> set[str]:
        return {topic for stream in self._open for topic in stream.topics}

    @contextmanager
    def _opened(self) -> Iterator[Stream]:
        if self._is_stopping:
            raise RefusedRequest(503, STOPS)
        stream = Stream()
        self._open.add(stream)
        try:
            yield stream
        finally:
            self._open.remove(stream)


def is_stream(scope: Scope) -> bool:
    """Whether a client asks for a stream."""
    return scope["method"] == "GET" and dict(scope["headers"]).get(b"accept") == EVENTS


def _key_of(scope: Scope, query: bytes) -> Key:
    """What decides about the part."""
    return scope["path"].encode(), query, dict(scope["headers"]).get(b"host", b""), _session_of(scope)


def _session_of(scope: Scope) -> bytes:
    """The cookies of a session; empty for a visitor, about whose part no cookie decides."""
    cookies = dict(scope["headers"]).get(b"cookie", b"").split(b"; ")
    session, csrf = (
        b"%b=" % name.encode() for name in (settings.SESSION_COOKIE_NAME, settings.CSRF_COOKIE_NAME)
    )
    kept = sorted(one for one in cookies if one.startswith((session, csrf)))
    return b"; ".join(kept) if any(one.startswith(session) for one in kept) else b""


def _headers_of(scope: Scope) -> list[tuple[bytes, bytes]]:
    """The headers with which a view is asked for a part: as in a poll, not compressed."""
    kept = [(name, value) for name, value in scope["headers"] if name in {b"host", b"user-agent"}]
    session = _session_of(scope)
    return [*kept, *([(b"cookie", session)] if session else []), (PART.lower().encode(), b"true")]


async def _until_gone(receive: Any) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
