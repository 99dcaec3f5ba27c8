"""The supervisor over small placeholder services."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.service_processes import guards_of
from tests.tournament.embedded.processes.test_process import eventually
from tournament.embedded import StartError
from tournament.embedded.plan import ROOT
from tournament.embedded.processes.process import Service
from tournament.embedded.processes.supervisor import Supervisor

pytestmark = pytest.mark.slow

LIVING = """
import pathlib, signal, sys
def stop(*_):
    with open("stopped", "a") as file:
        print(sys.argv[1], file=file)
    sys.exit(0)
signal.signal(signal.SIGTERM, stop)
with open(sys.argv[1], "a") as file:
    print("started", file=file)
while True:
    signal.pause()
"""
DEAF = """
import signal
signal.signal(signal.SIGTERM, signal.SIG_IGN)
open("deaf", "w").close()
while True:
    signal.pause()
"""


@pytest.fixture
def messages() -> list[str]:
    return []


@pytest.fixture
def supervisor(tmp_path: Path, messages: list[str]) -> Iterator[Supervisor]:
    with Supervisor(logs=tmp_path / "logs", folder=tmp_path, say=messages.append) as supervisor:
        yield supervisor


def living(tmp_path: Path, name: str) -> Service:
    command = (sys.executable, "-c", LIVING, name)
    return Service(name, command, ready=(tmp_path / name).exists)


def test_services_are_stopped_last_started_first(supervisor: Supervisor, tmp_path: Path) -> None:
    for name in ("redis", "site", "players"):
        supervisor.start(living(tmp_path, name))

    supervisor.stop()

    assert (tmp_path / "stopped").read_text().split() == ["players", "site", "redis"]


def test_services_that_are_restarted_are_killed_and_started_in_their_order(
    supervisor: Supervisor, tmp_path: Path, messages: list[str]
) -> None:
    services = [living(tmp_path, name) for name in ("redis", "site", "players")]
    for service in services:
        supervisor.start(service)
    before = guards_of(supervisor)

    supervisor.restart(services[1:])
    supervisor.tend()

    now = guards_of(supervisor)
    assert [name for name in now if now[name] != before[name]] == ["site", "players"]
    assert messages == []


def test_a_service_that_dies_is_started_again_with_a_message(
    supervisor: Supervisor, tmp_path: Path, messages: list[str]
) -> None:
    service = Service("flaky", (sys.executable, "-c", "open('flaky', 'a').write('x'); exit('no luck')"))
    supervisor.start(service)

    def restarted() -> bool:
        supervisor.tend()
        return (tmp_path / "flaky").exists() and len((tmp_path / "flaky").read_text()) >= 2

    eventually(restarted)
    assert messages[0].startswith("flaky died (exit code 1) and is started again now; its log ")
    assert messages[0].endswith("ends: no luck")


def test_a_service_that_keeps_dying_is_restarted_after_longer_and_longer_pauses(
    supervisor: Supervisor, tmp_path: Path, messages: list[str]
) -> None:
    supervisor.start(Service("flaky", (sys.executable, "-c", "exit('no luck')")))

    def died_twice() -> bool:
        supervisor.tend()
        return len(messages) >= 2

    eventually(died_twice)
    assert "is started again in 1 s" in messages[1]


def test_a_service_that_ends_while_it_starts_is_reported_with_the_end_of_its_log(
    supervisor: Supervisor,
) -> None:
    service = Service("site", (sys.executable, "-c", "exit('port taken')"), ready=lambda: False)
    with pytest.raises(StartError, match=r"site ended at once \(1\); its log .*site\.log ends: port taken"):
        supervisor.start(service)


def test_a_service_that_dies_again_and_again_is_hopeless_and_named_with_its_last_words(
    supervisor: Supervisor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tournament.embedded.processes.supervisor.BACKOFF_SECONDS", (0.0,))
    supervisor.start(Service("players", (sys.executable, "-c", "exit('no /dev/shm')")))
    assert supervisor.hopeless == ""
    eventually(lambda: tended(supervisor) and bool(supervisor.hopeless))
    assert supervisor.hopeless.startswith("players died 4 times in a row; its log ")
    assert supervisor.hopeless.endswith("ends: no /dev/shm")


def test_a_service_that_does_not_stop_in_time_is_killed(
    supervisor: Supervisor, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tournament.embedded.processes.supervisor.PATIENCE_SECONDS", 0.1)
    deaf = Service("deaf", (sys.executable, "-c", DEAF), ready=(tmp_path / "deaf").exists)
    supervisor.start(deaf)
    supervisor.stop()  # returns at all


def test_a_guard_that_is_killed_takes_its_service_along_and_both_are_started_again(
    supervisor: Supervisor, tmp_path: Path, messages: list[str]
) -> None:
    supervisor.start(living(tmp_path, "site"))
    os.kill(guards_of(supervisor)["site"], signal.SIGKILL)

    def started_twice() -> bool:
        supervisor.tend()
        return (tmp_path / "site").read_text().count("started") == 2

    eventually(started_twice)
    assert messages[0].startswith("site died (signal 9) and is started again now; its log ")


def test_the_first_ctrl_c_stops_the_services_and_the_second_kills_them(
    supervisor: Supervisor, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tournament.embedded.processes.supervisor.PATIENCE_SECONDS", 3600.0)
    deaf = Service("deaf", (sys.executable, "-c", DEAF), ready=(tmp_path / "deaf").exists)
    with supervisor.listening():
        supervisor.start(deaf)
        os.kill(os.getpid(), signal.SIGINT)
        assert supervisor.stopping
        os.kill(os.getpid(), signal.SIGINT)
        supervisor.stop()  # returns at once, though the patience is an hour


def test_a_stop_request_while_a_service_starts_ends_the_wait(supervisor: Supervisor) -> None:
    service = Service("slow", ("sleep", "600"), ready=lambda: False)
    with supervisor.listening():
        os.kill(os.getpid(), signal.SIGTERM)
        with pytest.raises(StartError, match="stopped while slow was starting"):
            supervisor.start(service)


def test_the_earlier_signal_handlers_are_restored_afterwards(supervisor: Supervisor) -> None:
    before = signal.getsignal(signal.SIGINT)
    with supervisor.listening():
        assert signal.getsignal(signal.SIGINT) != before
    assert signal.getsignal(signal.SIGINT) == before


HANGING = """
import re, sys
from workers import watchdog
open("starts", "a").write("x")
watchdog.rearm(0.2)
re.match("(a*)*b", 60 * "a")
"""


def test_a_service_that_hangs_in_compiled_code_ends_with_a_traceback_and_is_started_again(
    supervisor: Supervisor, tmp_path: Path, messages: list[str]
) -> None:
    supervisor.start(Service("keeper", (sys.executable, "-c", HANGING), {"PYTHONPATH": str(ROOT)}))
    eventually(lambda: tended(supervisor) and starts(tmp_path) == 2)
    assert "keeper died (exit code 1) and is started again now" in messages[0]
    assert "Timeout" in (tmp_path / "logs" / "keeper.log").read_text()


def tended(supervisor: Supervisor) -> bool:
    supervisor.tend()
    return True


def starts(tmp_path: Path) -> int:
    return len((tmp_path / "starts").read_text()) if (tmp_path / "starts").exists() else 0
