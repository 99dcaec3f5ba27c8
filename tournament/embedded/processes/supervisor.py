"""Keeps a set of services running, and stops them in order.

The services are started in the order given and stopped in the reverse one. One
that dies is restarted, at once the first time and after longer and longer waits
then; one that hangs or is stopped is killed first. Signals only set a flag; the
supervisor's caller reads ``stopping``.
"""

from __future__ import annotations

import math
import os
import select
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

from tournament.embedded.processes.guard import descendants
from tournament.embedded.processes.process import Guarded, Service, last_words, rotate
from workers.silence import Silence

READY_S = 60.0
"""A service that is not ready, writes nothing and does nothing for so long is given up."""
LEAST_WORK_S = 0.2
"""The processor time in ``READY_S`` that counts as work; an idle service needs less."""
BACKOFF_S = (0.0, 1.0, 2.0, 5.0, 10.0, 30.0)
"""Waits before a service that died is restarted; the last one repeats."""
SETTLED_S = 60.0
"""A service that ran this long starts with the first wait again."""


class NotReady(Exception):
    """A service did not start; the text names it and quotes the end of its log."""


@dataclass(slots=True)
class _Kept:
    process: Guarded
    silence: Silence
    failures: int = 0
    restart_at: float | None = None


class Supervisor:
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
        self._wakeup = -1
        self.signals = 0
        """Number of signals to stop so far: the second one kills at once."""

    def __enter__(self) -> Supervisor:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    @property
    def stopping(self) -> bool:
        return self.signals > 0

    @property
    def guards(self) -> dict[str, int]:
        """The guard's process id for each service's name: the ancestor of all its processes."""
        return {kept.process.service.name: kept.process.guard_pid for kept in self._kept}

    def start(self, service: Service) -> None:
        """Start a service and wait until it is ready, on a busy machine as long as it works.

        Raises ``NotReady``, also after a signal to stop.
        """
        kept = _Kept(self._launch(service), Silence(service.alive))
        self._kept.append(kept)
        progress, deadline = _Progress(kept.process), time.monotonic() + READY_S
        while not service.ready():
            if self.stopping:
                raise NotReady(f"stopped while {service.name} was starting")
            if (code := kept.process.exit_code) is not None:
                raise NotReady(self._failure_text(kept, f"{service.name} ended at once ({code})"))
            if time.monotonic() > deadline:
                if not progress.has_moved():
                    what = f"{service.name} is not ready and has done nothing for {READY_S:.0f} s"
                    raise NotReady(self._failure_text(kept, what))
                deadline = time.monotonic() + READY_S
            self.wait(0.05)

    def _launch(self, service: Service) -> Guarded:
        log = self._logs / f"{service.name}.log"
        rotate(log)
        return Guarded(service, log=log, folder=self._folder, lock=self._lock)

    def _failure_text(self, kept: _Kept, what: str) -> str:
        log_end = last_words(kept.process.log)
        return f"{what}; its log {kept.process.log} ends: {log_end or '(nothing)'}"

    def tend(self) -> None:
        """Check the services once: report those that died, restart those that are due, keep logs short."""
        now = time.monotonic()
        for kept in self._kept:
            if kept.restart_at is None:
                kept.silence.check(now)
                if kept.silence.is_too_long:
                    self._end_silent(kept)
                if kept.process.exit_code is not None:
                    self._note_failure(kept, now)
            if kept.restart_at is not None and now >= kept.restart_at:
                kept.restart_at = None
                service = kept.process.service
                kept.process, kept.silence = self._launch(service), Silence(service.alive)
            rotate(kept.process.log)

    def _end_silent(self, kept: _Kept) -> None:
        name = kept.process.service.name
        self._say(f"{name} has not responded for {kept.silence.seconds:.0f} s and is killed")
        kept.process.kill()

    def _note_failure(self, kept: _Kept, now: float) -> None:
        if now - kept.process.started > SETTLED_S:
            kept.failures = 0
        name, code = kept.process.service.name, kept.process.exit_code
        if code is not None and code == kept.process.service.final:
            kept.restart_at = math.inf
            kept.process.wait(0)
            self._say(self._failure_text(kept, f"{name} ended ({_describe(code)}) and is not started again"))
            return
        delay = BACKOFF_S[min(kept.failures, len(BACKOFF_S) - 1)]
        kept.failures += 1
        kept.restart_at = now + delay
        kept.process.wait(0)
        when = f"in {delay:.0f} s" if delay else "now"
        self._say(self._failure_text(kept, f"{name} died ({_describe(code)}) and is started again {when}"))

    def wait(self, seconds: float) -> None:
        """Sleep until the time is over or a signal comes."""
        if self._wakeup < 0:
            time.sleep(seconds)
        elif select.select([self._wakeup], [], [], seconds)[0]:
            os.read(self._wakeup, 4096)

    def stop(self) -> None:
        """Stop all services, the last started first; kills the slow ones, or all after a second signal."""
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
        """Let Ctrl-C, SIGTERM and SIGHUP set ``stopping`` within the block; only in the main thread."""
        reading, writing = os.pipe()
        os.set_blocking(writing, False)
        numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
        before = [signal.signal(number, self._count_signal) for number in numbers]
        descriptor_before = signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
        self._wakeup = reading
        try:
            yield
        finally:
            self._wakeup = -1
            signal.set_wakeup_fd(descriptor_before)
            for number, handler in zip(numbers, before, strict=True):
                signal.signal(number, handler)
            os.close(reading)
            os.close(writing)

    def _count_signal(self, _number: int, _frame: FrameType | None) -> None:
        self.signals += 1


class _Progress:
    """Whether a process and its descendants have worked, or written to their log, since the last call."""

    def __init__(self, process: Guarded) -> None:
        self._process = process
        self._before = self._look()

    def has_moved(self) -> bool:
        before, self._before = self._before, self._look()
        return self._before[0] != before[0] or abs(self._before[1] - before[1]) >= LEAST_WORK_S

    def _look(self) -> tuple[int, float]:
        """The size of the log, and the processor time in seconds of the processes that run."""
        found = descendants(self._process.guard_pid)
        return self._process.log.stat().st_size, sum(map(_processor_seconds, found))


def _processor_seconds(process: int) -> float:
    """The processor time of a process and of its children that ended; 0 if it has ended."""
    try:
        fields = Path(f"/proc/{process}/stat").read_text(errors="replace").rpartition(")")[2].split()
    except OSError:
        return 0.0
    return sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")


def _describe(code: int | None) -> str:
    if code is not None and (code > 128 or code < 0):
        return f"signal {code - 128 if code > 0 else -code}"
    return f"exit code {code}"
