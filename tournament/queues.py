"""The site's Redis: Celery's messages, what is watched, and messages that pages have changed.

It holds nothing else: losing it loses no game, and only delays play and pages.

No request waits for Redis for long: after an error this process sends no messages for ``REST_SECONDS``.
"""

from __future__ import annotations

import logging
import os
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import redis
from celery import Celery
from kombu.exceptions import OperationalError
from redis import asyncio as async_redis
from redis.exceptions import AuthenticationError, ResponseError

from workers.service.broker import PATIENCE, client_url, open_redis, queue_named

DEFAULT_REDIS = "redis://127.0.0.1:6379/0"
REST_SECONDS = 5.0
"""The pause after an error."""

CHANGES = "changes"
"""The channel of messages, each with topics: games, searches, tournaments, ladders and ``ANY_GAME``."""
ANY_GAME = "games"
"""The topic that a game has begun or ended."""
WATCHED = "watched"
"""The sorted set of watched topics, by the time when that was said last."""
PLAYED = "watched-played"
"""The sorted set of those of them that are being played, by the time when their slot said so last."""
WATCHED_SECONDS = 6.0
"""A topic counts as watched, and as played, for so long."""
CLOSELY_MS, WATCHED_MS, MAX_CLOSELY = 200, 1000, 10
"""How often a watched game is shown; the first one while at most ``MAX_CLOSELY`` are watched and played."""

log = logging.getLogger("tournament.queues")


def send(app: Celery, task: str, queue: str, *, most: int | None = None) -> None:
    """Send a message that has a task run, or as many as a queue lacks of ``most``.

    Without effect while Redis is away.
    """

    def act(client: redis.Redis) -> None:
        waiting: Any = 0 if most is None else client.llen(queue)
        for _ in range((1 if most is None else most) - waiting):
            app.send_task(task, queue=queue_named(queue))

    _REDIS.try_to(act)


def announce(*topics: str) -> None:
    """Tell the processes of the server that these have changed; without effect while Redis is away."""
    _PAGES.try_to(lambda client: client.publish(CHANGES, " ".join(topics)))


def pace_ms(topic: str) -> int:
    """How often the moves of this game are to be shown, in milliseconds; 0 if nobody watches it."""
    played: list[int] = []

    def look(client: redis.Redis) -> None:
        now = time.time()
        said: Any = client.zscore(WATCHED, topic)
        if said is None or said < now - WATCHED_SECONDS:
            return
        with client.pipeline(transaction=False) as pipeline:
            pipeline.zadd(PLAYED, {topic: now})
            pipeline.zcount(PLAYED, now - WATCHED_SECONDS, "+inf")
            played.append(pipeline.execute()[1])

    _PAGES.try_to(look)
    if not played:
        return 0
    return CLOSELY_MS if played[0] <= MAX_CLOSELY else WATCHED_MS


async def tell_watched(client: async_redis.Redis, topics: Iterable[str]) -> None:
    """Say which games this process shows; raises ``redis.RedisError``."""
    now = time.time()
    if not (games := {topic: now for topic in topics if topic.startswith(game_topic(""))}):
        return
    try:
        async with client.pipeline() as pipeline:
            pipeline.zadd(WATCHED, games)
            for key in (WATCHED, PLAYED):
                pipeline.zremrangebyscore(key, 0, now - WATCHED_SECONDS)
            await pipeline.execute()
    except ResponseError:
        await client.delete(WATCHED, PLAYED)  # one is of another type


def game_topic(game: object) -> str:
    """The topic of a game with this id."""
    return f"game-{game}"


def search_topic(search: object) -> str:
    """The topic of a search, or of a person's game, with this id."""
    return f"search-{search}"


def tournament_topic(tournament: object) -> str:
    """The topic of a tournament with this id."""
    return f"tournament-{tournament}"


def webhook_topic(webhook: object) -> str:
    """The topic of a webhook with this id."""
    return f"webhook-{webhook}"


def ladder_topic(code: str) -> str:
    return f"ladder-{code}"


def open_async() -> async_redis.Redis:
    """A client of the site's Redis for an event loop."""
    found: async_redis.Redis = async_redis.Redis.from_url(client_url(redis_url()), **PATIENCE)
    return found


@dataclass(frozen=True, slots=True)
class BrokerState:
    """How many messages wait in each queue, and the bytes of memory in use; None if they may not be read.

    ``trouble`` says what Redis does instead of working, such as "does not answer"; empty if it works.
    """

    lengths: dict[str, int]
    memory: int | None
    trouble: str = ""


def look_at_broker(names: Sequence[str]) -> BrokerState:
    """The state of Redis, with these queues, in one step; takes seconds if it does not answer."""
    try:
        with _client().pipeline(transaction=False) as pipeline:
            for name in names:
                pipeline.llen(name)
            pipeline.info("memory")
            *lengths, memory = pipeline.execute(raise_on_error=False)
    except (redis.RedisError, OSError) as error:
        return BrokerState({}, None, describe_broker_error(error))
    known = {name: length for name, length in zip(names, lengths, strict=True) if isinstance(length, int)}
    return BrokerState(known, memory["used_memory"] if isinstance(memory, dict) else None)


def describe_broker_error(error: BaseException) -> str:
    """What a Redis that cannot be used does, as a clause without its subject."""
    if isinstance(error, OperationalError) and error.__cause__ is not None:
        error = error.__cause__
    if isinstance(error, AuthenticationError):
        return f"refuses the user or password of REDIS_URL ({str(error).rstrip('.')})"
    if isinstance(error, ResponseError):
        return f"refuses a command ({str(error).rstrip('.')})"
    if "CERTIFICATE_VERIFY_FAILED" in str(error):
        return (
            "has a certificate that is not trusted: name its CA with ?ssl_ca_certs=FILE, or correct the host"
        )
    return "does not answer"


def redis_url() -> str:
    """The address of the site's Redis."""
    return os.environ.get("REDIS_URL") or DEFAULT_REDIS


@cache
def _client() -> redis.Redis:
    return open_redis(redis_url())


class _Patience:
    """Calls Redis, and after an error not again for a while; an error is logged once."""

    def __init__(self) -> None:
        self._rests_until = 0.0
        self._lock = threading.Lock()
        self._trouble = ""

    def try_to(self, act: Callable[[redis.Redis], object]) -> None:
        if time.monotonic() < self._rests_until:
            return
        trouble = ""
        try:
            act(_client())
        except (redis.RedisError, OperationalError, OSError) as error:
            trouble = describe_broker_error(error)
        with self._lock:
            self._rests_until = time.monotonic() + REST_SECONDS if trouble else 0.0
            is_new, self._trouble = trouble != self._trouble, trouble
        if is_new:
            log.log(logging.WARNING if trouble else logging.INFO, "Redis %s", trouble or "answers again")


_REDIS, _PAGES = _Patience(), _Patience()
"""The patience of what plays games, and of what pages show: trouble with one does not hold up the other."""
