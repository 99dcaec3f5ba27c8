"""What changes on pages, as the site's Redis tells this process; and what is watched, as it tells Redis.

A message names topics and nothing else. One that is lost costs seconds: streams ask again by themselves.
"""

from __future__ import annotations

import asyncio
import logging
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable

import redis
from redis import asyncio as async_redis

from tournament import queues

AWAY_SECONDS = 2.0
"""While Redis is away, everything counts as changed so often."""
TELL_SECONDS = 1.0
MAX_TOPICS = 10_000
"""Changes that are remembered."""
MESSAGE_BYTES, TOPIC_CHARACTERS = 64 * 1024, 100
"""What is more in a message or a topic is not one of ours."""

log = logging.getLogger("tournament.http")


class Changes:
    """One subscription, whatever is watched. ``watched`` gives the topics of all streams of the process.

    The changes are numbered, so that a stream misses none that happens while its part is made.
    """

    def __init__(self, watched: Callable[[], Iterable[str]]) -> None:
        self.count = 0
        self._watched = watched
        self._all = 0
        """The number of the last change that concerned everything."""
        self._last: dict[str, int] = {}
        self._waiting = defaultdict[str, set[asyncio.Event]](set)

    def note(self, topics: Collection[str]) -> None:
        """These have changed."""
        self.count += 1
        for topic in topics:
            self._last[topic] = self.count
            for event in self._waiting.get(topic, ()):
                event.set()
        if len(self._last) > MAX_TOPICS:
            self._last.clear()
            self.note_all()

    def note_all(self) -> None:
        """Anything may have changed."""
        self.count += 1
        self._all = self.count
        for events in self._waiting.values():
            for event in events:
                event.set()

    def has_changed(self, topics: Iterable[str], since: int) -> bool:
        """Whether one of the topics changed after the change with this number."""
        return self._all > since or any(self._last.get(topic, 0) > since for topic in topics)

    async def wait(self, topics: Collection[str], since: int, seconds: float) -> bool:
        """Wait until one of them changes, at most for so long; not at all if one did after ``since``.

        Returns whether one has changed.
        """
        if self.has_changed(topics, since):
            return True
        event = asyncio.Event()
        for topic in topics:
            self._waiting[topic].add(event)
        try:
            async with asyncio.timeout(seconds):
                await event.wait()
            return True
        except TimeoutError:
            return False
        finally:
            for topic in topics:
                self._waiting[topic].discard(event)
                if not self._waiting[topic]:
                    del self._waiting[topic]

    async def listen(self) -> None:
        """Listen for ever."""
        is_away = False
        while True:
            try:
                async with queues.open_async() as client, client.pubsub() as messages:
                    await messages.subscribe(queues.CHANGES)
                    is_away = False
                    self.note_all()
                    await self._listen(client, messages)
            except (redis.RedisError, OSError) as error:
                if not is_away:
                    log.warning(
                        "live pages ask again and again: Redis %s", queues.describe_broker_error(error)
                    )
                is_away = True
                self.note_all()
                await asyncio.sleep(AWAY_SECONDS)

    async def _listen(self, client: async_redis.Redis, messages: async_redis.client.PubSub) -> None:
        loop = asyncio.get_running_loop()
        told = float("-inf")
        while True:
            if loop.time() - told >= TELL_SECONDS:
                await queues.tell_watched(client, self._watched())
                told = loop.time()
            message = await messages.get_message(ignore_subscribe_messages=True, timeout=TELL_SECONDS)
            if message is not None:
                topics = message["data"][:MESSAGE_BYTES].decode(errors="replace").split()
                self.note([topic for topic in topics if len(topic) <= TOPIC_CHARACTERS])
