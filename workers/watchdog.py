"""The end of a process that hangs, or whose parent has ended, by the kernel. Standard library only.

A process that does not call ``rearm`` again in time writes the traceback of all its threads to standard error
and ends with exit status 1, also while compiled code holds Python's lock. Its supervisor starts it again.
"""

from __future__ import annotations

import ctypes
import faulthandler
import os
import signal
import threading
import time
from typing import Any

HANGS_SECONDS = 40.0
"""A process in which no thread runs for so long hangs."""
TASK_SECONDS = 600.0
"""Longer than any task takes: a task that is ended too early would begin anew without end."""
THREAD_SECONDS = 5.0
PR_SET_PDEATHSIG = 1

_armed_s = 0.0


def rearm(seconds: float = HANGS_SECONDS, **_: Any) -> None:
    """End this process in so many seconds, unless it is called again before."""
    global _armed_s
    _armed_s = seconds
    faulthandler.dump_traceback_later(seconds, exit=True)


def note_task(**_: Any) -> None:
    """Note progress of a process that runs tasks; a receiver of Celery's signals."""
    rearm(TASK_SECONDS)


def watch_threads() -> None:
    """End this process when its threads cannot run for ``HANGS_SECONDS``, from now on."""
    threading.Thread(target=_rearm_again, name="watchdog", daemon=True).start()


def _rearm_again() -> None:
    while True:
        rearm()
        time.sleep(THREAD_SECONDS)


def end_with_parent() -> None:
    """Have the kernel kill this process when the thread that has started it ends."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


def _after_fork() -> None:
    if _armed_s:
        rearm(_armed_s)


def _forget() -> None:
    global _armed_s
    _armed_s = 0.0


# A child forked while it is armed would wait for the parent's thread, which it does not have.
os.register_at_fork(
    before=faulthandler.cancel_dump_traceback_later, after_in_parent=_after_fork, after_in_child=_forget
)
