"""Watching processes: what counts as silence, and the end of a process that hangs."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from tests.support.jobs import wait_until
from workers.commands.watch import name_of
from workers.service.liveness import Pulse
from workers.silence import CHECK_S, PULSE, SILENT_AT_START_S, SILENT_S, Silence, Touched

pytestmark = pytest.mark.slow

WATCHED = """
import os, pathlib, time
pathlib.Path("child").write_text(str(os.getpid()))
while True:
    pathlib.Path(os.environ["DUARENA_PULSE"]).touch()
    time.sleep(0.01)
"""
WATCH = """
import sys
from workers import silence
from workers.commands.watch import main
silence.CHECK_S, silence.SILENT_S = 0.5, 2.0
sys.exit(main(["--", sys.executable, "-c", sys.argv[1]]))
"""


def after(silence: Silence, begin: float, seconds: float) -> Silence:
    """Check as often as a watcher does."""
    for step in range(int(seconds / CHECK_S) + 1):
        silence.check(begin + step * CHECK_S)
    return silence


def test_a_process_may_take_longer_to_start_than_to_answer() -> None:
    never = Silence(lambda: False)
    assert not after(never, 0, SILENT_AT_START_S).is_too_long
    assert after(never, SILENT_AT_START_S + CHECK_S, CHECK_S).is_too_long
    answers = iter([True])
    fallen = after(Silence(lambda: next(answers, False)), 0, SILENT_S + 2 * CHECK_S)
    assert fallen.is_too_long


def test_times_in_which_the_watcher_was_stopped_do_not_count() -> None:
    answers = iter([True, False, True])
    silence = Silence(lambda: next(answers))
    for now in (100.0, 10_000.0):
        silence.check(now)
    assert not silence.is_too_long


def test_a_file_is_touched_since_the_last_look_also_if_the_clock_was_set_back(tmp_path: Path) -> None:
    file = tmp_path / "pulse"
    touched = Touched(file)
    assert not touched()
    file.touch()
    assert touched()
    assert not touched()
    os.utime(file, (1, 1))
    assert touched()


def test_a_process_whose_task_never_ends_stops_to_show_life(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("workers.service.liveness.TOUCH_S", 0.01)
    monkeypatch.setenv(PULSE, str(tmp_path / "pulses" / "keeper"))
    touched = Touched(tmp_path / "pulses" / "keeper")
    pulse = Pulse(stuck_s=0.5)
    pulse.start()
    assert wait_until(touched, 60)
    assert wait_until(lambda: not any(touched() for _ in range(1000)), 60)
    pulse.note()
    assert wait_until(touched, 60)


@pytest.fixture
def watched(tmp_path: Path) -> subprocess.Popen[str]:
    """A process under ``python -m workers watch``; the file ``child`` has its number."""
    command = (sys.executable, "-c", WATCH, textwrap.dedent(WATCHED))
    return subprocess.Popen(
        command,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": os.getcwd()},
        stderr=subprocess.PIPE,
        text=True,
    )


def child(tmp_path: Path) -> int:
    assert wait_until(lambda: (tmp_path / "child").exists() and (tmp_path / "child").read_text(), 60)
    return int((tmp_path / "child").read_text())


@pytest.mark.parametrize(
    ("command", "name"),
    [
        ("python -m workers start --queue=games --slots=2 --nice=5", "python -m workers start"),
        ("/opt/bin/python -m celery --app=tournament.celery beat --loglevel=INFO", "python -m celery beat"),
        ("python -m workers start --token secret", "python -m workers start"),
    ],
)
def test_a_hung_process_is_named_by_its_program_and_never_by_its_options(command: str, name: str) -> None:
    assert name_of(command.split()) == name


def test_a_watched_process_that_is_stopped_is_killed_and_the_watch_ends(
    tmp_path: Path, watched: subprocess.Popen[str]
) -> None:
    pid = child(tmp_path)
    os.kill(pid, signal.SIGSTOP)
    _, error = watched.communicate(timeout=240)
    assert watched.returncode == 2
    assert re.match(r"python\S* -c has not responded for \d+ s and was killed", error)
    assert not Path(f"/proc/{pid}").exists()


def test_a_signal_and_the_exit_code_pass_through_the_watch(
    tmp_path: Path, watched: subprocess.Popen[str]
) -> None:
    child(tmp_path)
    watched.terminate()
    watched.communicate(timeout=240)
    assert watched.returncode == 128 + signal.SIGTERM
