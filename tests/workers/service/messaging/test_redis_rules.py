"""A Redis user of one worker: it can do all that the worker does, and nothing to the others."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import redis
from redis.exceptions import NoPermissionError

from tests.support.brokers import Broker, queue_of, running_redis, running_worker
from tests.support.jobs import BadBundles, job_of
from workers.commands.start import worker_name
from workers.service.messaging.redis_rules import worker_rules

NAME = worker_name(None, "games")
WEST = "players@west"
PASSWORD = "a-password-of-tests"
FORBIDDEN = {
    "jobs for another worker": ("LPUSH", f"games.{WEST}", "x"),
    "commands for another worker": ("LPUSH", f"commands.{WEST}", "x"),
    "the jobs of another worker": ("RPOP", f"games.{WEST}"),
    "the jobs that another worker holds": ("HGET", f"unacked.{WEST}", "x"),
    "another key": ("SET", "other", "x"),
    "all keys": ("KEYS", "*"),
    "everything": ("FLUSHALL",),
    "the configuration": ("CONFIG", "GET", "*"),
    "other users": ("ACL", "LIST"),
    "the end of the server": ("SHUTDOWN", "NOSAVE"),
    "programs in the server": ("EVAL", "return 1", "0"),
    "other clients": ("CLIENT", "KILL", "TYPE", "normal"),
}
TAKEN = {
    "the reports": ("RPOP", "records"),
    "the reports' end": ("LTRIM", "records", "1", "0"),
    "the reports' deletion": ("DEL", "records"),
}


@pytest.fixture
def limited(broker: Broker) -> Iterator[redis.Redis]:
    """The user of the worker with the default name, on the embedded Redis."""
    yield from made_user(broker.socket, has_selectors=False)


def made_user(socket: Path, *, has_selectors: bool) -> Iterator[redis.Redis]:
    owner: Any
    with redis.Redis(unix_socket_path=str(socket)) as owner:
        owner.execute_command(
            "ACL", "SETUSER", NAME, *worker_rules(NAME, PASSWORD, has_selectors=has_selectors)
        )
    with redis.Redis(unix_socket_path=str(socket), username=NAME, password=PASSWORD) as client:
        yield client


@pytest.mark.parametrize("what", FORBIDDEN)
def test_a_worker_s_user_cannot_reach(limited: Any, what: str) -> None:
    with pytest.raises(NoPermissionError):
        limited.execute_command(*FORBIDDEN[what])


@pytest.mark.slow
def test_a_worker_plays_as_its_user(
    broker: Broker, limited: redis.Redis, bundled: BadBundles, tmp_path: Path
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
    assert len(broker.items("set-aside")) == 1
    assert "NOPERM" not in (tmp_path / "worker.log").read_text()


def redis_7() -> str | None:
    """A server of the system that has selectors."""
    found = shutil.which("redis-server")
    if found is None:
        return None
    version = subprocess.run([found, "--version"], capture_output=True, text=True, check=False).stdout
    return found if int(version.partition("v=")[2].partition(".")[0] or 0) >= 7 else None


def test_from_redis_7_on_a_worker_s_user_cannot_take_reports() -> None:
    if redis_7() is None:
        pytest.skip("no redis-server of version 7 or later here: apt-get install redis-server")
    with running_redis() as socket:
        for client in made_user(socket, has_selectors=True):
            reports: Any = client
            assert reports.lpush("records", "x") == 1
            for command in (*FORBIDDEN.values(), *TAKEN.values()):
                with pytest.raises(NoPermissionError):
                    reports.execute_command(*command)
