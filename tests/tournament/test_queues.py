"""What Redis has of pages: messages that they have changed, and which games are watched."""

from __future__ import annotations

import asyncio
import time

import pytest
import redis

from tests.support.brokers import kill_redis
from tournament import queues
from tournament.queues import (
    CLOSELY_MS,
    MAX_CLOSELY,
    PLAYED,
    WATCHED,
    WATCHED_MS,
    WATCHED_SECONDS,
    announce,
    game_topic,
    ladder_topic,
    pace_ms,
    tell_watched,
)

GAME = game_topic(1)


def tell(*topics: str) -> None:
    """Let a process of the server say what it shows."""

    async def tell_once() -> None:
        async with queues.open_async() as client:
            await tell_watched(client, topics)

    asyncio.run(tell_once())


def test_games_are_watched_until_nobody_says_so(real_redis: redis.Redis) -> None:
    assert pace_ms(GAME) == 0
    tell(GAME, ladder_topic("dualma"))
    assert [pace_ms(topic) for topic in (GAME, game_topic(2), ladder_topic("dualma"))] == [CLOSELY_MS, 0, 0]
    real_redis.zadd(WATCHED, {GAME: time.time() - WATCHED_SECONDS})
    assert pace_ms(GAME) == 0
    tell(game_topic(2))
    assert real_redis.zrange(WATCHED, 0, -1) == [game_topic(2).encode()]


def test_games_are_shown_less_often_while_many_are_watched_and_played(real_redis: redis.Redis) -> None:
    topics = [game_topic(number) for number in range(MAX_CLOSELY + 1)]
    tell(*topics)
    assert [pace_ms(topic) for topic in topics] == [CLOSELY_MS] * MAX_CLOSELY + [WATCHED_MS]
    assert pace_ms(GAME) == WATCHED_MS
    real_redis.zadd(PLAYED, {game_topic(2): time.time() - WATCHED_SECONDS})
    assert pace_ms(GAME) == CLOSELY_MS
    tell(GAME)
    assert real_redis.zcard(PLAYED) == MAX_CLOSELY


@pytest.mark.parametrize("key", [WATCHED, PLAYED])
@pytest.mark.parametrize("content", [b"text", b"\xff\x00"])
def test_a_key_of_another_type_is_not_watched_and_is_replaced(
    real_redis: redis.Redis, key: str, content: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    real_redis.set(key, content)
    assert pace_ms(GAME) == 0
    tell(GAME)
    tell(GAME)
    monkeypatch.setattr(queues, "REST_SECONDS", 0.0)
    monkeypatch.setattr(queues, "_PAGES", queues._Patience())
    assert pace_ms(GAME) == CLOSELY_MS


def test_without_redis_nothing_is_watched_and_a_change_is_not_announced(
    real_redis: redis.Redis, caplog: pytest.LogCaptureFixture
) -> None:
    tell(GAME)
    kill_redis(real_redis)
    for _ in range(2):
        announce(GAME)
        assert pace_ms(GAME) == 0
    assert [record.message for record in caplog.records if "Redis" in record.message] == [
        "Redis does not answer"
    ]
