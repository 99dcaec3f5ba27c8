"""When a running worker probes its sandbox again, and when it stops to do so."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from pathlib import Path

import pytest

from tests.support.jobs import wait_until
from workers.sandbox.levels import Level, Verdict, Want
from workers.sandbox.policy import VERDICT_FILE
from workers.service.restart import FIRST_PAUSE_SECONDS, LONGEST_PAUSE_SECONDS, SandboxRecheck

LATE = Want("a sandbox that starts: no line arrived in time", may_pass=True)
REFUSED = Want("user namespaces for this user")
NO_BUBBLEWRAP = Want("the program bwrap", package="bubblewrap")

FAKE_PROBE = f"""
import pathlib, sys
verdict, folder = sys.argv[1], pathlib.Path(sys.argv[2])
folder.mkdir(exist_ok=True)
(folder / {VERDICT_FILE!r}).write_text(verdict)
with (folder / "probes").open("a") as probes:
    probes.write("probe\\n")
"""


class Watched:
    """A recheck after a probe with this result, whose later probes all find ``found``; keeps the time."""

    def __init__(self, folder: Path, first: Verdict, found: Verdict) -> None:
        command = (sys.executable, "-c", FAKE_PROBE, json.dumps(asdict(found)))
        self.probes = folder / "probes"
        self.recheck = SandboxRecheck(first, folder, command)
        self.now = 0.0
        self.change = self.recheck.find_change(self.now)

    @property
    def number(self) -> int:
        """How many probes there have been."""
        return len(self.probes.read_text().split()) if self.probes.exists() else 0

    def passes(self, seconds: float) -> None:
        """Let this time pass, and wait for the probe that it may begin."""
        self.now += seconds
        self.change = self.recheck.find_change(self.now)
        assert wait_until(lambda: self.recheck._process is None or self.recheck._process.poll() is not None)
        self.change = self.recheck.find_change(self.now)
        self.recheck.find_change(self.now)  # the next pause begins


def test_an_uncertain_result_is_probed_again_with_growing_pauses(tmp_path: Path) -> None:
    worker = Watched(tmp_path, Verdict(Level.C, (LATE,)), Verdict(Level.C, (LATE,)))
    pause = FIRST_PAUSE_SECONDS
    for number in range(10):
        worker.passes(0.9 * pause)
        assert worker.number == number
        worker.passes(0.1 * pause + 0.01)
        assert (worker.number, worker.change) == (number + 1, "")
        pause = min(2 * pause, LONGEST_PAUSE_SECONDS)
    assert pause == LONGEST_PAUSE_SECONDS


@pytest.mark.parametrize("better", [Level.A, Level.B])
def test_a_better_level_is_a_reason_to_restart(tmp_path: Path, better: Level) -> None:
    worker = Watched(tmp_path, Verdict(Level.C, (LATE,)), Verdict(better))
    worker.passes(FIRST_PAUSE_SECONDS)
    assert worker.change == f"a new probe found the sandbox at level {better}"


@pytest.mark.parametrize("level", list(Level))
def test_a_certain_result_is_not_probed_again(tmp_path: Path, level: Level) -> None:
    worker = Watched(tmp_path, Verdict(level, (REFUSED,)), Verdict(Level.A))
    worker.passes(LONGEST_PAUSE_SECONDS)
    assert (worker.number, worker.change) == (0, "")


def test_a_clear_refusal_ends_the_probes(tmp_path: Path) -> None:
    worker = Watched(tmp_path, Verdict(Level.C, (LATE,)), Verdict(Level.C, (REFUSED,)))
    for _ in range(3):
        worker.passes(LONGEST_PAUSE_SECONDS)
    assert (worker.number, worker.change) == (1, "")


def test_a_probe_that_cannot_be_started_is_tried_again(tmp_path: Path) -> None:
    recheck = SandboxRecheck(Verdict(Level.C, (LATE,)), tmp_path, ("/nonexistent/program",))
    for now in (0.0, FIRST_PAUSE_SECONDS, FIRST_PAUSE_SECONDS):
        assert recheck.find_change(now) == ""
    assert recheck._due == FIRST_PAUSE_SECONDS + 2 * FIRST_PAUSE_SECONDS


def test_an_installed_program_is_a_reason_to_restart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    missing = ["bwrap"]
    monkeypatch.setattr("workers.service.restart.missing_programs", lambda: missing)
    recheck = SandboxRecheck(Verdict(Level.C, (NO_BUBBLEWRAP,)), tmp_path)
    assert recheck.find_change(0.0) == ""
    missing.clear()
    assert recheck.find_change(1.0) == "the programs that the sandbox lacked are installed"
