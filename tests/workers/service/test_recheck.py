"""When a running worker probes its sandbox again, and when it stops to do so."""

from __future__ import annotations

import json
import sys
from contextlib import suppress
from dataclasses import asdict
from itertools import pairwise
from pathlib import Path

import pytest

from workers.sandbox.levels import Level, Verdict, Want
from workers.sandbox.policy import VERDICT_FILE
from workers.service.restart import LONGEST_PAUSE_SECONDS, wait_for_better

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
    """A worker after a probe with this result, whose later probes all find ``found``, for some seconds."""

    def __init__(self, folder: Path, first: Verdict, found: Verdict, seconds: float) -> None:
        self._probes = folder / "probes"
        self._until = seconds
        self.now = 0.0
        self.probed_at: list[float] = []
        """After how many seconds it probed."""
        self.change = ""
        command = (sys.executable, "-c", FAKE_PROBE, json.dumps(asdict(found)))
        with suppress(TimeoutError):
            self.change = wait_for_better(first, folder, sleep=self._sleep, command=command)

    def _sleep(self, seconds: float) -> None:
        known = len(self._probes.read_text().split()) if self._probes.exists() else 0
        self.probed_at += [self.now] * (known - len(self.probed_at))
        self.now += seconds
        if self.now > self._until:
            raise TimeoutError


def test_an_uncertain_result_is_probed_again_with_growing_pauses(tmp_path: Path) -> None:
    late = Verdict(Level.C, (LATE,))
    worker = Watched(tmp_path, late, late, 3_000.0)
    times = [0.0, *worker.probed_at]
    assert [after - before for before, after in pairwise(times)] == [10, 20, 40, 80, 160, 320, 600, 600, 600]
    assert LONGEST_PAUSE_SECONDS == 600
    assert worker.change == ""


@pytest.mark.parametrize("better", [Level.A, Level.B])
def test_a_better_level_is_a_reason_to_restart(tmp_path: Path, better: Level) -> None:
    worker = Watched(tmp_path, Verdict(Level.C, (LATE,)), Verdict(better), 3_000.0)
    assert (worker.now, worker.change) == (10.0, f"a new probe found the sandbox at level {better}")


@pytest.mark.parametrize("level", list(Level))
def test_a_certain_result_is_not_probed_again(tmp_path: Path, level: Level) -> None:
    worker = Watched(tmp_path, Verdict(level, (REFUSED,)), Verdict(Level.A), 3_000.0)
    assert (worker.probed_at, worker.change) == ([], "")


def test_a_clear_refusal_ends_the_probes(tmp_path: Path) -> None:
    worker = Watched(tmp_path, Verdict(Level.C, (LATE,)), Verdict(Level.C, (REFUSED,)), 3_000.0)
    assert (worker.now, worker.change) == (10.0, "")


def test_a_probe_that_cannot_be_started_is_tried_again(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO", "workers.service.restart")
    slept: list[float] = []

    def sleep(seconds: float) -> None:
        slept.append(seconds)
        if sum(slept) > 30:
            raise TimeoutError

    with pytest.raises(TimeoutError):
        wait_for_better(Verdict(Level.C, (LATE,)), tmp_path, sleep=sleep, command=("/nonexistent/program",))
    assert caplog.messages.count("probes the sandbox again") == 2


def test_an_installed_program_is_a_reason_to_restart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    missing = ["bwrap"]
    monkeypatch.setattr("workers.service.restart.missing_programs", lambda: missing)
    looks: list[float] = []

    def sleep(seconds: float) -> None:
        looks.append(seconds)
        if len(looks) == 3:
            missing.clear()

    why = wait_for_better(Verdict(Level.C, (NO_BUBBLEWRAP,)), tmp_path, sleep=sleep)
    assert (len(looks), why) == (3, "the programs that the sandbox lacked are installed")
