"""Restarts a worker, so that it repeats the measurements of its start, once its sandbox would be better.

The worker stops in order, which returns its running games; its process then runs the same command again.
The process number does not change, so a supervisor does not notice the restart.

Two things can change: missing programs are installed, and a probe that failed on a busy machine succeeds.
The later probes run in a process of their own: the sandbox of the slots does not change while they run.
"""

from __future__ import annotations

import atexit
import logging
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from workers.sandbox.host import missing_programs
from workers.sandbox.levels import Verdict
from workers.sandbox.policy import VERDICT_FILE, read_verdict

LOOK_SECONDS = 2.0
"""The interval in which missing programs are looked for."""
FIRST_PAUSE_SECONDS = 10.0
LONGEST_PAUSE_SECONDS = 600.0
PROBE = (sys.executable, "-m", "workers", "sandbox", "--keep")
"""The command of a probe; the folder for its verdict follows."""

log = logging.getLogger("workers.service.restart")


class Restart:
    """Whether the worker of this process starts again after it has ended."""

    def __init__(self) -> None:
        self._is_requested = False
        self._stops = 0

    @property
    def is_due(self) -> bool:
        """Whether a restart was requested and nobody else stopped the worker."""
        return self._is_requested and self._stops == 1

    def ask(self) -> None:
        """Request a restart: stop the worker in order. May be repeated."""
        if not self._is_requested:
            self._is_requested = True
            os.kill(os.getpid(), signal.SIGTERM)

    def note_stop(self) -> None:
        """Count a request to stop the worker, whatever its origin."""
        self._stops += 1


RESTART = Restart()
"""The restart state of this process, used if it is a worker."""


def start_again() -> None:
    """Replace this process by its own command; does not return."""
    sys.stdout.flush()
    sys.stderr.flush()
    os.execv(sys.executable, again(sys.orig_argv))


def again(command: Sequence[str]) -> list[str]:
    """The command line for the same worker, which inherits its niceness."""
    nice = ["--nice=0"] if "start" in command else []
    return [*(word for word in command if word not in nice), *nice]


def wait_for_better(
    verdict: Verdict,
    folder: Path,
    *,
    sleep: Callable[[float], object] = time.sleep,
    command: Sequence[str] = PROBE,
) -> str:
    """Wait until the sandbox would be better than ``verdict``; returns why, as a clause for the log.

    Empty once nothing can become better. An uncertain result is probed again with growing pauses.
    """
    is_certain, pause = verdict.is_certain, FIRST_PAUSE_SECONDS
    left = pause
    while verdict.packages or not is_certain:
        sleep(LOOK_SECONDS)
        left -= LOOK_SECONDS
        if verdict.packages and not missing_programs():
            return "the programs that the sandbox lacked are installed"
        if is_certain or left > 0:
            continue
        found = _probe_again(folder, command)
        if found is not None and found.level < verdict.level:
            return f"a new probe found the sandbox at level {found.level}"
        is_certain = found is not None and found.is_certain
        left = pause = min(2 * pause, LONGEST_PAUSE_SECONDS)
    return ""


def _probe_again(folder: Path, command: Sequence[str]) -> Verdict | None:
    """The verdict of a probe; None if there was none."""
    log.info("probes the sandbox again")
    (folder / VERDICT_FILE).unlink(missing_ok=True)
    try:
        process = subprocess.Popen(
            (*command, str(folder)), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL
        )
    except OSError as error:
        log.warning("the sandbox cannot be probed now: %s", error)
        return None
    atexit.register(process.kill)
    process.wait()
    atexit.unregister(process.kill)
    return read_verdict(folder)
