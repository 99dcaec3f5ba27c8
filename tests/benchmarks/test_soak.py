"""The tools of the soak test: the relay, the clock, and the choice of processes to kill."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import redis

from benchmarks.soak.relay import Relay
from benchmarks.soak.site import Site, wrong_clock
from tests.support.brokers import running_redis
from tests.support.jobs import PATIENCE_SECONDS, wait_until
from tests.support.needs import need
from tests.support.processes import command_line
from tournament.embedded.plan import ROOT
from tournament.embedded.processes.guard import descendants
from tournament.embedded.processes.process import Service
from tournament.embedded.processes.supervisor import Supervisor

PONG = b"+PONG\r\n"
MESSAGE = json.dumps({"signed": json.dumps({"headers": {"task": "tournament.record"}}), "sender": "east"})


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Path]:
    with running_redis() as socket:
        yield socket


def ping(client: socket.socket, seconds: float) -> bool:
    """Whether Redis answers in that time."""
    client.settimeout(seconds)
    client.sendall(b"*1\r\n$4\r\nPING\r\n")
    try:
        return client.recv(len(PONG)) == PONG
    except TimeoutError:
        return False


def client_of(socket: Path) -> redis.Redis:
    return redis.Redis(unix_socket_path=str(socket), socket_timeout=PATIENCE_SECONDS)


def test_a_relay_delivers_a_message_twice(store: Path) -> None:
    with Relay(store.with_name("relay"), store, doubles=True) as relay:
        assert client_of(store.with_name("relay")).lpush("records", MESSAGE) == 2
    said: Any = client_of(store).lrange("records", 0, -1)  # its stubs serve asyncio as well
    assert said == [MESSAGE.encode()] * 2
    assert relay.counts["messages delivered twice"] == 1


def test_a_relay_holds_reports_back_until_they_are_due_or_released(store: Path) -> None:
    with Relay(store.with_name("relay"), store, holds=1.0, held_s=600) as relay:
        client = client_of(store.with_name("relay"))
        client.lpush("records", MESSAGE)
        client.lpush("games", MESSAGE.replace("tournament.record", "workers.play"))
        assert client_of(store).llen("records") == 0
        assert client_of(store).llen("games") == 1
        relay.release()
        assert client_of(store).llen("records") == 1


def test_a_silent_relay_keeps_connections_open_and_lets_nothing_through(store: Path) -> None:
    """It falls silent a moment after it was told to; what was said before and after comes later."""
    with Relay(store.with_name("relay"), store) as relay, socket.socket(socket.AF_UNIX) as client:
        client.connect(str(store.with_name("relay")))
        assert ping(client, PATIENCE_SECONDS)
        relay.silence()
        assert wait_until(lambda: not ping(client, 0.5))
        relay.resume()
        client.settimeout(PATIENCE_SECONDS)
        assert client.recv(len(PONG)) == PONG
        assert ping(client, PATIENCE_SECONDS)


@pytest.mark.parametrize("off_s", [3600, -3600])
def test_a_process_has_a_clock_that_is_off(tmp_path: Path, off_s: int) -> None:
    need("cc")
    command = (sys.executable, "-c", "import datetime; print(datetime.datetime.now().timestamp())")
    environment = {**os.environ, **wrong_clock(tmp_path, off_s)}
    said = subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout
    assert abs(float(said) - time.time() - off_s) < 60


PROCESS = "import subprocess, sys; subprocess.Popen(['sleep', '600']).wait() if sys.argv[1] else None"


def test_processes_of_a_service_are_killed_stopped_and_started_again(tmp_path: Path) -> None:
    """The service starts a process that a guard ends with it."""
    said: list[str] = []
    with Supervisor(logs=tmp_path, folder=ROOT, say=said.append) as supervisor:
        supervisor.start(Service("players-1", (sys.executable, "-c", PROCESS, "x")))
        unused: Any = None
        site = Site(tmp_path, supervisor, unused, unused)
        assert site.workers == ["players-1"]
        guard = supervisor.guards["players-1"]
        assert wait_until(lambda: any("sleep" in command_line(pid) for pid in descendants(guard)))
        below = descendants(guard)
        assert not site.kill_slot("players-1")  # none has the command line of the service
        assert site.stop("players-1")
        assert wait_until(lambda: all(" T " in state_of(pid) for pid in below))
        assert site.kill("players-1")

        def is_new() -> bool:
            supervisor.tend()
            return supervisor.guards["players-1"] != guard

        assert wait_until(is_new)
    assert "players-1 died (signal 9)" in said[0]


def state_of(pid: int) -> str:
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2]
