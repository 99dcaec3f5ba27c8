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
from collections.abc import Sequence
from pathlib import Path

from workers.sandbox.host import missing_programs
from workers.sandbox.levels import Verdict
from workers.sandbox.policy import VERDICT_FILE, read_verdict

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


class SandboxRecheck:
    """Probes again with growing pauses, until the result is certain or better than ``verdict``."""

    def __init__(self, verdict: Verdict, folder: Path, command: Sequence[str] = PROBE) -> None:
        self._verdict = verdict
        self._folder = folder
        self._command = command
        self._is_over = verdict.is_certain
        self._pause = FIRST_PAUSE_SECONDS
        self._due: float | None = None
        self._process: subprocess.Popen[bytes] | None = None

    def find_change(self, now: float) -> str:
        """Why the worker should restart, as a clause for its log; empty if it should not.

        Called every second; ``now`` is in seconds of a monotonic clock.
        """
        if self._verdict.packages and not missing_programs():
            return "the programs that the sandbox lacked are installed"
        found = None if self._is_over else self._probe(now)
        if found is None:
            return ""
        is_better = found.level < self._verdict.level
        self._is_over = is_better or found.is_certain
        return f"a new probe found the sandbox at level {found.level}" if is_better else ""

    def _probe(self, now: float) -> Verdict | None:
        """The verdict of a probe that has just ended; begins the next one if it is due."""
        if self._process is not None and self._process.poll() is None:
            return None
        if self._process is not None:
            self._process, self._due = None, None
            return read_verdict(self._folder)
        if self._due is None:
            self._due, self._pause = now + self._pause, min(2 * self._pause, LONGEST_PAUSE_SECONDS)
        elif now >= self._due:
            self._begin()
        return None

    def _begin(self) -> None:
        log.info("probes the sandbox again")
        self._due = None
        (self._folder / VERDICT_FILE).unlink(missing_ok=True)
        try:
            self._process = subprocess.Popen(
                (*self._command, str(self._folder)), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL
            )
        except OSError as error:
            log.warning("the sandbox cannot be probed now: %s", error)
        else:
            atexit.register(self._process.kill)
