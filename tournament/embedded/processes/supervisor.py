"""Keeps a set of services running, and stops them in order.

The services are started in the order given and stopped in the reverse one. One that dies is restarted, at
once the first time and after longer and longer waits then; one that hangs ends itself (``workers.watchdog``).
Signals are only counted; the supervisor's caller reads ``stopping``.
"""

from __future__ import annotations

import signal
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

from tournament.embedded import StartError
from tournament.embedded.processes.process import Guarded, Service, last_words, rotate

READY_SECONDS = 600.0
"""A service that is not ready after so long is given up; on a busy machine one needs a minute."""
PATIENCE_SECONDS = 10.0
"""How long a service may take to stop before it is killed; a worker gives its games back in it."""
BACKOFF_SECONDS = (0.0, 1.0, 2.0, 5.0, 10.0, 30.0)
"""Waits before a service that died is restarted; the last one repeats."""
MAX_FAILURES = 4
"""A service that died so often in a row will not start by itself."""
SETTLED_SECONDS = 60.0
"""A service that ran this long starts with the first wait again."""
PAUSE_SECONDS = 0.05


@dataclass(slots=True)
class _Kept:
    process: Guarded
    failures: int = 0
    restart_at: float | None = None


class Supervisor(AbstractContextManager["Supervisor"]):
    """Starts, watches and stops services; a context manager that leaves no process running."""

    def __init__(
        self, *, logs: Path, folder: Path, say: Callable[[str], None], lock: int | None = None
    ) -> None:
        """``folder`` is where the processes run, ``lock`` a descriptor that their guards hold."""
        self._logs = logs
        self._folder = folder
        self._say = say
        self._lock = lock
        self._kept: list[_Kept] = []
        self.signals = 0
        """Number of signals to stop so far: the second one kills at once."""

    def __exit__(self, *_: object) -> None:
        self.stop()

    @property
    def stopping(self) -> bool:
        return self.signals > 0

    @property
    def hopeless(self) -> str:
        """A clause about a service that has died again and again soon after its start; else empty."""
        for kept in self._kept:
            if kept.failures >= MAX_FAILURES:
                name = kept.process.service.name
                return f"{name} died {kept.failures} times in a row; {_describe_log(kept.process)}"
        return ""

    def start(self, service: Service) -> None:
        """Start a service and wait until it is ready. Raises ``StartError``, also after a signal to stop."""
        process = self._launch(service)
        self._kept.append(_Kept(process))
        deadline = time.monotonic() + READY_SECONDS
        while not service.ready():
            if self.stopping:
                raise StartError(f"stopped while {service.name} was starting")
            if (code := process.exit_code) is not None:
                raise StartError(f"{service.name} ended at once ({code}); {_describe_log(process)}")
            if time.monotonic() > deadline:
                raise StartError(
                    f"{service.name} is not ready after {READY_SECONDS:.0f} s; {_describe_log(process)}"
                )
            time.sleep(PAUSE_SECONDS)

    def restart(self, services: Sequence[Service]) -> None:
        """Kill each of these services and start it again, as ``start`` does, in their order."""
        for service in services:
            for kept in [kept for kept in self._kept if kept.process.service == service]:
                kept.process.kill()
                self._kept.remove(kept)
            self.start(service)

    def _launch(self, service: Service) -> Guarded:
        log = self._logs / f"{service.name}.log"
        return Guarded(service, log=log, folder=self._folder, lock=self._lock)

    def tend(self) -> None:
        """Check the services once: report those that died, restart those that are due, keep logs short."""
        now = time.monotonic()
        for kept in self._kept:
            if kept.restart_at is None:
                if kept.process.exit_code is not None:
                    self._note_failure(kept, now)
            elif now >= kept.restart_at:
                kept.process = self._launch(kept.process.service)
                kept.restart_at = None
            rotate(kept.process.log)

    def _note_failure(self, kept: _Kept, now: float) -> None:
        process = kept.process
        process.kill()
        if now - process.started > SETTLED_SECONDS:
            kept.failures = 0
        delay = BACKOFF_SECONDS[min(kept.failures, len(BACKOFF_SECONDS) - 1)]
        kept.failures += 1
        kept.restart_at = now + delay
        when = f"in {delay:.0f} s" if delay else "now"
        how = _describe_code(process.exit_code or 0)
        self._say(
            f"{process.service.name} died ({how}) and is started again {when}; {_describe_log(process)}"
        )

    def stop(self) -> None:
        """Stop all services, the last started first; kills the slow ones, or all after a second signal."""
        while self._kept:
            process = self._kept.pop().process
            process.terminate()
            deadline = time.monotonic() + PATIENCE_SECONDS
            while process.exit_code is None and self.signals < 2 and time.monotonic() < deadline:
                time.sleep(PAUSE_SECONDS)
            process.kill()

    def listening(self) -> AbstractContextManager[None]:
        """Let Ctrl-C, SIGTERM and SIGHUP set ``stopping`` within the block; only in the main thread."""
        return handled_signals(self._count_signal)

    def _count_signal(self, *_: object) -> None:
        self.signals += 1


@contextmanager
def handled_signals(handler: Callable[[int, FrameType | None], object]) -> Iterator[None]:
    """Have ``handler`` called for Ctrl-C, SIGTERM and SIGHUP within the block; only in the main thread."""
    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    before = [signal.signal(number, handler) for number in numbers]
    try:
        yield
    finally:
        for number, earlier in zip(numbers, before, strict=True):
            signal.signal(number, earlier)


def _describe_log(process: Guarded) -> str:
    return f"its log {process.log} ends: {last_words(process.log) or '(nothing)'}"


def _describe_code(code: int) -> str:
    """How a guard ended, itself or as its process did."""
    return f"signal {code - 128 if code > 0 else -code}" if code > 128 or code < 0 else f"exit code {code}"
