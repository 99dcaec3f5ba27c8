"""A relay between a site's processes and Redis that repeats, delays or drops messages.

A message is sent by ``LPUSH``: the relay adds a copy. Some reports of
games are delayed until their lease has expired. The whole relay can stop forwarding, as a network that
loses all packets: connections stay open, but nothing arrives.
"""

from __future__ import annotations

import asyncio
import contextlib
import random
import threading
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Final

REPORTS: Final = rb"\"tournament.record\""
"""In a signed message, which is a text within the JSON of its envelope."""
AGAIN_S: Final = 1.0
"""The time between two tries to deliver a delayed report while Redis is not running."""
CHUNK: Final = 1 << 16
NOTHING: Final = (b"EXISTS", b"nothing")
"""A command with a number as its reply, like ``LPUSH``."""


class Relay:
    """Listens on a socket, in a thread; ``counts`` counts the messages that it changed."""

    def __init__(
        self, listens: Path, redis: Path, *, doubles: bool = False, holds: float = 0.0, held_s: float = 0.0,
        seed: int = 0,
    ) -> None:  # fmt: skip
        """``holds`` is the part of the messages with reports that are delayed by ``held_s`` seconds."""
        self.counts: Counter[str] = Counter()
        self._listens, self._redis = listens, redis
        self._doubles, self._holds, self._held_s = doubles, holds, held_s
        self._dice = random.Random(seed)
        self._loop = asyncio.new_event_loop()
        self._flows = asyncio.Event()
        self._held: set[asyncio.Task[None]] = set()
        self._due = asyncio.Event()
        self._thread = threading.Thread(target=self._run, name="relay", daemon=True)

    def __enter__(self) -> Relay:
        self._flows.set()
        self._loop.run_until_complete(asyncio.start_unix_server(self._serve, str(self._listens), limit=CHUNK))
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()

    def silence(self) -> None:
        """Forward nothing from now on, in either direction."""
        self._loop.call_soon_threadsafe(self._flows.clear)

    def resume(self) -> None:
        self._loop.call_soon_threadsafe(self._flows.set)

    def release(self) -> None:
        """Delay nothing any more; delayed reports are delivered before this returns."""
        self._holds = 0.0
        asyncio.run_coroutine_threadsafe(self._deliver_held(), self._loop).result()

    def _run(self) -> None:
        self._loop.run_forever()
        for task in asyncio.all_tasks(self._loop):
            task.cancel()
        self._loop.run_until_complete(asyncio.sleep(0.1))
        self._loop.close()

    async def _serve(self, client: asyncio.StreamReader, answers: asyncio.StreamWriter) -> None:
        try:
            replies, server = await asyncio.open_unix_connection(str(self._redis))
        except OSError:
            answers.close()
            return
        ways = [
            asyncio.ensure_future(self._pass_on(client, server)),
            asyncio.ensure_future(self._pass_back(replies, answers)),
        ]
        try:
            # The end of one side ends the other, as without a relay.
            await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for way in ways:
                way.cancel()
            for writer in (server, answers):
                writer.close()

    async def _pass_on(self, client: asyncio.StreamReader, server: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError, EOFError):
            while True:
                words = await read_command(client)
                await self._flows.wait()
                server.write(format_command(self._alter(words)))
                await server.drain()

    async def _pass_back(self, replies: asyncio.StreamReader, answers: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError):
            while data := await replies.read(CHUNK):
                await self._flows.wait()
                answers.write(data)
                await answers.drain()

    def _alter(self, words: list[bytes]) -> Sequence[bytes]:
        if len(words) != 3 or words[0].upper() != b"LPUSH":
            return words
        messages = [words[2]]
        self.counts["messages"] += 1
        if self._doubles:
            messages.append(words[2])
            self.counts["messages delivered twice"] += 1
        command = [*words[:2], *messages]
        if REPORTS in words[2] and self._dice.random() < self._holds:
            self.counts["reports held back"] += 1
            task = self._loop.create_task(self._deliver_late(command))
            self._held.add(task)
            task.add_done_callback(self._held.discard)
            return NOTHING
        return command

    async def _deliver_late(self, command: Sequence[bytes]) -> None:
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._due.wait(), self._held_s)
        while True:
            with contextlib.suppress(OSError):
                replies, server = await asyncio.open_unix_connection(str(self._redis))
                server.write(format_command(command))
                answer = await replies.readline()
                server.close()
                if answer.startswith(b":"):
                    return
            await asyncio.sleep(AGAIN_S)

    async def _deliver_held(self) -> None:
        self._due.set()
        await asyncio.gather(*self._held)


async def read_command(stream: asyncio.StreamReader) -> list[bytes]:
    """Read the next command of a client, an array of strings; raises ``EOFError`` at the end."""
    words = []
    for _ in range(int((await stream.readuntil())[1:])):
        size = int((await stream.readuntil())[1:])
        words.append((await stream.readexactly(size + 2))[:-2])
    return words


def format_command(words: Sequence[bytes]) -> bytes:
    return b"*%d\r\n" % len(words) + b"".join(b"$%d\r\n%s\r\n" % (len(word), word) for word in words)
