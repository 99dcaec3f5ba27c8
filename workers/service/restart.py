"""Restarts a worker, so that it repeats the measurements of its start.

The worker stops in order, which returns its running games; its process then runs the same command again.
The process number does not change, so a supervisor does not notice the restart.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Sequence


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


def start_again(*words: str) -> None:
    """Replace this process by its own command with ``words`` appended; does not return."""
    sys.stdout.flush()
    sys.stderr.flush()
    os.execv(sys.executable, again(sys.orig_argv, words))


def again(command: Sequence[str], words: Sequence[str]) -> list[str]:
    """The command line with ``words`` at its end, without repeating those of an earlier restart."""
    return [command[0], *(word for word in command[1:] if word not in words), *words]
