"""Games on a core that other programs use: the fair clock with real engines in the sandbox."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from tests.support.jobs import job_of, play_job
from tests.support.sandboxes import bad_engine_in
from workers.jobs import GameReport
from workers.sandbox.policy import Policy
from workers.sandbox.sandbox import Sandbox

pytestmark = pytest.mark.slow

LOOPS = 5
LOOP = ("timeout", "120", "sh", "-c", "while :; do :; done")
TIMES = r"wall time (\d+) ms, withheld by the machine (\d+) ms, charged (\d+) ms"


@contextmanager
def one_core(loops: int = 0) -> Iterator[None]:
    """This process, and all that it starts, on one core, with busy loops beside them."""
    before = os.sched_getaffinity(0)
    with ExitStack() as stack:
        stack.callback(os.sched_setaffinity, 0, before)
        os.sched_setaffinity(0, {max(before)})
        for _ in range(loops):
            loop = stack.enter_context(subprocess.Popen(LOOP))
            stack.callback(loop.terminate)  # `timeout` passes it on to the loop
        yield


def play(sandbox: Sandbox, folder: Path, *plan: str, control: str) -> GameReport:
    one = replace(bad_engine_in(folder / "one", *plan, mark=str(folder)), time_control=control)
    two = bad_engine_in(folder / "two", name="Good", mark=str(folder))
    [report] = play_job(job_of(one, two, time_control="60+0"), policy=Policy(sandbox)).reports
    return report


def test_an_engine_that_needs_less_than_its_time_does_not_lose_beside_busy_loops(
    sandbox: Sandbox, tmp_path: Path
) -> None:
    """0.4 s of processor time, 1.2 s a move, and a sixth of the core."""
    with one_core(LOOPS):
        report = play(sandbox, tmp_path, "go:2", "burn", "0.4", control="1.2/move")
    assert (report.termination, report.evidence) == ("ply limit", "")
    assert report.clock in ("pressure", "run delay")


def test_an_engine_that_sleeps_beside_busy_loops_loses_as_before(sandbox: Sandbox, tmp_path: Path) -> None:
    with one_core(LOOPS):
        report = play(sandbox, tmp_path, "go:2", "late", "15", control="0.5/move")
    assert (report.termination, report.fault) == ("time forfeit", "white")
    found = re.search(TIMES, report.evidence)
    assert found is not None, report.evidence
    wall_ms, withheld_ms, charged_ms = map(int, found.groups())
    assert charged_ms >= 550
    assert wall_ms - withheld_ms <= charged_ms + 1


@pytest.mark.parametrize("what", ["crowd", "spin"])
def test_an_engine_gains_nothing_by_children_or_threads_of_its_own(
    sandbox: Sandbox, tmp_path: Path, what: str
) -> None:
    """They use the core beside its main thread, which then takes longer than its clock allows."""
    plan = ("isready", "spin", "-") if what == "spin" else ("go:2", "crowd", "20")
    with one_core():
        report = play(sandbox, tmp_path, *plan, "go:2", "late", "15", control="1/move")
    assert (report.termination, report.fault) == ("time forfeit", "white"), report.evidence


def test_without_a_core_of_its_own_a_game_runs_on_wall_time(sandbox: Sandbox, tmp_path: Path) -> None:
    if len(os.sched_getaffinity(0)) == 1:
        pytest.skip("needs two cores")
    report = play(sandbox, tmp_path, "go:2", "late", "15", control="0.5/move")
    assert (report.termination, report.clock) == ("time forfeit", "")
    assert "withheld" not in report.evidence
