"""What a process of the server hears of a real Redis: changes, and nothing that does harm."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager, suppress
from typing import Any

import pytest
import redis

from tests.support.brokers import kill_redis, running_redis
from tests.support.exchanges import in_loop, until
from tournament import queues
from tournament.embedded.processes.redis_server import broker_url
from tournament.http import changes as module
from tournament.http.changes import MAX_TOPICS, Changes
from workers.service.broker import open_redis

NOWHERE = "redis://127.0.0.1:1/0"


@pytest.fixture(autouse=True)
def no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "AWAY_SECONDS", 0.01)
    monkeypatch.setattr(module, "TELL_SECONDS", 0.05)


@asynccontextmanager
async def listening(watched: Iterable[str] = ()) -> AsyncIterator[Changes]:
    changes = Changes(lambda: watched)
    listener = asyncio.create_task(changes.listen())
    try:
        yield changes
        assert not listener.done()
    finally:
        listener.cancel()
        with suppress(asyncio.CancelledError):
            await listener


async def heard(changes: Changes, client: redis.Redis, *topics: str) -> int:
    """Announce topics, until that is heard; returns the number of the change before."""
    subscribed: Any = client.pubsub_numsub
    await until(lambda: subscribed(queues.CHANGES)[0][1])
    since = changes.count
    client.publish(queues.CHANGES, " ".join(topics))
    await until(lambda: changes.has_changed(topics[:1], since))
    return since


async def all_changed(changes: Changes) -> None:
    since = changes.count
    await until(lambda: changes.has_changed(["whatever"], since))


@in_loop
async def test_only_the_topics_of_a_message_count_as_changed(real_redis: redis.Redis) -> None:
    async with listening() as changes:
        await heard(changes, real_redis, "first")
        waits = asyncio.create_task(changes.wait(["one", "two"], changes.count, 60))
        since = await heard(changes, real_redis, "two", "three")
        await asyncio.wait_for(waits, 60)
        assert changes.has_changed(["three"], since)
        assert not changes.has_changed(["one", "first"], since)


@in_loop
async def test_everything_counts_as_changed_while_redis_is_away_and_when_it_comes(
    real_redis: redis.Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with listening() as changes:
        await heard(changes, real_redis, "one")
        monkeypatch.setenv("REDIS_URL", NOWHERE)
        kill_redis(real_redis)
        for _ in range(3):
            await all_changed(changes)
        with running_redis() as socket, open_redis(broker_url(socket)) as client:
            monkeypatch.setenv("REDIS_URL", broker_url(socket))
            await heard(changes, client, "one")
            since = await heard(changes, client, "two")
            assert not changes.has_changed(["one"], since)


@in_loop
async def test_hostile_messages_do_nothing(real_redis: redis.Redis) -> None:
    many = " ".join(map(str, range(2 * MAX_TOPICS)))
    async with listening() as changes:
        await heard(changes, real_redis, "one")
        for message in (b"\xff\xfe \x00 \xc3", b"", b"x" * 40_000_000, b"x" * 20_000_000, many):
            real_redis.publish(queues.CHANGES, message)
            await heard(changes, real_redis, "one")
        assert len(changes._last) <= MAX_TOPICS
        await heard(changes, real_redis, "one")
        await until(lambda: changes._last)  # a listener that was cut off and connected anew had none
        assert max(map(len, changes._last)) <= module.TOPIC_CHARACTERS
        await heard(changes, real_redis, *many.split())
        assert len(changes._last) <= MAX_TOPICS


@in_loop
async def test_a_hostile_key_in_the_place_of_what_is_watched_is_deleted(real_redis: redis.Redis) -> None:
    game = queues.game_topic(1)
    async with listening([game, queues.ANY_GAME]) as changes:
        await heard(changes, real_redis, "one")
        for _ in range(2):
            real_redis.set(queues.WATCHED, b"\xff")
            await until(lambda: real_redis.type(queues.WATCHED) == b"zset")
            assert real_redis.zrange(queues.WATCHED, 0, -1) == [game.encode()]
        await heard(changes, real_redis, "one")
