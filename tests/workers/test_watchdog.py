"""Processes that hang, or whose parent has ended."""

from __future__ import annotations

import subprocess
import sys

from tests.support.jobs import wait_until

HANG = "from workers import watchdog; watchdog.rearm(0.2); import time; time.sleep(600)"
FORK = """
import os, time
from workers import watchdog
watchdog.rearm(600)
child = os.fork()
if not child:
    watchdog.rearm(0.2)
    time.sleep(600)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
watchdog.rearm(0.2)
time.sleep(600)
"""
ORPHAN = """
import subprocess, sys, time
child = "from workers.watchdog import end_with_parent; end_with_parent(); print(1, flush=True); input()"
process = subprocess.Popen((sys.executable, "-c", child), stdin=subprocess.PIPE, stdout=subprocess.PIPE)
process.stdout.readline()
print(process.pid, flush=True)
time.sleep(600)
"""


def test_a_process_that_hangs_ends_and_says_where() -> None:
    done = subprocess.run((sys.executable, "-c", HANG), capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.startswith("Timeout (0:00:00.200000)!\n")
    assert 'File "<string>", line 1 in <module>' in done.stderr


def test_a_forked_process_has_a_time_of_its_own() -> None:
    done = subprocess.run((sys.executable, "-c", FORK), capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (1, "1\n")


def test_a_process_ends_with_its_parent() -> None:
    with subprocess.Popen((sys.executable, "-c", ORPHAN), stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        orphan = int(parent.stdout.readline())
        parent.kill()
    assert wait_until(lambda: not is_running(orphan), 60)


def is_running(pid: int) -> bool:
    try:
        with open(f"/proc/{pid}/stat") as stat:
            return stat.read().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False
