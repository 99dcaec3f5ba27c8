"""Requests to the ASGI application of the site, called as uvicorn calls it."""

from __future__ import annotations

import asyncio
import functools
from collections.abc import Callable, Coroutine
from typing import Any, ParamSpec

from tournament.http.application import Application

P = ParamSpec("P")
LIMIT_SECONDS = 60
"""The longest wait; only a failing test or a busy machine reaches it."""


class Exchange:
    """A request whose body arrives as the test says, and what is sent back."""

    def __init__(self, line: str, *, address: str = "127.0.0.1", **headers: str) -> None:
        method, _, target = line.partition(" ")
        where, _, query = target.partition("?")
        named = {name.replace("_", "-").encode(): value.encode() for name, value in headers.items()}
        self.scope = {
            "type": "http",
            "http_version": "1.1",
            "method": method,
            "path": where,
            "raw_path": where.encode(),
            "query_string": query.encode(),
            "root_path": "",
            "scheme": "http",
            "headers": list(named.items()),
            "client": (address, 4711),
            "server": ("127.0.0.1", 8000),
        }
        self.arrives = asyncio.Queue[dict[str, Any]]()
        self.may_send = asyncio.Event()
        self.may_send.set()
        self.status = 0
        self.headers: dict[bytes, bytes] = {}
        self.sent = b""
        self.is_whole = False

    def body(self, *chunks: bytes, more: bool = False) -> Exchange:
        for number, chunk in enumerate(chunks, 1):
            is_last = number == len(chunks) and not more
            self.arrives.put_nowait({"type": "http.request", "body": chunk, "more_body": not is_last})
        return self

    def leave(self) -> None:
        self.arrives.put_nowait({"type": "http.disconnect"})

    async def _send(self, message: Any) -> None:
        await self.may_send.wait()
        if message["type"] == "http.response.start":
            self.status, self.headers = message["status"], dict(message["headers"])
        else:
            self.sent += message.get("body", b"")
            self.is_whole = not message.get("more_body", False)

    def begin(self, application: Application) -> asyncio.Task[None]:
        call: Coroutine[Any, Any, None] = application(self.scope, self.arrives.get, self._send)
        return asyncio.create_task(call)


def get(target: str, **named: str) -> Exchange:
    return Exchange(f"GET {target}", **named).body(b"")


def run(application: Application, *exchanges: Exchange) -> list[str]:
    """What the exchanges, at the same time, get back."""

    async def answer() -> None:
        await asyncio.wait_for(asyncio.gather(*(one.begin(application) for one in exchanges)), LIMIT_SECONDS)

    asyncio.run(answer())
    return [one.sent.decode() for one in exchanges]


async def until(condition: Callable[[], object]) -> None:
    async with asyncio.timeout(LIMIT_SECONDS):
        while not condition():
            await asyncio.sleep(0.001)


def in_loop(test: Callable[P, Coroutine[Any, Any, None]]) -> Callable[P, None]:
    """Run a test in an event loop."""

    @functools.wraps(test)
    def run_it(*fixtures: P.args, **named: P.kwargs) -> None:
        async def limited() -> None:
            await asyncio.wait_for(test(*fixtures, **named), 2 * LIMIT_SECONDS)

        asyncio.run(limited())

    return run_it
