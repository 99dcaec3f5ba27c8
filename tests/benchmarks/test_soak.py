"""The tools of the soak test: the relay, the clock and the detection of orphans."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import redis

from benchmarks.soak.clock import compile_clock, environment_of, measure_offset_s
from benchmarks.soak.relay import Relay
from tests.support.brokers import running_redis
from tests.support.jobs import PATIENCE_SECONDS, wait_until
from tests.support.needs import need
from tournament.embedded.plan import ROOT

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
    environment = {**os.environ, **environment_of(compile_clock(tmp_path), off_s)}
    assert abs(measure_offset_s(environment) - off_s) < 60


def test_a_process_that_outlives_its_parent_is_reported_once() -> None:
    """In a process of its own: whoever looks after orphans does so for life."""
    program = (
        "import os, subprocess\n"
        "from benchmarks.soak import processes\n"
        "from tournament.embedded.processes.guard import descendants\n"
        "processes.SURVIVOR_S = 0.0\n"
        "orphans = processes.Orphans()\n"
        "left = subprocess.Popen(['sh', '-c', 'sleep 60 & echo; exec cat'], stdin=-1, stdout=-1)\n"
        "left.stdout.readline(); left.kill(); left.wait()\n"
        "print([*orphans.look([]), *orphans.look([]), *orphans.look([])])\n"
        "for pid in descendants(os.getpid()): os.kill(pid, 9)\n"
    )
    command = (sys.executable, "-c", program)
    said = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert said.count("outlived its parent") == 1
    assert "sleep 60" in said
