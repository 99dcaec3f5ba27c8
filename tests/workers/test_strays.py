"""Children of an engine that leave its process group end with it all the same."""

from __future__ import annotations

import os
import signal
import subprocess
from contextlib import suppress
from pathlib import Path

import pytest

from tests.support.jobs import bad_engine, job_of, nothing_left, play_job, processes_with, wait_until
from tests.support.matches import QUICK, engine, finish_match, run_match, slots_of, start_match
from workers.strays import adopting_orphans, children, end_orphans


@pytest.mark.parametrize("fault", [(), ("go:2", "leave", "3")])
def test_a_child_in_a_session_of_its_own_ends_with_its_engine(mark: str, fault: tuple[str, ...]) -> None:
    with nothing_left(mark):
        report = play_job(job_of(bad_engine("go:1", "escape", "-", *fault, mark=mark), bad_engine(mark=mark)))
    assert report.reports[0].termination == ("crash" if fault else "ply limit")


def test_orphans_are_adopted_and_ended_and_children_from_before_are_not() -> None:
    script = "(env -i setsid sleep 60 &) ; (env -i setsid sh -c 'sleep 60 & sleep 60' &)"
    with subprocess.Popen(["sleep", "60"]) as before:
        known = set(children())
        with adopting_orphans():
            subprocess.run(["sh", "-c", script], check=True)
            assert wait_until(lambda: len(set(children()) - known) == 2)
            orphans = set(children()) - known
        assert before.poll() is None
        assert not orphans & set(children())
        before.kill()


def test_nothing_is_ended_without_orphans() -> None:
    with subprocess.Popen(["sleep", "60"]) as child:
        end_orphans({child.pid, *children()})
        assert child.poll() is None
        child.kill()


@pytest.mark.slow
@pytest.mark.parametrize("how", ["daemon", "bare"])
def test_a_match_leaves_no_daemon_of_an_engine(tmp_path: Path, mark: str, how: str) -> None:
    """Without environment it is found as an orphan."""
    done = run_match(
        tmp_path, *engine("A", "go:1", "escape", how, mark=mark), *engine("B", mark=mark), *QUICK
    )
    assert done.code == 0
    assert processes_with(mark) == []


@pytest.mark.slow
@pytest.mark.parametrize("how", ["daemon", "bare"])
def test_a_slot_that_is_killed_leaves_no_daemon(tmp_path: Path, mark: str, how: str) -> None:
    gate = tmp_path / "gate"
    plan = ("go:1", "escape", how, "go:2", "wait", str(gate))
    match = start_match(tmp_path, *engine("A", *plan, mark=mark), *engine("B", mark=mark), *QUICK)
    assert wait_until(lambda: len(processes_with(mark)) == 3)
    (slot,) = slots_of(match)
    os.kill(slot, signal.SIGKILL)
    gate.touch()
    assert finish_match(match, tmp_path).code == 0
    assert processes_with(mark) == []


@pytest.mark.slow
def test_a_match_that_is_killed_leaves_no_daemon(tmp_path: Path, mark: str) -> None:
    plan = ("go:1", "escape", "daemon", "go:2", "hang", "-")
    match = start_match(tmp_path, *engine("A", *plan, mark=mark), *engine("B", mark=mark), *QUICK)
    assert wait_until(lambda: len(processes_with(mark)) == 3)
    for process in (match.pid, *slots_of(match)):
        with suppress(ProcessLookupError):  # the slots end with the match
            os.kill(process, signal.SIGKILL)
    finish_match(match, tmp_path)
    assert wait_until(lambda: not processes_with(mark))
