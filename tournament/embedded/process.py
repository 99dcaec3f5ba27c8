"""One supervised process: started behind its guard, logged, stopped in its own way."""

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
"""A log longer than this is set aside as ``NAME.log.1``; so each takes twice this at most."""


@dataclass(frozen=True, slots=True)
class Service:
    """What to run and how to stop it."""

    name: str
    """A word for people; its log is ``logs/NAME.log``."""
    command: tuple[str, ...]
    environment: Mapping[str, str] = field(default_factory=dict)
    """Added to the supervisor's own."""
    stop: signal.Signals = signal.SIGTERM
    patience_s: float = 10.0
    """How long it may take to stop before it is killed."""
    ready: Callable[[], bool] = lambda: True
    """Whether it does its work; asked again until it does."""


class Guarded:
    """A service's process with its guard. When the guard has ended nothing below it lives."""

    def __init__(self, service: Service, *, log: Path, folder: Path, lock: int | None = None) -> None:
        """Start it; ``lock`` is a descriptor that the guard holds while it lives."""
        self.service = service
        self.log = log
        self.started = time.monotonic()
        log.parent.mkdir(parents=True, exist_ok=True)
        reading, self._control = os.pipe()
        kept = (reading,) if lock is None else (reading, lock)
        with log.open("ab") as output:
            # -I: neither the folder we are in nor the environment decides what the guard imports.
            self._guard = subprocess.Popen(
                (sys.executable, "-I", str(GUARD), str(reading), *service.command),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                env={**os.environ, **service.environment},
                cwd=folder,
                pass_fds=kept,
                start_new_session=True,  # Ctrl-C in the terminal is for the supervisor alone
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
        """Hand a signal to the process; nothing happens if it has ended."""
        with contextlib.suppress(OSError):
            os.write(self._control, bytes([number]))

    def kill(self) -> None:
        """Let the guard kill the process and everything below it, and wait for that."""
        self._let_go()
        self._guard.wait()

    def wait(self, timeout_s: float) -> bool:
        """Whether it has ended by then."""
        try:
            self._guard.wait(timeout_s)
        except subprocess.TimeoutExpired:
            return False
        self._let_go()
        return True

    def _let_go(self) -> None:
        if self._control >= 0:
            os.close(self._control)
            self._control = -1


def rotate(log: Path, limit: int = LOG_BYTES) -> None:
    """Set a long log aside. Its writers append, so they go on at the start of the emptied file."""
    if log.exists() and log.stat().st_size > limit:
        log.with_name(log.name + ".1").write_bytes(log.read_bytes())
        os.truncate(log, 0)


def last_words(log: Path, lines: int = 1) -> str:
    """The end of a log, for a message about a process that died."""
    with log.open("rb") as file:
        file.seek(max(0, log.stat().st_size - 4096))
        said = file.read().decode(errors="replace").strip().splitlines()
    return "\n".join(said[-lines:])
