"""A worker starts itself again once a new probe would give a better sandbox."""

from __future__ import annotations

import os
import shutil
import signal
from pathlib import Path

import pytest

from engines.bots import SAMPLE_BOTS
from engines.bundles.store import store_bundle
from tests.support.brokers import QUICK, ROOT, running_worker
from tests.support.fake_door import PATIENCE_SECONDS, FakeDoor
from tests.support.jobs import job_of
from tests.support.needs import need
from workers.bundles.samples import pack_sample
from workers.jobs import EngineSpec, Heartbeat
from workers.sandbox.bwrap import OUTER_ENVIRONMENT
from workers.sandbox.host import NEEDED, find_program
from workers.sandbox.policy import read_verdict
from workers.service.restart import Restart, again


@pytest.fixture
def stops(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The signals that this process would have sent to itself."""
    sent: list[int] = []
    monkeypatch.setattr(os, "kill", lambda _process, number: sent.append(number))
    return sent


def test_a_restart_ends_the_worker_once_and_is_due_then(stops: list[int]) -> None:
    restart = Restart()
    assert not restart.is_due
    restart.ask()
    restart.ask()
    restart.note_stop()
    assert stops == [signal.SIGTERM]
    assert restart.is_due


def test_a_worker_that_is_stopped_during_a_restart_does_not_start_again(stops: list[int]) -> None:
    restart = Restart()
    restart.ask()
    restart.note_stop()
    restart.note_stop()
    assert not restart.is_due


def test_a_worker_that_is_only_stopped_does_not_start_again() -> None:
    restart = Restart()
    restart.note_stop()
    assert not restart.is_due


def test_the_command_of_a_second_restart_is_that_of_the_first() -> None:
    first = again(["python3", "-m", "workers", "start"])
    assert first == ["python3", "-m", "workers", "start", "--nice=0"]
    assert again(first) == first


@pytest.fixture
def programs(tmp_path: Path) -> Path:
    """A folder with the programs of the sandbox except bubblewrap."""
    folder = tmp_path / "programs"
    folder.mkdir()
    for name in NEEDED:
        if name != "bwrap":
            (folder / name).symlink_to(str(find_program(name)))
    return folder


def checkout_with(programs: Path, folder: Path) -> Path:
    """A separate checkout that finds programs only in that folder."""
    for room in ("engines", "workers"):
        shutil.copytree(ROOT / room, folder / room, ignore=shutil.ignore_patterns("__pycache__", "build"))
    module = folder / "workers" / "sandbox" / "bwrap.py"
    path = OUTER_ENVIRONMENT["PATH"]
    assert path in module.read_text()
    module.write_text(module.read_text().replace(path, str(programs)))
    return folder


@pytest.mark.slow
@pytest.mark.parametrize(
    "is_stopped",
    [pytest.param(False, marks=pytest.mark.thorough, id="alone"), pytest.param(True, id="and is stopped")],
)
def test_a_worker_looks_again_when_bubblewrap_is_installed(
    door: FakeDoor, programs: Path, tmp_path: Path, is_stopped: bool
) -> None:
    """It gives its game back, keeps its nice value, and starts a new run with a new verdict."""
    bubblewrap = need("bwrap")
    root = checkout_with(programs, tmp_path / "checkout")
    environment = {"PYTHONPATH": str(root), "DUARENA_LOCAL": "1"}

    def lacks_bubblewrap(heartbeat: Heartbeat) -> bool:
        return "the program bwrap" in heartbeat.refusal

    with running_worker(
        door.url, tmp_path, root=root, environment=environment, walls=True, words=("--nice=3",)
    ) as worker:
        first = door.hear()
        assert lacks_bubblewrap(first)
        assert first.level == "C"
        alphabeta = store_bundle(tmp_path / "bundles", pack_sample(SAMPLE_BOTS[-1]))  # runs without a sandbox
        specs = [EngineSpec(name, "1", ("./none",), bundle=alphabeta) for name in ("One", "Two")]
        job = job_of(*specs, time_control="600+0")
        door.give(job)
        door.hear(lambda heartbeat: heartbeat.busy == 1)
        door.wait_for(lambda: door.posts)
        if is_stopped:
            worker.terminate()
        (programs / "bwrap").symlink_to(bubblewrap)
        door.wait_for(lambda: door.returned)
        assert door.returned == ["attempt-1"]
        if is_stopped:
            assert worker.wait(PATIENCE_SECONDS) == 0
            return
        second = door.hear(lambda heartbeat: heartbeat.run != first.run)
        assert not lacks_bubblewrap(second)
        assert second.worker == first.worker
        assert worker.poll() is None
        assert os.getpriority(os.PRIO_PROCESS, worker.pid) == os.getpriority(os.PRIO_PROCESS, 0) + 3
        worker.terminate()
        assert worker.wait(PATIENCE_SECONDS) == 0


@pytest.mark.slow
def test_a_worker_whose_probe_failed_on_a_busy_machine_probes_again(
    door: FakeDoor, programs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first probe gets no line from its engine; the level in heartbeats and of the pages follows."""
    bubblewrap = need("bwrap")
    bwrap = programs / "bwrap"
    bwrap.write_text("#!/bin/sh\necho 'bwrap: no line arrived in time' >&2\nexit 1\n")
    bwrap.chmod(0o755)
    root = checkout_with(programs, tmp_path / "checkout")
    monkeypatch.setitem(QUICK, "workers.service.restart.FIRST_PAUSE_SECONDS", 0.2)
    environment = {"PYTHONPATH": str(root), "DUARENA_LOCAL": "1"}
    with running_worker(door.url, tmp_path, root=root, environment=environment, walls=True) as worker:
        first = door.hear()
        assert (first.level, "no line arrived in time" in first.refusal) == ("C", True)
        bwrap.unlink()
        bwrap.symlink_to(bubblewrap)
        second = door.hear(lambda heartbeat: heartbeat.run != first.run)
        assert (second.level in {"A", "B"}, second.refusal) == (True, "")
        kept = read_verdict(tmp_path / "cache")
        assert kept is not None
        assert kept.level == second.level
        assert worker.poll() is None
