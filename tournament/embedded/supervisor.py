"""Keeps a set of services alive, and stops them in order.

The services are started in the order given and stopped in the reverse one. One
that dies is started again, at once the first time and later and later after
that. Signals only set a flag; whoever runs the supervisor asks ``stopping``.
"""

from __future__ import annotations

import os
import select
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

from tournament.embedded.process import Guarded, Service, last_words, rotate

READY_S = 60.0
BACKOFF_S = (0.0, 1.0, 2.0, 5.0, 10.0, 30.0)
"""Waits before a service that died is started again; the last one repeats."""
SETTLED_S = 60.0
"""A service that lived this long begins at the first wait again."""


class NotReady(Exception):
    """A service did not start; the text says which, and what it said last."""


@dataclass(slots=True)
class _Kept:
    process: Guarded
    deaths: int = 0
    restart_at: float | None = None


class Supervisor:
    """Starts, watches and stops services; a context manager that leaves nothing running."""

    def __init__(
        self, *, logs: Path, folder: Path, say: Callable[[str], None], lock: int | None = None
    ) -> None:
        """``folder`` is where the processes run, ``lock`` a descriptor they hold through their guards."""
        self._logs = logs
        self._folder = folder
        self._say = say
        self._lock = lock
        self._kept: list[_Kept] = []
        self._wakeup = -1
        self.signals = 0
        """How often it was told to stop: the second time means at once."""

    def __enter__(self) -> Supervisor:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    @property
    def stopping(self) -> bool:
        return self.signals > 0

    @property
    def guards(self) -> dict[str, int]:
        """Each service's guard by the service's name: the process above all of it."""
        return {kept.process.service.name: kept.process.guard_pid for kept in self._kept}

    def start(self, service: Service) -> None:
        """Start a service and wait until it is ready; raises ``NotReady``, also when told to stop."""
        kept = _Kept(self._launch(service))
        self._kept.append(kept)
        deadline = time.monotonic() + READY_S
        while not service.ready():
            if self.stopping:
                raise NotReady(f"stopped while {service.name} was starting")
            if (code := kept.process.exit_code) is not None:
                raise NotReady(self._epitaph(kept, f"{service.name} ended at once ({code})"))
            if time.monotonic() > deadline:
                raise NotReady(self._epitaph(kept, f"{service.name} was not ready after {READY_S:.0f} s"))
            self.wait(0.05)

    def _launch(self, service: Service) -> Guarded:
        log = self._logs / f"{service.name}.log"
        rotate(log)
        return Guarded(service, log=log, folder=self._folder, lock=self._lock)

    def _epitaph(self, kept: _Kept, what: str) -> str:
        said = last_words(kept.process.log)
        return f"{what}; its log {kept.process.log} ends: {said or '(nothing)'}"

    def tend(self) -> None:
        """Look after the services once: note deaths, start again what is due, keep logs short."""
        now = time.monotonic()
        for kept in self._kept:
            if kept.restart_at is None and kept.process.exit_code is not None:
                self._note_death(kept, now)
            if kept.restart_at is not None and now >= kept.restart_at:
                kept.restart_at = None
                kept.process = self._launch(kept.process.service)
            rotate(kept.process.log)

    def _note_death(self, kept: _Kept, now: float) -> None:
        if now - kept.process.started > SETTLED_S:
            kept.deaths = 0
        delay = BACKOFF_S[min(kept.deaths, len(BACKOFF_S) - 1)]
        kept.deaths += 1
        kept.restart_at = now + delay
        name, code = kept.process.service.name, kept.process.exit_code
        kept.process.wait(0)
        when = f"in {delay:.0f} s" if delay else "now"
        self._say(self._epitaph(kept, f"{name} died ({_describe(code)}) and is started again {when}"))

    def wait(self, seconds: float) -> None:
        """Sleep, but no longer than to the next signal."""
        if self._wakeup < 0:
            time.sleep(seconds)
        elif select.select([self._wakeup], [], [], seconds)[0]:
            os.read(self._wakeup, 4096)

    def stop(self) -> None:
        """Stop all services, the last started first; kill what is too slow, or all after a second signal."""
        while self._kept:
            self._stop_one(self._kept.pop().process)

    def _stop_one(self, process: Guarded) -> None:
        process.signal(process.service.stop)
        deadline = time.monotonic() + process.service.patience_s
        while not process.wait(0):
            if self.signals > 1 or time.monotonic() > deadline:
                process.kill()
                return
            self.wait(0.05)

    @contextmanager
    def listening(self) -> Iterator[None]:
        """Let Ctrl-C, SIGTERM and SIGHUP set ``stopping`` while inside; in the main thread alone."""
        reading, writing = os.pipe()
        os.set_blocking(writing, False)
        numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
        before = [signal.signal(number, self._hear) for number in numbers]
        woken = signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
        self._wakeup = reading
        try:
            yield
        finally:
            self._wakeup = -1
            signal.set_wakeup_fd(woken)
            for number, handler in zip(numbers, before, strict=True):
                signal.signal(number, handler)
            os.close(reading)
            os.close(writing)

    def _hear(self, _number: int, _frame: FrameType | None) -> None:
        self.signals += 1


def _describe(code: int | None) -> str:
    if code is not None and (code > 128 or code < 0):
        return f"signal {code - 128 if code > 0 else -code}"
    return f"exit code {code}"
