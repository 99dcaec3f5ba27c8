"""One sandboxed engine from start to end; its ``argv`` is the whole command line of a sandboxed engine.

An engine's first process is ``sh``, which waits for a line on standard input, enters the control group
and becomes bwrap; bwrap builds the namespaces and starts ``sh`` in them, which sets the limits of the first
process there and becomes ``prlimit``, which sets the engine's and becomes the engine. The worker registers
the process with the reaper before it sends the line. So a worker that is killed at any moment leaves no
engine behind: without the line ``sh`` exits when its input closes.
"""

from __future__ import annotations

import contextlib
import json
import os
import resource
import select
import signal
from dataclasses import dataclass, field
from pathlib import Path

from engines.records import Termination
from workers.exit_status import exit_sentence, signal_sentence
from workers.reaper import END_SECONDS, kill_group
from workers.sandbox import tree
from workers.sandbox.bwrap import OUTER_ENVIRONMENT, Mounts, bwrap_arguments
from workers.sandbox.groups.cgroups import Group
from workers.sandbox.limits import Limits, inner_words, processor_time_sentence
from workers.sandbox.withheld import (
    DelayCounter,
    StealCounter,
    WithheldCounter,
    core_ns,
    has_run_delays,
    steal_ns,
)
from workers.strays import thread_numbers

START_LINE = b"\n"
"""The line that ``START_SCRIPT`` waits for."""
NOT_ENTERED = 125
"""The exit code if the process could not enter its control group."""
START_SCRIPT = f"""
read -r _ || exit {NOT_ENTERED}
while [ "$1" != -- ]; do echo 0 >"$1/cgroup.procs" || exit {NOT_ENTERED}; shift; done
shift
exec "$@"
"""
SIGNALLED = 128
"""bwrap reports an engine that was ended by a signal as this number plus the signal's number."""
OOM_SCORE = "1000"
"""If the machine runs out of memory, the kernel kills engines before the worker and the site."""
NO_CORE_DUMP = 1
"""Bytes. With 0 a kernel that hands core dumps to a program would start it, as root, at each crash: see
``core(5)``, and ``do_coredump`` of the kernel for the meaning of 1."""


@dataclass(frozen=True, slots=True)
class SandboxTools:
    """The paths of the programs that build the sandbox, and the system call filter as a BPF program."""

    shell: str
    bwrap: str
    filter: bytes = field(repr=False)


@dataclass(frozen=True, slots=True)
class ProcessEnding:
    """Why an engine ended: by itself, by the limit that ``termination`` names, or by a failed sandbox."""

    sentence: str
    termination: Termination = Termination.CRASH


class SandboxedProcess:
    """One engine in the sandbox, created before it starts; the caller must ``end`` it.

    Call ``enclose``, start it with ``argv``, ``environment`` and ``descriptors``, then call ``started``.
    """

    environment = OUTER_ENVIRONMENT

    def __init__(
        self,
        tools: SandboxTools,
        mounts: Mounts,
        limits: Limits,
        command: tuple[str, ...],
        group: Group | None,
    ) -> None:
        self.limits = limits
        self.is_over_memory = False
        """Set by the sampler, where there is no control group."""
        self.reached_process_limit = False
        """Set by the sampler, where there is no control group."""
        self._group = group
        self._over_time = ""
        """Evidence that the engine was ended for its processor time."""
        self._family = tree.Family()
        self._monitor = 0
        self._init: tuple[int, int] | None = None
        self._status_text = b""
        self._stopped = tree.StoppedProcesses()
        self._status, status = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)
        program, arguments = _memory_file(tools.filter), -1
        self.descriptors: tuple[int, ...] = (status, program)
        words = bwrap_arguments(mounts, limits, filter_at=program, status_at=status)
        arguments = _memory_file(words)
        self.descriptors += (arguments,)
        self.control_groups = () if group is None else group.folders
        self.argv = (
            *(tools.shell, "-c", START_SCRIPT, "sh", *self.control_groups, "--"),
            *(tools.bwrap, "--args", str(arguments), "--"),
            *inner_words(limits),
            *command,
        )

    def enclose(self) -> None:
        """Create the control group; raises ``OSError``.

        Register ``control_groups`` with the reaper before.
        """
        if self._group is not None:
            self._group.create()

    def started(self, monitor: int) -> None:
        """Set up the started process ``monitor``, which waits for ``START_LINE`` and will become bwrap.

        Closes ``descriptors``, which the process has inherited. The engine inherits what is set here.
        """
        self._monitor = monitor
        self._close_inherited()
        with contextlib.suppress(OSError):  # it has ended already
            Path(f"/proc/{monitor}/oom_score_adj").write_text(OOM_SCORE)
        # ... or a stricter limit of the worker's forbids core dumps already
        with contextlib.suppress(OSError, ValueError):
            resource.prlimit(monitor, resource.RLIMIT_CORE, (NO_CORE_DUMP, NO_CORE_DUMP))

    def init(self) -> int | None:
        """The first process of the engine's namespace, as numbered outside it; None before it exists."""
        if self._init is None and (number := self._reported("child-pid")) is not None:
            self._init = self._open_if_ours(number)
        return None if self._init is None else self._init[0]

    # While it plays

    @property
    def freezes(self) -> bool:
        """Whether ``freeze`` cannot be evaded; without a control group it only sends SIGSTOP."""
        return self._group is not None

    def freeze(self) -> None:
        """Suspend the engine until ``thaw``."""
        if self._group is not None:
            self._group.freeze()
        else:
            self._stopped.stop(self.processes)

    def thaw(self) -> None:
        if self._group is not None:
            self._group.thaw()
        else:
            self._stopped.resume()

    def cpu_ns(self) -> int:
        """The processor time so far; without a control group, of the processes that were seen."""
        if self._group is not None:
            return self._group.cpu_ns()
        init = self.init()
        return 0 if init is None else self._family.cpu_ns(init)

    def withheld_counter(self, core: int) -> WithheldCounter | None:
        """Counts how long the engine, which runs on ``core`` only, is kept from it; None if that is unknown.

        The counter may be used until ``end``.
        """
        if self._group is not None:
            return self._group.withheld_counter(core)
        if not has_run_delays():
            return None
        return DelayCounter(
            self._threads,
            lambda: core_ns(core) - self.cpu_ns(),
            self.processes,
            StealCounter(lambda: steal_ns(core), self.cpu_ns),
        )

    def _threads(self) -> list[int]:
        return [thread for process in self.processes() for thread in thread_numbers(process)]

    def processes(self) -> list[int]:
        init = self.init()
        return [] if init is None else tree.descendants(init)

    # The end

    def limit_reached(self) -> ProcessEnding | None:
        """The limit of memory or processor time for which a process of the engine was killed; else None."""
        if self.is_over_memory or (self._group is not None and self._group.oom_kills()):
            return ProcessEnding(self.limits.memory_sentence, Termination.MEMORY)
        return ProcessEnding(self._over_time, Termination.CPU) if self._over_time else None

    def explain(self, outer: str) -> ProcessEnding:
        """Why the engine ended; ``outer`` is a sentence on how bwrap ended."""
        if (over := self.limit_reached()) is not None:
            return over
        code_inside = self._reported("exit-code")
        if code_inside is None:
            return ProcessEnding(f"the sandbox failed: {outer}", Termination.VOID)
        number = code_inside - SIGNALLED
        if number == signal.SIGXFSZ:
            return ProcessEnding(self.limits.file_sentence, Termination.FILE)
        if number in (signal.SIGXCPU, signal.SIGKILL) and self.limits.cpu_seconds is not None:
            return ProcessEnding(self.limits.cpu_sentence, Termination.CPU)
        how = signal_sentence(number) if number in signal.valid_signals() else exit_sentence(code_inside)
        if self.reached_process_limit or (self._group is not None and self._group.refused_processes()):
            return ProcessEnding(f"{self.limits.processes_sentence}; {how}", Termination.PROCESS)
        return ProcessEnding(how)

    def end_over_processor_time(self, cpu_ns: int, clock_ns: int) -> None:
        """Kill the engine, which used ``cpu_ns`` while its clock ran for ``clock_ns``."""
        self._over_time = self._over_time or processor_time_sentence(cpu_ns, clock_ns)
        self.kill()

    def kill(self) -> None:
        """Kill all of the engine's processes, frozen or not. May be repeated."""
        if self._group is not None:
            kill_group(self._group.folders)
        if self.init() is not None and self._init is not None:
            with contextlib.suppress(ProcessLookupError):
                signal.pidfd_send_signal(self._init[1], signal.SIGKILL)

    def end(self) -> None:
        """Kill the remaining processes, wait for their end, remove the control group. May be repeated."""
        self.kill()
        self._close_inherited()
        if self._group is not None:
            self._group.end()
        if self._init is not None:
            select.select([self._init[1]], [], [], END_SECONDS)
            os.close(self._init[1])
            self._init = None
        if self._status >= 0:
            os.close(self._status)
            self._status = -1

    def _close_inherited(self) -> None:
        for descriptor in self.descriptors:
            os.close(descriptor)
        self.descriptors = ()

    def _reported(self, name: str) -> int | None:
        """A number from bwrap's status output, one JSON object a line; None if not reported yet."""
        with contextlib.suppress(BlockingIOError):
            while self._status >= 0 and (chunk := os.read(self._status, 4096)):
                self._status_text += chunk
        for line in self._status_text.split(b"\n"):
            with contextlib.suppress(ValueError):
                status = json.loads(line)
                if name in status:
                    return int(status[name])
        return None

    def _open_if_ours(self, number: int) -> tuple[int, int] | None:
        """The process and its pidfd; None if the number now belongs to a process that bwrap did not start."""
        try:
            descriptor = os.pidfd_open(number)
        except ProcessLookupError:
            return None
        if number in tree.descendants(self._monitor):
            return number, descriptor
        os.close(descriptor)
        return None


def _memory_file(content: bytes) -> int:
    """A descriptor positioned at the beginning of ``content``; unlike a pipe it never blocks."""
    descriptor = os.memfd_create("duarena", os.MFD_CLOEXEC)
    os.write(descriptor, content)
    os.lseek(descriptor, 0, os.SEEK_SET)
    return descriptor
