"""A Redis user of one worker: it can do all that the worker does, and nothing to the others."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import redis
from redis.exceptions import NoPermissionError

from tests.support.brokers import Broker, need_redis, queue_of, running_broker, running_worker
from tests.support.jobs import BadBundles, job_of
from workers.commands.start import worker_name
from workers.service.messaging.redis_rules import worker_rules
from workers.service.messaging.set_aside import set_aside_key

NAME = worker_name(None, "games")
WEST = "players@west"
PASSWORD = "a-password-of-tests"
FORBIDDEN = {
    "jobs for another worker": ("LPUSH", f"games.{WEST}", "x"),
    "commands for another worker": ("LPUSH", f"commands.{WEST}", "x"),
    "the jobs of another worker": ("RPOP", f"games.{WEST}"),
    "the length of another worker's queue": ("LLEN", f"games.{WEST}"),
    "what another worker has set aside": ("LTRIM", set_aside_key(WEST), "1", "0"),
    "what the site has set aside": ("LPUSH", set_aside_key("site"), "x"),
    "what the site has taken": ("HGET", "unacked.site", "x"),
    "the bindings of queues": ("SADD", "_kombu.binding.games", "x"),
    "another key": ("SET", "other", "x"),
    "all keys": ("KEYS", "*"),
    "the keys in turn": ("SCAN", "0"),
    "everything": ("FLUSHALL",),
    "the configuration": ("CONFIG", "GET", "*"),
    "other users": ("ACL", "LIST"),
    "its own rights": ("ACL", "SETUSER", NAME, "+@all"),
    "the end of the server": ("SHUTDOWN", "NOSAVE"),
    "another server in its place": ("REPLICAOF", "127.0.0.1", "1"),
    "programs in the server": ("EVAL", "return 1", "0"),
    "a program for later": ("SCRIPT", "LOAD", "while true do end"),
    "other clients": ("CLIENT", "KILL", "TYPE", "normal"),
    "a pause of the server": ("CLIENT", "PAUSE", "1000"),
    "what others send": ("MONITOR",),
    "messages to all": ("PUBLISH", "/0.celery.pidbox", "x"),
    "a transaction": ("MULTI",),
}
TAKEN = {
    "the reports": ("RPOP", "records"),
    "the reports' end": ("LTRIM", "records", "1", "0"),
    "the reports' deletion": ("DEL", "records"),
    "the number of reports": ("LLEN", "records"),
    "the text of the reports": ("LRANGE", "records", "0", "-1"),
}
REACHED = (f"games.{NAME}", f"validation.{NAME}", f"commands.{NAME}", "records", set_aside_key(NAME))
OTHER_TYPES = {
    "a string": ("SET", "{}", "x"),
    "appended text": ("APPEND", "{}", "x"),
    "a number": ("INCR", "{}"),
    "a bit": ("SETBIT", "{}", "1", "1"),
    "a hash": ("HSET", "{}", "a", "x"),
    "a set": ("SADD", "{}", "x"),
    "a sorted set": ("ZADD", "{}", "1", "x"),
    "a stream": ("XADD", "{}", "*", "a", "x"),
    "a counter": ("PFADD", "{}", "x"),
    "a place": ("GEOADD", "{}", "1", "1", "x"),
    "a copy": ("COPY", "{}", "{}"),
    "another name": ("RENAME", "{}", "{}"),
    "a list moved": ("LMOVE", "{}", "{}", "LEFT", "RIGHT"),
    "a result": ("SORT", "{}", "STORE", "{}"),
    "a time to live": ("EXPIRE", "{}", "1"),
}


@pytest.fixture(params=[6, 7])
def major(request: pytest.FixtureRequest) -> int:
    """The version of the server; from 7 on there are selectors."""
    return int(request.param)


@pytest.fixture
def broker(major: int) -> Iterator[Broker]:
    with running_broker(need_redis(major)) as broker:
        yield broker


@pytest.fixture
def limited(broker: Broker, major: int) -> Iterator[Any]:
    """The user of the worker with the default name."""
    owner: Any
    with redis.Redis(unix_socket_path=str(broker.socket)) as owner:
        owner.execute_command("ACL", "SETUSER", NAME, *worker_rules(NAME, PASSWORD, has_selectors=major >= 7))
    with redis.Redis(unix_socket_path=str(broker.socket), username=NAME, password=PASSWORD) as client:
        yield client


def allowed(client: Any, command: tuple[str, ...]) -> bool:
    try:
        client.execute_command(*command)
    except NoPermissionError:
        return False
    return True


def test_a_worker_s_user_reaches_nothing_of_others(limited: Any) -> None:
    assert [what for what, command in FORBIDDEN.items() if allowed(limited, command)] == []


def test_a_worker_s_user_makes_no_key_of_another_type(limited: Any) -> None:
    """One in the place of a list would stop whoever reads the list."""
    made = [
        (what, key)
        for key in REACHED
        for what, command in OTHER_TYPES.items()
        if allowed(limited, tuple(word.format(key) for word in command))
    ]
    assert made == []


def test_only_from_redis_7_on_a_worker_s_user_cannot_take_reports(limited: Any, major: int) -> None:
    assert limited.lpush("records", "x") == 1
    taken = [what for what, command in TAKEN.items() if allowed(limited, command)]
    assert taken == ([] if major >= 7 else ["the reports", "the reports' end", "the number of reports"])


@pytest.mark.slow
def test_a_worker_plays_as_its_user(
    broker: Broker, limited: Any, bundled: BadBundles, tmp_path: Path
) -> None:
    """It sets a strange item aside, too, and is not stopped by what it may not do."""
    url = broker.url.replace("socket://", f"socket://{NAME.replace('@', '%40')}:{PASSWORD}@")
    broker.push(queue_of("games"), b"three bytes")
    with running_worker(url, tmp_path) as worker:
        broker.send(job_of(bundled(), bundled(), games=2))
        reports, _ = broker.receive_reports(2)
        worker.terminate()
        assert worker.wait(60) == 0
    assert [report.fault for report in reports] == ["none", "none"]
    assert len(broker.items(set_aside_key(NAME))) == 1
    log = (tmp_path / "worker.log").read_text()
    assert "NOPERM" not in log
    assert "no permissions" not in log
