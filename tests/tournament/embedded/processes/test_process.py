"""A guarded process: no descendant outlives it, even one that tries to escape."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.jobs import wait_until
from tournament.embedded.plan import ROOT
from tournament.embedded.processes import guard
from tournament.embedded.processes.process import Guarded, Service, last_words, rotate
from workers.sandbox.tree import descendants

DEADLINE_SECONDS = 120.0

FAMILY = """
    import os, subprocess, sys, time
    # A child in a new session, as engines are, with an orphaned child.
    subprocess.Popen([sys.executable, "-c", '''if 1:
        import os, subprocess
        orphan = subprocess.Popen(["sleep", "600"], start_new_session=True)
        open(%(folder)r + "/orphan.new", "w").write(str(orphan.pid))
        os.rename(%(folder)r + "/orphan.new", %(folder)r + "/orphan")
    '''], start_new_session=True).wait()
    print("family complete", flush=True)
    time.sleep(600)
"""


def start(tmp_path: Path, program: str) -> Guarded:
    service = Service("child", (sys.executable, "-c", textwrap.dedent(program)))
    return Guarded(service, log=tmp_path / "logs" / "child.log", folder=tmp_path)


def eventually(condition: Callable[[], object]) -> None:
    assert wait_until(condition, DEADLINE_SECONDS), "it never came true"


def ends(process: Guarded) -> bool:
    return wait_until(lambda: process.exit_code is not None, DEADLINE_SECONDS)


def is_alive(process: int) -> bool:
    try:
        state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state not in "ZX"


def start_family(tmp_path: Path) -> tuple[Guarded, int]:
    process = start(tmp_path, FAMILY % {"folder": str(tmp_path)})
    return process, wait_for_orphan(tmp_path, process.log)


def wait_for_orphan(tmp_path: Path, log: Path) -> int:
    """Its process number, once its parent has ended."""
    eventually(lambda: log.exists() and last_words(log) == "family complete")
    return int((tmp_path / "orphan").read_text())


def test_killing_a_process_kills_its_orphans_in_other_sessions_too(tmp_path: Path) -> None:
    process, orphan = start_family(tmp_path)
    assert is_alive(orphan)

    process.kill()

    assert not is_alive(orphan)
    assert process.exit_code == 128 + signal.SIGKILL


def test_the_reaper_of_a_killed_worker_removes_its_folders_first(tmp_path: Path) -> None:
    folders = [tmp_path / f"engine-{number}" for number in range(50)]
    for folder in folders:
        (folder / "a" / "b").mkdir(parents=True)
    program = f"""
        import sys, time
        sys.path.insert(0, {str(ROOT)!r})
        from workers.reaper import Reaper
        reaper = Reaper()
        for number in range({len(folders)}):
            reaper.watch({str(tmp_path)!r} + f"/engine-{{number}}")
        print("watched", flush=True)
        time.sleep(600)
    """
    process = start(tmp_path, program)
    eventually(lambda: process.log.exists() and last_words(process.log) == "watched")
    eventually(lambda: any(guard._is_reaper(str(pid)) for pid in descendants(process._guard.pid)))

    process.kill()

    assert not any(folder.exists() for folder in folders)


@pytest.mark.thorough
def test_a_process_that_only_has_the_name_of_a_reaper_is_killed_too(tmp_path: Path) -> None:
    program = """
        import time
        open("/proc/self/comm", "w").write("duarena-reaper")
        print("named", flush=True)
        time.sleep(600)
    """
    process = start(tmp_path, program)
    eventually(lambda: process.log.exists() and last_words(process.log) == "named")

    process.kill()

    assert process.exit_code == 128 + signal.SIGKILL


def test_orphans_of_a_process_that_ends_by_itself_are_killed_before_its_guard_ends(tmp_path: Path) -> None:
    process, orphan = start_family(tmp_path)

    process.terminate()

    assert ends(process)
    assert not is_alive(orphan)
    assert process.exit_code == 128 + signal.SIGTERM


def test_nothing_survives_a_supervisor_that_is_killed(tmp_path: Path) -> None:
    program = textwrap.dedent(FAMILY % {"folder": str(tmp_path)})
    supervisor_program = f"""
        import sys, time
        sys.path.insert(0, {os.getcwd()!r})
        from pathlib import Path
        from tournament.embedded.processes.process import Guarded, Service
        family = Service("child", (sys.executable, "-c", {program!r}))
        kept = Guarded(family, log=Path("child.log"), folder=Path("."))
        time.sleep(600)
    """
    supervisor = subprocess.Popen((sys.executable, "-c", textwrap.dedent(supervisor_program)), cwd=tmp_path)
    orphan = wait_for_orphan(tmp_path, tmp_path / "child.log")
    everybody = descendants(supervisor.pid)
    assert orphan in everybody

    supervisor.kill()
    supervisor.wait()

    eventually(lambda: not any(is_alive(process) for process in everybody))


def test_a_process_and_its_children_die_with_a_guard_that_is_killed(tmp_path: Path) -> None:
    program = """
        import os, subprocess
        child = subprocess.Popen(["sleep", "600"])
        print(os.getpid(), child.pid, flush=True)
        child.wait()
    """
    process = start(tmp_path, program)
    eventually(lambda: last_words(process.log))
    family = [int(word) for word in last_words(process.log).split()]

    os.kill(process._guard.pid, signal.SIGKILL)

    eventually(lambda: not is_alive(family[0]))
    assert ends(process)
    process.kill()
    eventually(lambda: not any(map(is_alive, family)))


def test_a_signal_reaches_the_process_and_its_exit_code_comes_back(tmp_path: Path) -> None:
    program = """
        import signal, sys
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(7))
        print("listening", flush=True)
        signal.pause()
    """
    process = start(tmp_path, program)
    eventually(lambda: last_words(process.log) == "listening")

    process.terminate()

    assert ends(process)
    assert process.exit_code == 7


def test_signals_such_as_ctrl_c_are_not_ignored_by_the_process(tmp_path: Path) -> None:
    program = """
        import signal
        names = ("SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT", "SIGCHLD")
        print([name for name in names if signal.getsignal(getattr(signal, name)) == signal.SIG_IGN])
    """
    process = start(tmp_path, program)

    assert ends(process)
    assert last_words(process.log) == "[]"


def test_a_command_that_cannot_be_started_is_reported_in_the_log(tmp_path: Path) -> None:
    service = Service("nothing", ("/nonexistent/program",))
    process = Guarded(service, log=tmp_path / "nothing.log", folder=tmp_path)

    assert ends(process)
    assert process.exit_code != 0
    assert "/nonexistent/program" in last_words(process.log)


def test_signals_to_an_ended_process_do_nothing(tmp_path: Path) -> None:
    process = start(tmp_path, "pass")
    assert ends(process)

    process.terminate()
    process.kill()

    assert process.exit_code == 0


def test_a_long_log_is_rotated_and_its_writer_continues_in_a_new_file(tmp_path: Path) -> None:
    log = tmp_path / "site.log"
    with log.open("ab", buffering=0) as writer:
        writer.write(b"old\n" * 10)
        rotate(log, limit=20)
        writer.write(b"new\n")

    assert log.read_text() == "new\n"
    assert (tmp_path / "site.log.1").read_text() == "old\n" * 10


def test_a_short_log_is_left_alone(tmp_path: Path) -> None:
    log = tmp_path / "site.log"
    log.write_text("short\n")
    rotate(log)
    assert log.read_text() == "short\n"
    assert not (tmp_path / "site.log.1").exists()


@pytest.mark.parametrize(
    ("text", "words"), [("", ""), ("one\ntwo\n", "two"), ("x" * 9000 + "\nend\n", "end")]
)
def test_the_last_message_of_a_log_is_its_last_line(tmp_path: Path, text: str, words: str) -> None:
    log = tmp_path / "log"
    log.write_text(text)
    assert last_words(log) == words
