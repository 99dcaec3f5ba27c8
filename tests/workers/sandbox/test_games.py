"""Games in the sandbox: they are played as usual, and a limit that ends one is reported as such."""

from __future__ import annotations

import json
import os
import re
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.support.jobs import job_of, nothing_left, play_job, wait_until
from tests.support.sandboxes import bad_engine_in
from workers.engine import processor_time
from workers.engine.launch import plan_launch
from workers.engine.process import EngineProcess
from workers.game.fastpath.conversation import Conversation
from workers.jobs import GameReport
from workers.sandbox.limits import Limits
from workers.sandbox.policy import Policy
from workers.sandbox.sandbox import Sandbox

MEBIBYTE = 1024 * 1024
PATIENCE_NS = 30 * 10**9


pytestmark = pytest.mark.slow


@pytest.fixture(autouse=True)
def no_group_left(request: pytest.FixtureRequest) -> Iterator[None]:
    """No control group outlives its engine."""
    yield
    for name in ("sandbox", "level_a"):
        used = request.node.funcargs.get(name)
        if used is not None and used.parent is not None:
            mine = f"engine-{os.getpid()}-*"
            folders = [Path(folder) for folder in used.parent.folders.values()]
            assert not [group for folder in folders for group in folder.glob(mine)]


def play(sandbox: Sandbox, folder: Path, *plan: str, control: str | None = None, **more: Any) -> GameReport:
    """A game of the bad engine with this plan and time control, as White, against a good one."""
    one = replace(bad_engine_in(folder / "one", *plan, mark=str(folder)), time_control=control)
    two = bad_engine_in(folder / "two", name="Good", mark=str(folder))
    with nothing_left(str(folder)):
        played = play_job(job_of(one, two, **more), policy=Policy(sandbox))
    [report] = played.reports
    return report


def test_a_game_is_played_and_the_processor_time_of_every_move_is_noted(
    sandbox: Sandbox, tmp_path: Path
) -> None:
    report = play(sandbox, tmp_path, "go:2", "burn", "0.3", time_control="60+0")
    assert report.termination == "ply limit"
    assert report.walls == sandbox.description
    comments = [comment for _, comment in report.moves]
    assert all(" cpu " in f" {comment}" for comment in comments)
    assert float(comments[2].partition("cpu ")[2].rstrip("s")) >= 0.25


def test_an_engine_sees_its_folder_and_nothing_of_the_machine(sandbox: Sandbox, tmp_path: Path) -> None:
    report = play(sandbox, tmp_path, "start", "look", "-")
    seen = json.loads(report.white.stderr)
    assert seen["cwd"] == "/engine"
    assert seen["files"] == ["bad_engines.py"]
    assert seen["environment"] == {
        "PATH": "/usr/bin:/bin",
        "HOME": "/tmp",
        "TMPDIR": "/tmp",
        "LANG": "C.UTF-8",
        "PYTHONPATH": "/sdk",
        "PYTHONUNBUFFERED": "1",
        "PYTHONDONTWRITEBYTECODE": "1",
        "PWD": "/engine",
    }


@pytest.mark.parametrize(
    ("plan", "termination", "evidence"),
    [
        (("go", "leave", "3"), "crash", "the process ended with exit code 3"),
        (("go", "leave", "0"), "crash", "the process ended with exit code 0"),
        (("go", "die", "SIGSEGV"), "crash", "the process was ended by signal 11 (SIGSEGV)"),
        (("go", "die", "SIGKILL"), "crash", "the process was ended by signal 9 (SIGKILL)"),
        (("start", "leave", "1"), "crash", "the process ended with exit code 1"),
        (("go", "flood", r"1 info x\n"), "flood", "more than 1024 KiB of output in one move"),
        (("go", "also", r"bestmove a1+\nbestmove a1+\n"), "illegal move", None),
    ],
)
def test_faults_are_reported_as_without_a_sandbox(
    sandbox: Sandbox, tmp_path: Path, plan: tuple[str, ...], termination: str, evidence: str | None
) -> None:
    report = play(sandbox, tmp_path, *plan)
    assert (report.termination, report.fault) == (termination, "white")
    assert evidence is None or report.evidence == evidence


@pytest.mark.parametrize("what", ["hang", "resist", "stop"])
def test_an_engine_that_hangs_loses_on_time(sandbox: Sandbox, tmp_path: Path, what: str) -> None:
    report = play(sandbox, tmp_path, "go:2", what, "-", control="0.5/move", time_control="60+0")
    assert (report.termination, report.fault) == ("time forfeit", "white")


@pytest.mark.parametrize("what", ["take", "share"])
def test_an_engine_that_takes_too_much_memory_is_ended_for_that(
    sandbox: Sandbox, tmp_path: Path, what: str
) -> None:
    limited = replace(sandbox, limits=Limits(memory=64 * MEBIBYTE))
    report = play(limited, tmp_path, "go:2", what, str(192 * MEBIBYTE), time_control="20+0")
    assert (report.termination, report.fault) == ("memory limit", "white"), (
        report.evidence,
        report.white.stderr,
    )
    assert report.evidence == "memory limit 64 MB"


def test_the_process_limit_is_named_to_an_engine_that_fails_at_it(sandbox: Sandbox, tmp_path: Path) -> None:
    report = play(sandbox, tmp_path, "go:2", "crowd", "80", time_control="20+0")
    assert (report.termination, report.fault) == ("process limit", "white")
    assert report.evidence == "64 processes; the process ended with exit code 7"


def test_an_engine_that_writes_too_long_a_file_is_ended_for_that(sandbox: Sandbox, tmp_path: Path) -> None:
    report = play(sandbox, tmp_path, "go:2", "fill", str(17 * MEBIBYTE))
    assert (report.termination, report.evidence) == ("file limit", "a file over 16 MB")


def test_an_engine_that_uses_up_its_processor_time_is_ended_for_that(
    sandbox: Sandbox, tmp_path: Path
) -> None:
    limited = replace(sandbox, limits=Limits(cpu_seconds=1))
    report = play(limited, tmp_path, "go:2", "burn", "5", time_control="20+0")
    assert (report.termination, report.evidence) == ("cpu limit", "1 seconds of processor time")


def test_the_waiting_side_uses_no_processor_time(sandbox: Sandbox, tmp_path: Path) -> None:
    """One engine spins in a thread all the time; its opponent takes half a second to answer."""
    one = bad_engine_in(tmp_path / "one", "isready", "spin", "-")
    two = bad_engine_in(tmp_path / "two", "go", "late", "0.5")
    [report] = play_job(job_of(one, two, ply_limit=3, time_control="60+0"), policy=Policy(sandbox)).reports
    assert report.termination == "ply limit"
    spent = [float(comment.partition("cpu ")[2].rstrip("s")) for _, comment in report.moves]
    assert spent[2] < 0.25  # of White's second move, the half second of Black's included


def test_a_worker_whose_sandbox_fails_voids_the_game(sandbox: Sandbox, tmp_path: Path) -> None:
    broken = replace(sandbox, tools=replace(sandbox.tools, filter=b"no filter"))
    report = play(broken, tmp_path)
    assert (report.termination, report.result, report.fault) == ("void", "*", "infrastructure")
    assert report.evidence.startswith("the sandbox failed: the process ended with exit code ")


def test_ordinary_moves_take_the_fast_path_with_their_processor_time(
    level_b: Sandbox, tmp_path: Path
) -> None:
    process = EngineProcess(plan_launch(bad_engine_in(tmp_path / "one"), tmp_path / "one", level_b))
    line = process.fast_channel(Conversation())
    assert line is not None
    assert line.begin_turn is not None
    assert line.end_turn is not None
    process.write(b"isready\n", time.monotonic_ns() + PATIENCE_NS)
    assert process.read_line(time.monotonic_ns() + PATIENCE_NS).startswith(b"info string process")
    assert line.end_turn() > 0
    process.kill()


def test_groups_within_an_engines_group_are_removed_with_it(level_a: Sandbox, tmp_path: Path) -> None:
    """As an engine could make that reached the control group filesystem, with its processes in one."""
    spec = bad_engine_in(tmp_path / "one", "isready", "crowd", "20")
    process = EngineProcess(plan_launch(spec, tmp_path / "one", level_a))
    process.write(b"isready\n", time.monotonic_ns() + PATIENCE_NS)
    assert process.read_line(time.monotonic_ns() + PATIENCE_NS).startswith(b"info string process")
    assert process.read_line(time.monotonic_ns() + PATIENCE_NS) == b"readyok"
    assert level_a.parent is not None
    for folder in level_a.parent.folders.values():
        for group in Path(folder).glob(f"engine-{os.getpid()}-*"):
            for number in range(20):
                (group / f"inner-{number}" / "innermost").mkdir(parents=True)
            for member in (group / "cgroup.procs").read_text().split()[-10:]:
                (group / "inner-0" / "innermost" / "cgroup.procs").write_text(member)
    process.kill()


def test_an_engine_that_computes_far_longer_than_its_turns_is_ended(
    sandbox: Sandbox, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(processor_time, "BASE_SECONDS", 1)
    monkeypatch.setattr(processor_time, "CLOCK_FACTOR", 0)
    report = play(sandbox, tmp_path, "go:2", "burn", "15", time_control="30+0")
    assert (report.termination, report.fault) == ("cpu limit", "white")
    assert re.fullmatch(
        r"1\.\d seconds of processor time, while its own turns took \d+\.\d seconds", report.evidence
    )


def test_an_engine_that_cannot_be_started_has_crashed(sandbox: Sandbox, tmp_path: Path) -> None:
    one = replace(bad_engine_in(tmp_path / "one"), command=("nothing-like-this",))
    [report] = play_job(job_of(one, bad_engine_in(tmp_path / "two")), policy=Policy(sandbox)).reports
    assert (report.termination, report.evidence) == ("crash", "the process ended with exit code 127")
    assert "nothing-like-this" in report.white.stderr


def test_the_process_number_of_the_first_process_is_known_outside(level_b: Sandbox, tmp_path: Path) -> None:
    process = level_b.prepare(("sh",), tmp_path)
    assert wait_until(lambda: process.init() is None)
    process.end()
    process.end()
