"""The reaper: no engine and no scratch folder outlives its worker, for any end of the worker."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import uuid
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from tests.support.jobs import PATIENCE_SECONDS, bad_engine, job_of, processes_with, wait_until
from workers.reaper import NO_GROUP, Reaper, kill_group, reap, remove_scratch

pytestmark = pytest.mark.slow

WORKER = """
import sys, tempfile
from pathlib import Path
from workers.play import runner
from workers.jobs import GameJob
from workers.messages import decode
from workers.play.batch import play_batch
from workers.reaper import Reaper

watch = Reaper.watch

def watch_and_say(self, folder, group=0, control_groups=()):
    watch(self, folder, group, control_groups)
    if group:
        print("watched", flush=True)

Reaper.watch = watch_and_say

tempfile.tempdir = sys.argv[2]
line = runner.Callbacks(lambda report: None, lambda progress: None)
play_batch([decode(GameJob, sys.argv[1])], runner.WorkerContext("w", Path(), Path()), line)
"""


@pytest.fixture
def group() -> Iterator[subprocess.Popen[bytes]]:
    """A process that leads a group of two."""
    with subprocess.Popen(["sh", "-c", "sleep 100 & sleep 100"], start_new_session=True) as process:
        yield process
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)


def test_a_worker_killed_outright_leaves_no_engine_and_no_folder(tmp_path: Path) -> None:
    """Deadline of the behaviour: one second; ten times that here. The engine and its child ignore signals."""
    mark = f"mark-{uuid.uuid4()}"
    one = bad_engine("start", "multiply", "-", "go", "resist", "-", mark=mark)
    job = msgspec.json.encode(job_of(one, bad_engine(mark=mark), time_control="60+0")).decode()
    command = [sys.executable, "-c", WORKER, job, str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as worker:
        assert worker.stdout is not None
        assert [worker.stdout.readline() for _ in range(2)] == [b"watched\n"] * 2
        assert wait_until(lambda: len(processes_with(mark)) == 3, 10)
        assert len(list(tmp_path.iterdir())) == 2
        worker.kill()
    assert wait_until(lambda: not processes_with(mark), 10)
    assert wait_until(lambda: not list(tmp_path.iterdir()), 10)


def test_an_engine_that_was_being_started_is_found_by_its_home_folder(tmp_path: Path) -> None:
    folder = tmp_path / "scratch"
    folder.mkdir()
    command = ["sh", "-c", "trap '' TERM; sleep 100 & sleep 100"]
    with subprocess.Popen(command, env={"HOME": str(folder)}, start_new_session=True) as engine:
        reap([b"+ %d %s" % (NO_GROUP, os.fsencode(folder))])
        assert engine.wait(PATIENCE_SECONDS) == -signal.SIGKILL
    assert not folder.exists()


def test_the_reaper_has_a_different_process_name(tmp_path: Path) -> None:
    """Killing all Python programs by name ends workers and engines, but not the reaper."""
    reaper = Reaper()
    reaper.watch(str(tmp_path / "scratch"))
    process = reaper._process
    assert process is not None
    name = Path(f"/proc/{process.pid}/comm")
    assert wait_until(lambda: name.read_text() == "duarena-reaper\n")
    reaper.close()


def test_many_engines_are_started_without_waiting_for_the_reaper(
    group: subprocess.Popen[bytes], tmp_path: Path
) -> None:
    """More messages than fit into a pipe, and the last one still arrives."""
    reaper = Reaper()
    for number in range(2000):
        reaper.watch(str(tmp_path / f"engine-{number:0100}"), 2**22 + 1)  # no process has this number
    reaper.watch(str(tmp_path / "last"), group.pid)
    reaper.close()
    assert group.wait(PATIENCE_SECONDS) == -signal.SIGKILL


def test_watched_processes_end_when_the_pipe_closes(group: subprocess.Popen[bytes], tmp_path: Path) -> None:
    folder = tmp_path / "scratch"
    folder.mkdir()
    reaper = Reaper()
    reaper.watch(str(folder), group.pid)
    reaper.close()
    assert group.wait(PATIENCE_SECONDS) == -signal.SIGKILL
    assert not folder.exists()


def test_forgotten_processes_stay_alive(group: subprocess.Popen[bytes], tmp_path: Path) -> None:
    reaper = Reaper()
    reaper.watch(str(tmp_path), group.pid)
    reaper.forget(str(tmp_path))
    reaper.forget(str(tmp_path))
    reaper.close()
    assert group.poll() is None
    assert tmp_path.exists()


def test_a_reaper_that_was_killed_is_replaced(group: subprocess.Popen[bytes], tmp_path: Path) -> None:
    reaper = Reaper()
    reaper.watch(str(tmp_path / "one"), group.pid)
    assert reaper._process is not None
    reaper._process.kill()
    reaper._process.wait()
    reaper.watch(str(tmp_path / "two"), 2**22 + 1)  # no process has this number
    reaper.close()
    assert group.wait(PATIENCE_SECONDS) == -signal.SIGKILL


def test_a_fork_watches_for_itself_alone(group: subprocess.Popen[bytes], tmp_path: Path) -> None:
    reaper = Reaper()
    reaper.watch(str(tmp_path / "one"), group.pid)
    child = os.fork()
    if child == 0:
        reaper.watch(str(tmp_path / "two"), 2**22 + 1)
        reaper.close()
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert group.poll() is None
    reaper.close()
    assert group.wait(PATIENCE_SECONDS) == -signal.SIGKILL


def test_missing_groups_are_ignored(tmp_path: Path) -> None:
    folder = tmp_path / "a folder"
    folder.mkdir()
    reap([b"+ %d /nowhere" % (2**22 + 1), b"+ %d %s" % (2**22 + 2, os.fsencode(folder))])
    assert not folder.exists()


def test_a_folder_is_watched_before_its_engine_has_a_number(tmp_path: Path) -> None:
    folder = tmp_path / "scratch"
    folder.mkdir()
    reaper = Reaper()
    reaper.watch(str(folder))
    reaper.close()
    assert not folder.exists()


# Scratch folders


def test_a_folder_too_deep_for_python_is_removed(tmp_path: Path) -> None:
    """The recursion limit is lowered, since deep folders are slow to make; the path is too long as well."""
    top, name = tmp_path / "scratch", "ten-letter"
    top.mkdir()
    here, usual = os.getcwd(), sys.getrecursionlimit()
    try:
        os.chdir(top)
        for _ in range(500):
            os.mkdir(name)
            os.chdir(name)
        os.chdir(here)
        sys.setrecursionlimit(400)
        if sys.version_info < (3, 13):  # from then on it removes without recursion
            with pytest.raises(RecursionError):
                shutil.rmtree(top)
        remove_scratch(str(top))
    finally:
        os.chdir(here)
        sys.setrecursionlimit(usual)
    assert not top.exists()


def test_a_folder_closed_to_its_owner_is_removed(tmp_path: Path) -> None:
    inner = tmp_path / "scratch" / "inner"
    inner.mkdir(parents=True)
    (inner / "file").touch()
    inner.chmod(0)
    remove_scratch(str(tmp_path / "scratch"))
    assert not (tmp_path / "scratch").exists()


def test_a_link_is_removed_and_not_what_it_leads_to(tmp_path: Path) -> None:
    (tmp_path / "precious").mkdir()
    (tmp_path / "scratch").symlink_to("precious")
    remove_scratch(str(tmp_path / "scratch"))
    assert [path.name for path in tmp_path.iterdir()] == ["precious"]


def test_a_missing_folder_is_ignored(tmp_path: Path) -> None:
    remove_scratch(str(tmp_path / "nothing"))


def test_the_processes_of_a_control_group_that_refuses_the_kill_are_killed_one_by_one(tmp_path: Path) -> None:
    """As a threaded group does, and one that has just been removed."""
    (tmp_path / "cgroup.kill").symlink_to("/dev/full")
    with subprocess.Popen(("sleep", "100")) as process:
        (tmp_path / "cgroup.procs").write_text(f"{process.pid}\n")
        kill_group((str(tmp_path),))
        assert process.wait(PATIENCE_SECONDS) == -signal.SIGKILL
