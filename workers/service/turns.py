"""Turns in Redis: the lists whose items say that a task should run now. Independent of Celery.

An item has no content, and nobody reads its bytes.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import redis

from workers.jobs import Work

TURNS = "turns"
"""The list of turns of workers that play games."""
TURNS_CHECKS = "turns-checks"
"""The same for workers that check bots."""
QUEUES = {Work.GAMES: TURNS, Work.CHECKS: TURNS_CHECKS}
"""Both also search for people."""
LOOK = "look"
"""The list of turns of the record keeper."""
REDIS_SECONDS = 2.0
"""After this time without an answer Redis counts as gone."""
PATIENCE: dict[str, Any] = {"socket_timeout": REDIS_SECONDS, "socket_connect_timeout": REDIS_SECONDS}
_WRONG_TYPE = "WRONGTYPE"
"""The beginning of Redis's error for a command on a key of another type."""

log = logging.getLogger("workers.service.turns")


def open_redis(url: str) -> redis.Redis:
    """A client for ``redis://``, ``rediss://`` or ``redis+socket://``; raises ``ValueError``."""
    return redis.Redis.from_url(client_url(url), **PATIENCE)


def client_url(url: str) -> str:
    """The address of Redis as its client takes it, of one as Celery takes it."""
    if url.startswith("redis+socket://"):
        return url.replace("redis+socket", "unix", 1).replace("virtual_host=", "db=", 1)
    return url


def push(client: redis.Redis, queue: str, count: int = 1, most: int = 1) -> None:
    """Add turns to a list, which keeps ``most`` of them; raises ``redis.RedisError``."""
    if count > 0:
        with _any_list(client, queue), client.pipeline() as pipe:
            pipe.lpush(queue, *[b""] * count)
            pipe.ltrim(queue, 0, most - 1)
            pipe.execute()


def waiting(client: redis.Redis, queue: str) -> int:
    """The number of turns in a list; raises ``redis.RedisError``."""
    found: Any = 0
    with _any_list(client, queue):
        found = client.llen(queue)
    return int(found)


def take(client: redis.Redis, queue: str, most: int) -> int:
    """Remove up to ``most`` turns from a list; returns their number. Raises ``redis.RedisError``."""
    found: int = 0
    with _any_list(client, queue), client.pipeline() as pipe:
        pipe.llen(queue)
        pipe.ltrim(queue, 0, -most - 1)
        found = pipe.execute()[0]
    return min(most, found)


@contextmanager
def _any_list(client: redis.Redis, queue: str) -> Iterator[None]:
    """Within the block a key of another type is deleted, which ends the block."""
    try:
        yield
    except redis.ResponseError as error:
        if _WRONG_TYPE not in str(error):
            raise
        log.error("the key %s in Redis is not a list and is deleted", queue)
        client.unlink(queue)
