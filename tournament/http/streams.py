"""Streams of events: the server polls a part of a page for all who show it in the same state.

Asked for ``text/event-stream``, the address of such a part (``tournament.views.polling``) gives a stream. An
event has the part as the same view makes it for a poll; its id is the query of the next poll, so a client
that comes back is sent what it missed. A view is called once for all streams of the process with the same
address, and for each logged-in user.

Events for programs come the same way, from the views at ``/api/v1/…/events/``, as server-sent events or as
lines of JSON (``stream_forms``).

A stream keeps nothing that its client has not taken: a slow client gets fewer events, each with all that is
new to it. The system closes a connection of which nothing is taken for ``limits.UNREAD_SECONDS``.
"""

from __future__ import annotations

import asyncio
import hashlib
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass
from typing import Any

from django.http.response import HttpResponseBase

from tournament.http.changes import Changes
from tournament.http.limits import (
    API_PATHS,
    CONTENT_KEPT_SECONDS,
    EVENT_STREAMS,
    EVENT_STREAMS_PER_ADDRESS,
    EVENT_STREAMS_PER_TOKEN,
    EVENT_STREAMS_WITHOUT_TOKEN,
    PARTS,
    STREAMS,
    STREAMS_PER_ADDRESS,
    AtOnce,
    RefusedRequest,
)
from tournament.http.stream_forms import (
    StreamForm,
    beat_seconds,
    credentials_of,
    framed,
    headers_of,
    is_for_programs,
    query_of,
    without_credentials,
)
from tournament.views.polling import OF_STREAM, RELOAD, LivePart

HEADERS = [(b"cache-control", b"no-store, no-transform"), (b"x-accel-buffering", b"no")]
"""They keep proxies from compressing and from holding events back."""
OPEN_HEADERS = [*HEADERS, (b"access-control-allow-origin", b"*")]
"""Pages of all sites may follow the API, which reads no cookies."""
RELOAD_PAGE = b"event: reload\ndata:\n\n"
STOPS = "The server is being restarted."

Scope = Mapping[str, Any]
Key = tuple[bytes, ...]
Ask = Callable[[Scope, str], Awaitable[HttpResponseBase]]


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a page as a view made it after the change ``since``; without events if it is as before."""

    response: HttpResponseBase
    events: Mapping[str, bytes]
    """By the content type of a stream."""
    follow: LivePart | None
    is_personal: bool
    """Whether it was made for one user; a session that has ended, or never was, is nobody's."""
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
        self._limits_of_programs = ProgramLimits()
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

    async def serve(self, scope: Scope, form: StreamForm, address: str, receive: Any, send: Any) -> bool:
        """Answer with a stream until its client is gone; False if there is none at this address.

        Raises ``RefusedRequest``.
        """
        with self._counted(scope, address), self._opened() as stream:
            part = await self._part(scope, query_of(scope), address)
            if part.follow is None or not (part.follow.topics or part.events):
                return False
            if self._is_stopping:
                raise RefusedRequest(503, STOPS)
            if not part.is_personal:
                scope = without_credentials(scope)
            self._listen()
            await send({"type": "http.response.start", "status": 200, "headers": _headers(scope, form)})
            stream.task = asyncio.ensure_future(self._send_all(scope, form, stream, part, send))
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

    async def _send_all(self, scope: Scope, form: StreamForm, stream: Stream, part: Part, send: Any) -> None:
        written, silence = time.monotonic(), beat_seconds(scope["path"])

        async def write(data: bytes) -> None:
            nonlocal written
            await send({"type": "http.response.body", "body": data, "more_body": True})
            written = time.monotonic()

        await write(form.begin())
        has_changed = False
        while True:
            if part.response.headers.get(RELOAD):
                await write(RELOAD_PAGE)
                return
            if (follow := part.follow) is None:
                return  # no longer for this client: it gets the reason when it comes back
            if part.events or time.monotonic() - written >= silence:
                await write(part.events.get(form.content_type, form.beat))
            if not follow.topics:
                return
            stream.topics = follow.topics
            if part.events or has_changed:
                await asyncio.sleep(_to_next_turn(follow.pause_s))
            has_changed = await self._changes.wait(follow.topics, part.since, follow.again_s)
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
        asked = {**scope, "query_string": query, "headers": headers_of(scope), OF_STREAM: not address}
        response = await self._ask(asked, address)
        follow: LivePart | None = getattr(response, "follow", None)
        next_query = follow.query.encode("latin-1") if follow else b""
        has_events = response.status_code == 200 and follow is not None
        events = framed(response, next_query) if has_events else {}
        is_personal: bool = getattr(response, "is_personal", False)
        return Part(response, events, follow, is_personal, next_query, since, time.monotonic())

    def _is_old(self, task: asyncio.Task[Part]) -> bool:
        if task.cancelled() or task.exception() is not None:
            return True
        part = task.result()
        if part.follow is None:
            return True
        kept_s = CONTENT_KEPT_SECONDS if part.events else part.follow.again_s
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

    def _counted(self, scope: Scope, address: str) -> AbstractContextManager[None]:
        """One more stream of an address; raises ``RefusedRequest`` if there are too many."""
        if is_for_programs(scope["path"]):
            return self._limits_of_programs.counted(scope, address)
        return self._limit.counted(address)

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


class ProgramLimits:
    """How many streams of events for programs there may be: of all, of an address, and of a token."""

    def __init__(self) -> None:
        self._all = AtOnce("streams of events", EVENT_STREAMS, EVENT_STREAMS_PER_ADDRESS)
        self._without_token = AtOnce(
            "streams of events without a token", EVENT_STREAMS, EVENT_STREAMS_WITHOUT_TOKEN
        )
        self._of_token = AtOnce(
            "streams of events of this kind", EVENT_STREAMS, EVENT_STREAMS_PER_TOKEN, owner="your token"
        )

    @contextmanager
    def counted(self, scope: Scope, address: str) -> Iterator[None]:
        """Count one more, or raise ``RefusedRequest`` if there are too many."""
        if token := credentials_of(scope):
            kind = scope["path"].removeprefix(API_PATHS).partition("/")[0]
            one = self._of_token.counted(f"{kind} {hashlib.sha256(token).hexdigest()}")
        else:
            one = self._without_token.counted(address)
        with self._all.counted(address), one:
            yield


def _to_next_turn(pause_s: float) -> float:
    """The seconds until the streams with this pause go on, all at once, so that one part is made for them."""
    return pause_s - time.monotonic() % pause_s if pause_s else 0.0


def _key_of(scope: Scope, query: bytes) -> Key:
    """What decides about the part."""
    return scope["path"].encode(), query, dict(scope["headers"]).get(b"host", b""), credentials_of(scope)


def _headers(scope: Scope, form: StreamForm) -> list[tuple[bytes, bytes]]:
    """The headers of a stream."""
    kind = (b"content-type", f"{form.content_type}; charset=utf-8".encode())
    return [kind, *(OPEN_HEADERS if is_for_programs(scope["path"]) else HEADERS)]


async def _until_gone(receive: Any) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
