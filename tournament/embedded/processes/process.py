"""One supervised process: starts it behind its guard, and keeps its log."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

GUARD = Path(__file__).with_name("guard.py")
LOG_BYTES = 8 * 1024 * 1024
"""A longer log is moved to ``NAME.log.1``, so that each takes at most twice this."""


@dataclass(frozen=True, slots=True)
class Service:
    """A command that is kept running until SIGTERM."""

    name: str
    """A name for messages; its log is ``logs/NAME.log``."""
    command: tuple[str, ...]
    environment: Mapping[str, str] = field(default_factory=dict)
    """Variables added to the supervisor's environment."""
    descriptors: tuple[int, ...] = ()
    """Open descriptors of the supervisor that the command gets, with the same numbers."""
    ready: Callable[[], bool] = lambda: True
    """Whether it works; called again until it returns True."""


class Guarded:
    """A service's process with its guard. When the guard has ended, no descendant of it is alive."""

    def __init__(self, service: Service, *, log: Path, folder: Path, lock: int | None = None) -> None:
        """Start it; ``lock`` is a descriptor that the guard holds while it runs."""
        self.service = service
        self.log = log
        self.started = time.monotonic()
        log.parent.mkdir(parents=True, exist_ok=True)
        with log.open("ab") as output:
            # -I: neither the current folder nor the environment changes the guard's imports.
            self._guard = subprocess.Popen(
                (sys.executable, "-I", str(GUARD), *service.command),
                bufsize=0,
                stdin=subprocess.PIPE,
                stdout=output,
                stderr=subprocess.STDOUT,
                env={**os.environ, **service.environment},
                cwd=folder,
                pass_fds=(*service.descriptors, *(() if lock is None else (lock,))),
                start_new_session=True,  # Ctrl-C in the terminal goes only to the supervisor
            )

    @property
    def exit_code(self) -> int | None:
        """None while it runs."""
        return self._guard.poll()

    def terminate(self) -> None:
        """Send SIGTERM to the process; no effect if it has ended."""
        assert self._guard.stdin is not None
        with contextlib.suppress(OSError, ValueError):
            self._guard.stdin.write(bytes([signal.SIGTERM]))

    def kill(self) -> None:
        """Have the guard kill the process and all its descendants, and wait for that; may be repeated."""
        assert self._guard.stdin is not None
        self._guard.stdin.close()
        self._guard.send_signal(signal.SIGCONT)  # a guard that was stopped could kill nothing
        if self._guard.wait() < 0:  # nor could one that was killed
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._guard.pid, signal.SIGKILL)


def rotate(log: Path, limit: int = LOG_BYTES) -> None:
    """Copy a long log to ``NAME.log.1`` and empty it. Its writers append, so they continue at its start."""
    if log.stat().st_size > limit:
        log.with_name(log.name + ".1").write_bytes(log.read_bytes())
        os.truncate(log, 0)


def last_words(log: Path) -> str:
    """The last line of a log, for a message about a process that died."""
    with log.open("rb") as file:
        file.seek(max(0, log.stat().st_size - 4096))
        return file.read().decode(errors="replace").strip().rpartition("\n")[2]
