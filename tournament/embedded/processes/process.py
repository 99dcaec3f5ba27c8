"""One supervised process: starts it behind its guard, logs its output, stops it with its own signal."""

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
    """A command and how to stop it."""

    name: str
    """A name for messages; its log is ``logs/NAME.log``."""
    command: tuple[str, ...]
    environment: Mapping[str, str] = field(default_factory=dict)
    """Variables added to the supervisor's environment."""
    stop: signal.Signals = signal.SIGTERM
    patience_s: float = 10.0
    """How long it may take to stop before it is killed."""
    descriptors: tuple[int, ...] = ()
    """Open descriptors of the supervisor that the command gets, with the same numbers."""
    final: int | None = None
    """An exit code after which it is not started again."""
    ready: Callable[[], bool] = lambda: True
    """Whether it works; called again until it returns True."""
    alive: Callable[[], bool] = lambda: True
    """Whether it responds; called every few seconds, and returns within some."""


class Guarded:
    """A service's process with its guard. When the guard has ended, no descendant of it is alive."""

    def __init__(self, service: Service, *, log: Path, folder: Path, lock: int | None = None) -> None:
        """Start it; ``lock`` is a descriptor that the guard holds while it runs."""
        self.service = service
        self.log = log
        self.started = time.monotonic()
        log.parent.mkdir(parents=True, exist_ok=True)
        reading, self._control = os.pipe()
        kept = (reading, *service.descriptors, *(() if lock is None else (lock,)))
        with log.open("ab") as output:
            # -I: neither the current folder nor the environment changes the guard's imports.
            self._guard = subprocess.Popen(
                (sys.executable, "-I", str(GUARD), str(reading), *service.command),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                env={**os.environ, **service.environment},
                cwd=folder,
                pass_fds=kept,
                start_new_session=True,  # Ctrl-C in the terminal goes only to the supervisor
            )
        os.close(reading)

    @property
    def exit_code(self) -> int | None:
        """None while it runs."""
        return self._guard.poll()

    @property
    def guard_pid(self) -> int:
        return self._guard.pid

    def signal(self, number: signal.Signals) -> None:
        """Send a signal to the process; no effect if it has ended."""
        with contextlib.suppress(OSError):
            os.write(self._control, bytes([number]))

    def kill(self) -> None:
        """Have the guard kill the process and all its descendants, and wait for that."""
        self._close_control()
        self._guard.send_signal(signal.SIGCONT)  # a guard that was stopped could kill nothing
        self._guard.wait()

    def wait(self, timeout_s: float) -> bool:
        """Wait; returns whether it has ended."""
        try:
            self._guard.wait(timeout_s)
        except subprocess.TimeoutExpired:
            return False
        self._close_control()
        return True

    def _close_control(self) -> None:
        if self._control >= 0:
            os.close(self._control)
            self._control = -1


def rotate(log: Path, limit: int = LOG_BYTES) -> None:
    """Copy a long log to ``NAME.log.1`` and empty it. Its writers append, so they continue at its start."""
    if log.exists() and log.stat().st_size > limit:
        log.with_name(log.name + ".1").write_bytes(log.read_bytes())
        os.truncate(log, 0)


def last_words(log: Path, lines: int = 1) -> str:
    """The end of a log, for a message about a process that died."""
    with log.open("rb") as file:
        file.seek(max(0, log.stat().st_size - 4096))
        tail = file.read().decode(errors="replace").strip().splitlines()
    return "\n".join(tail[-lines:])
