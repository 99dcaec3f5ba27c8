"""The site as an ASGI application: Django's handler, with the site's limits and threads.

Django's own runs each request in a new thread with a new connection to the database, and reads files into
memory. Here all of Django runs for a request in one of the threads of ``Threads``.
"""

from __future__ import annotations

import asyncio
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, MutableMapping
from contextlib import ExitStack
from typing import IO, Any, cast

from django.core import signals
from django.core.exceptions import RequestAborted
from django.core.handlers.asgi import ASGIHandler, ASGIRequest, get_script_prefix
from django.core.handlers.base import BaseHandler
from django.http import FileResponse, HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.urls import set_script_prefix

from tournament.addresses import behind_proxy, counted_address
from tournament.http.limits import (
    BYTES_A_SECOND,
    CHUNK_BYTES,
    GRACE_SECONDS,
    HEALTH_SECONDS,
    LARGE_BYTES,
    MEMORY_BYTES,
    TOO_LARGE,
    UPLOADS,
    UPLOADS_PER_ADDRESS,
    AtOnce,
    RefusedRequest,
    largest_body,
)
from tournament.http.stream_forms import StreamForm, form_of
from tournament.http.streams import Streams
from tournament.http.threads import HEALTH_PATH, Threads, kind_of
from tournament.models import EventCount
from tournament.monitoring.logs import HEADER, log_request
from tournament.security import Utf8Request
from tournament.services.event_counts import count_now
from tournament.views.paced import PacedResponse

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Mapping[str, Any]]]
Send = Callable[[Mapping[str, Any]], Awaitable[None]]


class SiteRequest(Utf8Request, ASGIRequest):
    """A request of the site."""


class Body:
    """The body of a request as it arrives; in a temporary file if it is long."""

    def __init__(self, scope: Scope) -> None:
        headers = dict(scope["headers"])
        self.declared = int(headers.get(b"content-length") or 0)
        self.is_chunked = b"transfer-encoding" in headers
        self.most = largest_body(scope["path"])
        self.size = 0
        self.file: IO[bytes] = tempfile.SpooledTemporaryFile(MEMORY_BYTES, "w+b")  # noqa: SIM115

    @property
    def is_too_large(self) -> bool:
        return max(self.declared, self.size) > self.most

    async def receive(self, receive: Receive, begin_upload: Callable[[], object]) -> None:
        """Read it, or as much as shows that it is too large.

        ``begin_upload`` is called once for a large one. Raises ``RefusedRequest`` if the client is too slow.
        """
        begun, is_large, is_whole = asyncio.get_running_loop().time(), False, False
        try:
            async with asyncio.timeout(GRACE_SECONDS) as limit:
                while not is_whole and not self.is_too_large:
                    if not is_large and max(self.declared, self.size) > LARGE_BYTES:
                        is_large = True
                        begin_upload()
                    message = await receive()
                    if message["type"] == "http.disconnect":
                        raise RequestAborted
                    chunk, is_whole = message.get("body", b""), not message.get("more_body", False)
                    self.size += len(chunk)
                    self.file.write(chunk)
                    limit.reschedule(begun + GRACE_SECONDS + self.size / BYTES_A_SECOND)
        except TimeoutError:
            raise RefusedRequest(408, "The request took too long to arrive.", closes=True) from None
        if self.is_too_large:
            self.file.truncate(0)
        self.file.seek(0)


class Application(ASGIHandler):
    """Answers the requests of one process."""

    request_class = SiteRequest

    def __init__(self) -> None:
        BaseHandler.__init__(self)
        self.load_middleware(is_async=False)
        self._threads = Threads()
        self._uploads = AtOnce("uploads", UPLOADS, UPLOADS_PER_ADDRESS)
        self.streams = Streams(self._ask)

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        scope = behind_proxy(scope)
        address = counted_address(scope["client"][0])
        if (form := form_of(scope)) and await self._stream(scope, form, address, receive, send):
            return
        with ExitStack() as stack:
            body = Body(scope)
            stack.callback(body.file.close)
            try:
                await body.receive(receive, lambda: stack.enter_context(self._uploads.counted(address)))
                response = await self._answer(scope, address, body)
            except RequestAborted:
                return
            except RefusedRequest as refused:
                response = refused.response_to(scope["path"])
                _note(scope, response, time.monotonic())
        if isinstance(response, PacedResponse):
            parts = () if scope["method"] == "HEAD" else cast("Iterator[bytes]", response.streaming_content)
            response.streaming_content = self._make_parts(
                response, iter(parts), kind_of(scope), address, receive
            )
        elif isinstance(response, StreamingHttpResponse):
            parts = () if scope["method"] == "HEAD" else cast("Iterator[bytes]", response.streaming_content)
            response.streaming_content = self._read(iter(parts), receive)
        try:
            await self.send_response(response, send)
        finally:
            if response.streaming:
                response.close()

    async def _answer(self, scope: dict[str, Any], address: str, body: Body) -> HttpResponseBase:
        kind = kind_of(scope)
        try:
            async with asyncio.timeout(HEALTH_SECONDS if kind == "health" else None):
                return await self._threads.call(kind, address, self._respond, scope, body)
        except TimeoutError:
            text = f"database: it has not answered for {HEALTH_SECONDS:g} s, or Redis or a disk has not"
            raise RefusedRequest(503, text) from None

    async def _stream(
        self, scope: Scope, form: StreamForm, address: str, receive: Receive, send: Send
    ) -> bool:
        """Answer with events, or with a refusal; False if there are none at this address."""
        begun, response = time.monotonic(), HttpResponse()
        try:
            if not await self.streams.serve(scope, form, address, receive, send):
                return False
        except RefusedRequest as refused:
            response = refused.response_to(scope["path"])
            await self.send_response(response, send)
        _note(scope, response, begun)
        return True

    async def _ask(self, scope: Mapping[str, Any], address: str) -> HttpResponseBase:
        """The response to a request that the server makes for its streams."""
        return await self._threads.call(kind_of(dict(scope)), address, self._make_part, dict(scope))

    def _respond(self, scope: Scope, body: Body) -> HttpResponseBase:
        """The response; runs in a thread, which has ended the request by then, but for an open file."""
        begun = time.monotonic()
        response = self._make(scope, body)
        _note(scope, response, begun, response.get(HEADER, ""))
        if not response.streaming:
            response.close()
        return response

    def _make_part(self, scope: Scope) -> HttpResponseBase:
        body = Body(scope)
        with body.file:
            response = self._make(scope, body)
        response.close()
        return response

    def _make(self, scope: Scope, body: Body) -> HttpResponseBase:
        set_script_prefix(get_script_prefix(scope))
        signals.request_started.send(sender=self.__class__, scope=scope)
        request, response = self.create_request(scope, body.file)
        if request is not None:
            if body.is_chunked:
                request.META["CONTENT_LENGTH"] = str(body.size)
            request.META[TOO_LARGE] = body.is_too_large
            response = self.get_response(request)
        assert response is not None
        if isinstance(response, FileResponse):
            response.block_size = CHUNK_BYTES
        return response

    async def _read(self, parts: Iterator[bytes], receive: Receive) -> AsyncIterator[bytes]:
        """The parts of a file, read one by one until its client is gone."""
        gone = asyncio.ensure_future(receive())
        try:
            while not gone.done() and (part := await self._threads.read(next, parts, b"")):
                yield part
        finally:
            gone.cancel()

    async def _make_parts(
        self, response: PacedResponse, parts: Iterator[bytes], kind: str, address: str, receive: Receive
    ) -> AsyncIterator[bytes]:
        """The parts of a response, made one by one until its client is gone."""
        gone = asyncio.ensure_future(receive())
        try:
            while not gone.done() and (part := await self._threads.call(kind, address, next, parts, b"")):
                yield part
                if pause := response.pause_s():
                    await asyncio.wait([gone], timeout=pause)
        finally:
            gone.cancel()


def _note(scope: Scope, response: HttpResponseBase, begun: float, request: str = "") -> None:
    """Log a request, and count an error of the site, but not of the health check, which is repeated."""
    log_request(scope, response, begun, request)
    if response.status_code >= 500 and scope["path"] != HEALTH_PATH:
        count_now(EventCount.Kind.ANSWER, str(response.status_code))
