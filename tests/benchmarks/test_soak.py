"""The tools of the soak test: the relay, the clock, and the choice of processes to kill."""

from __future__ import annotations

import http.client
import os
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from benchmarks.soak.relay import Relay
from benchmarks.soak.site import Site, wrong_clock
from tests.support.jobs import PATIENCE_SECONDS, wait_until
from tests.support.needs import need
from tests.support.processes import command_line
from tests.support.servers import LocalServer, QuietHandler
from tests.support.service_processes import guards_of
from tournament.embedded.plan import ROOT
from tournament.embedded.processes.process import Service
from tournament.embedded.processes.supervisor import Supervisor
from workers.sandbox.tree import descendants

REPORT = b'{"reports":[{"key":"a game"}]}'


class Receiver:
    """A site that keeps the body of each request."""

    def __init__(self) -> None:
        self.bodies: list[bytes] = []
        receiver = self

        class Handler(QuietHandler):
            protocol_version = "HTTP/1.1"

            def answer(self) -> None:
                receiver.bodies.append(self.body())
                self.reply(200, b"ok")

        self.server = LocalServer(Handler)
        self.address = ("127.0.0.1", self.server.server_port)


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    receiver = Receiver()
    with receiver.server:
        yield receiver


def post(relay: Relay, body: bytes = b"{}", seconds: float = PATIENCE_SECONDS) -> bytes:
    """The answer to a request of a worker; empty if it gets none."""
    try:
        with urllib.request.urlopen(f"{relay.address}/api/work/", body, seconds) as answer:
            return bytes(answer.read())
    except (OSError, http.client.HTTPException):
        return b""


def test_a_relay_sends_a_request_twice(receiver: Receiver) -> None:
    with Relay(receiver.address, doubled=1.0) as relay:
        assert post(relay) == b"ok"
    assert receiver.bodies == [b"{}"] * 2
    assert relay.counts["requests sent twice"] == 1


def test_a_relay_loses_the_answer_to_a_request_that_took_effect(receiver: Receiver) -> None:
    with Relay(receiver.address, unanswered=1.0) as relay:
        assert post(relay) == b""
    assert receiver.bodies == [b"{}"]


def test_a_relay_delivers_reports_when_they_are_due_or_released(receiver: Receiver) -> None:
    with Relay(receiver.address, held=1.0, held_s=600) as relay:
        assert post(relay, REPORT) == b""
        assert post(relay) == b"ok"
        assert receiver.bodies == [b"{}"]
        assert relay.held == 1
        relay.release()
        assert wait_until(lambda: receiver.bodies == [b"{}", REPORT])
        assert wait_until(lambda: relay.held == 0)


def test_a_silent_relay_keeps_connections_open_and_lets_nothing_through(receiver: Receiver) -> None:
    with Relay(receiver.address) as relay:
        relay.silence()
        assert post(relay, b"early", seconds=0.5) == b""
        assert receiver.bodies == []
        relay.resume()
        assert wait_until(lambda: receiver.bodies == [b"early"])
        assert post(relay) == b"ok"


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
        guard = guards_of(supervisor)["players-1"]
        assert wait_until(lambda: any("sleep" in command_line(pid) for pid in descendants(guard)))
        below = descendants(guard)
        assert not site.kill_child("players-1")  # none has the command line of the service
        assert site.stop("players-1")
        assert wait_until(lambda: all(" T " in state_of(pid) for pid in below))
        assert site.kill("players-1")

        def is_new() -> bool:
            supervisor.tend()
            return guards_of(supervisor)["players-1"] != guard

        assert wait_until(is_new)
    assert "players-1 died (signal 9)" in said[0]


def state_of(pid: int) -> str:
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2]
