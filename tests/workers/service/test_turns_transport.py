"""Turns on a real Redis: whoever may do everything there delays a task by seconds, and nothing else."""

from __future__ import annotations

import itertools
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import redis
from celery import Celery

from tests.support.brokers import ROOT, running_redis
from tests.support.fake_door import PATIENCE_SECONDS
from tests.support.jobs import wait_until
from tournament.embedded.processes.redis_server import broker_url
from workers.service.turns import LOOK, open_redis, push, take, waiting
from workers.service.turns_transport import RETRY_SECONDS, TurnOptions, TurnReader, use_turns

IDLE_SECONDS = 5.0


@pytest.fixture(scope="module")
def socket() -> Iterator[Path]:
    with running_redis() as socket:
        yield socket


@pytest.fixture
def client(socket: Path) -> Iterator[redis.Redis]:
    with open_redis(broker_url(socket)) as client:
        client.flushall()
        yield client


@dataclass
class Reading:
    """A reader of the list ``look``, at a time of its own."""

    url: str
    free: int = 1
    may_take: bool = True
    taken: list[str] = field(default_factory=list)
    now: float = 0.0

    def __post_init__(self) -> None:
        options = TurnOptions(self.url, {LOOK: "tests.look"}, 0.1, IDLE_SECONDS, lambda: self.may_take)
        self.reader = TurnReader(options, self.taken.append, lambda: self.free)

    def step(self, seconds: float = 0.1) -> int:
        """Let some time pass and take; returns how many turns were taken."""
        self.now += seconds
        self.taken.clear()
        self.reader.step(self.now)
        return len(self.taken)


@pytest.fixture
def reading(socket: Path, client: redis.Redis) -> Reading:
    """A reader that has just made its first own turn."""
    reading = Reading(broker_url(socket))
    assert reading.step() == 1
    return reading


HOSTILE: dict[str, Callable[[redis.Redis], object]] = {
    "nothing": lambda client: None,
    "any bytes": lambda client: client.lpush(LOOK, b"\xff\x00{", b"[[[", b"null", b"*1\r\n$4\r\nQUIT\r\n"),
    "a message of Celery": lambda client: client.lpush(
        LOOK, b'{"headers": {"task": "celery.backend_cleanup", "id": "x"}, "properties": {}}'
    ),
    "a huge value": lambda client: client.lpush(LOOK, b"x" * 50_000_000),
    "a hundred thousand items": lambda client: [client.lpush(LOOK, *[b"x"] * 10_000) for _ in range(10)],
    "a text": lambda client: client.set(LOOK, "text"),
    "a stream": lambda client: client.xadd(LOOK, {"a": "b"}),
    "a hash": lambda client: client.hset(LOOK, "a", "b"),
    "a sorted set": lambda client: client.zadd(LOOK, {"a": 1}),
    "unacknowledged messages": lambda client: [
        client.hset("unacked", "tag", "\x06"),
        client.zadd("unacked_index", {"tag": 0}),
        client.set("unacked_mutex", "held"),
    ],
    "bindings": lambda client: client.sadd("_kombu.binding.celery", b"\xff", "\x06\x16\x06\x16celery"),
    "text for bindings": lambda client: client.set("_kombu.binding.celery", "text"),
    "all keys gone": lambda client: client.flushall(),
    "all connections closed": lambda client: client.client_kill_filter(_type="normal", skipme=True),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_turn_is_taken_whatever_lies_in_redis(reading: Reading, client: redis.Redis, name: str) -> None:
    HOSTILE[name](client)
    reading.step()
    push(client, LOOK)
    assert sum(reading.step(RETRY_SECONDS) for _ in range(2)) >= 1
    assert reading.reader._trouble == ""


def test_a_flood_gives_one_turn_at_a_time_to_each_free_process(reading: Reading, client: redis.Redis) -> None:
    client.lpush(LOOK, *[b"x"] * 1000)
    assert reading.step() == 1
    reading.free = 3
    assert reading.step() == 3
    reading.free = 0
    assert reading.step() == 0
    assert client.llen(LOOK) == 996


def test_a_process_gets_turns_of_its_own_when_others_take_all_of_them(
    reading: Reading, client: redis.Redis
) -> None:
    """However often they do it."""
    times = []
    for _ in range(300):
        client.delete(LOOK)
        if reading.step():
            times.append(reading.now)
    assert max(later - sooner for sooner, later in itertools.pairwise(times)) <= IDLE_SECONDS + 0.1


def test_no_turn_is_taken_while_the_worker_may_not_and_one_at_once_when_it_may(
    reading: Reading, client: redis.Redis
) -> None:
    push(client, LOOK)
    reading.may_take = False
    assert [reading.step(IDLE_SECONDS) for _ in range(3)] == [0, 0, 0]
    assert waiting(client, LOOK) == 1
    reading.may_take = True
    assert reading.step() == 1


def test_without_redis_there_are_only_own_turns() -> None:
    reading = Reading("", free=2)
    assert reading.step() == 2
    counts = [reading.step() for _ in range(100)]
    assert 4 <= sum(counts) <= 6


def test_a_redis_that_is_gone_is_logged_once_and_tried_again(
    caplog: pytest.LogCaptureFixture, tmp_path: Path
) -> None:
    with running_redis() as socket:
        reading = Reading(broker_url(socket))
        reading.step()
        with open_redis(broker_url(socket)) as client:
            client.shutdown(nosave=True)
        assert [reading.step(RETRY_SECONDS) for _ in range(3)] == [0, 0, 0]
        assert reading.step(IDLE_SECONDS) == 1
    assert caplog.text.count("no turns are read from Redis") == 1


def test_a_wrong_password_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    with running_redis(None, "--requirepass", "secret") as socket:
        reading = Reading(broker_url(socket))
        assert reading.step() == 1
        reading.step()
    assert "Authentication required" in caplog.text


def test_a_list_keeps_as_many_turns_as_it_may(client: redis.Redis) -> None:
    for _ in range(10):
        push(client, LOOK, count=2, most=3)
    assert waiting(client, LOOK) == 3
    push(client, LOOK, count=0)
    assert take(client, LOOK, 2) == 2
    assert take(client, LOOK, 2) == 1
    assert take(client, LOOK, 2) == 0
    client.set(LOOK, "text")
    push(client, LOOK)
    assert waiting(client, LOOK) == 0
    push(client, LOOK)
    assert waiting(client, LOOK) == 1


def test_a_task_that_is_sent_is_a_turn(socket: Path, client: redis.Redis) -> None:
    app = Celery("sender", set_as_current=False)
    use_turns(app, broker_url(socket), {LOOK: "tests.look"})
    for _ in range(3):
        app.send_task("tests.look", queue=LOOK)
    assert waiting(client, LOOK) == 1
    assert client.keys() == [LOOK.encode()]
    assert client.lrange(LOOK, 0, -1) == [b""]


@contextmanager
def looking(url: str, folder: Path, idle_s: float) -> Iterator[Callable[[], list[float]]]:
    """A process that takes turns; returns when each began, in seconds of the monotonic clock."""
    file = folder / "looks"
    file.touch()
    command = (sys.executable, "-m", "tests.support.looking_app", url, str(file), str(idle_s))
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(command, cwd=ROOT, stdout=log, stderr=log)
        try:
            yield lambda: [float(line) for line in file.read_text().split()]
            process.terminate()
            assert process.wait(PATIENCE_SECONDS) == 0
        finally:
            process.kill()
            process.wait()


@pytest.mark.slow
def test_a_consumer_under_attack_runs_its_task_every_five_seconds_and_stays(tmp_path: Path) -> None:
    """All connections are closed and all keys replaced again and again, then Redis ends."""
    with running_redis() as socket, looking(broker_url(socket), tmp_path, IDLE_SECONDS) as looks:
        assert wait_until(looks)
        attacks: list[Any] = [HOSTILE[name] for name in HOSTILE if "hundred" not in name]
        with open_redis(broker_url(socket)) as client:
            end = time.monotonic() + 3 * IDLE_SECONDS
            while time.monotonic() < end:
                for attack in attacks:
                    attack(client)
                    client.delete(LOOK)
            known = len(looks())
            push(client, LOOK)
            assert wait_until(lambda: len(looks()) > known)
            client.shutdown(nosave=True)
        known = len(looks())
        assert wait_until(lambda: len(looks()) > known)
        times = looks()
    assert max(later - sooner for sooner, later in itertools.pairwise(times)) < IDLE_SECONDS + 1
