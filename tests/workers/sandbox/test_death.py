"""A worker killed outright at any moment leaves no engine behind."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
import uuid
from contextlib import suppress
from pathlib import Path

import msgspec
import pytest

from tests.support.jobs import job_of, processes_with, wait_until
from tests.support.sandboxes import bad_engine_in
from tournament.embedded.plan import ROOT
from workers.sandbox.groups.cgroups import PREFIX
from workers.sandbox.sandbox import Sandbox

pytestmark = pytest.mark.slow

WORKER = """
import sys, tempfile
from pathlib import Path
from workers.jobs import GameJob
from workers.messages import decode
from workers.play.batch import play_batch
from workers.play.runner import Callbacks, WorkerContext
from workers.sandbox.policy import policy_for_level

tempfile.tempdir = sys.argv[2]
worker = WorkerContext("w", Path(), Path(), policy_for_level(sys.argv[3]))
job = decode(GameJob, sys.argv[1])
print("begins", flush=True)
play_batch([job], worker, Callbacks(lambda report: print(report, flush=True), lambda progress: None))
"""


def members(group: Path) -> str:
    try:
        return (group / "cgroup.procs").read_text()
    except OSError:  # it is gone, or goes while it is read
        return ""


class Victim:
    """A worker in a new process, playing one game between two engines that never end by themselves."""

    def __init__(self, sandbox: Sandbox, folder: Path) -> None:
        self.mark = f"mark-{uuid.uuid4()}"
        self.scratch = folder / "scratch"
        self.scratch.mkdir(exist_ok=True)
        self._parent = sandbox.parent
        one = bad_engine_in(folder / "one", "go", "resist", "-", mark=self.mark)
        two = bad_engine_in(folder / "two", mark=self.mark)
        job = msgspec.json.encode(job_of(one, two, time_control="60+0")).decode()
        level = "B" if sandbox.parent is None else "A"
        command = [sys.executable, "-c", WORKER, job, str(self.scratch), level]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, cwd=ROOT)
        assert self.process.stdout is not None
        assert self.process.stdout.readline() == b"begins\n"

    def kill(self) -> None:
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()
        assert self.process.stdout is not None
        self.process.stdout.close()

    def engines(self) -> list[int]:
        return processes_with(self.mark)

    def groups(self) -> list[Path]:
        folders = () if self._parent is None else self._parent.folders.values()
        return [group for folder in folders for group in Path(folder).glob(f"{PREFIX}{self.process.pid}-*")]

    def is_gone(self) -> bool:
        return not self.engines() and not self.groups() and not list(self.scratch.iterdir())


def test_engines_that_play_die_with_their_worker(sandbox: Sandbox, tmp_path: Path) -> None:
    """Deadline of the behaviour: one second; ten times that here. One engine ignores signals, one rests."""
    victim = Victim(sandbox, tmp_path)
    assert wait_until(lambda: len(victim.engines()) >= 6, 20)  # of each: bwrap, its first process, the engine
    assert sandbox.parent is None or victim.groups()
    victim.kill()
    assert wait_until(victim.is_gone, 10)


@pytest.mark.parametrize("after_ms", [0, 2, 4, 6, 8, 10, 12, 16, 24])
def test_a_worker_killed_while_engines_start_leaves_none(
    sandbox: Sandbox, tmp_path: Path, after_ms: int
) -> None:
    victim = Victim(sandbox, tmp_path)
    until = time.monotonic() + after_ms / 1000
    while time.monotonic() < until:
        pass
    victim.kill()
    assert wait_until(lambda: not victim.engines() and not victim.groups(), 10)


def test_groups_within_an_engines_group_are_removed_after_a_killed_worker(
    level_a: Sandbox, tmp_path: Path
) -> None:
    """As if an engine reached the control group filesystem: many groups, with its processes in one."""
    victim = Victim(level_a, tmp_path)
    assert wait_until(lambda: len(victim.engines()) >= 6, 20)
    for group in victim.groups():
        for number in range(20):
            (group / f"inner-{number}" / "innermost").mkdir(parents=True)
        innermost = group / "inner-0" / "innermost"
        for process in members(group).split():
            with suppress(ProcessLookupError):  # one of those that start an engine has ended meanwhile
                (innermost / "cgroup.procs").write_text(process)
        assert members(innermost)
    victim.kill()
    assert wait_until(victim.is_gone, 10)
