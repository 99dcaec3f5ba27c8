"""One engine behind its walls, from before its start until nothing of it is left.

An engine's first process is ``sh``, which waits for a line on standard input, enters the control
group and becomes bwrap; bwrap builds the namespaces and starts ``prlimit`` in them, which becomes
the engine. Until the line comes the engine is known to the reaper: a worker killed at any moment
leaves nothing behind, for ``sh`` ends with its input.
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
from workers.sandbox.groups.cgroups import Group
from workers.sandbox.limits import Limits, prlimit_words
from workers.sandbox.walls import OUTER_ENVIRONMENT, Walls, bwrap_arguments

GATE = b"\n"
"""What ``sh`` waits for before it begins."""
NOT_ENTERED = 125
"""The exit code of a start that could not enter its control group."""
ENTER = f"""
read -r _ || exit {NOT_ENTERED}
while [ "$1" != -- ]; do echo 0 >"$1/cgroup.procs" || exit {NOT_ENTERED}; shift; done
shift
exec "$@"
"""
SIGNALLED = 128
"""Plus the signal's number: how bwrap tells that an engine was ended by one."""
FIRST_TO_GO = "1000"
"""Whom the kernel ends first when the machine's memory runs out, before the worker and the site."""
NO_CORE_DUMP = 1
"""Bytes. With 0 a kernel that hands core dumps to a program would start it, as root, at each crash: see
``core(5)``, and ``do_coredump`` of the kernel for the meaning of 1."""
STOP_ROUNDS = 3
"""How often to look for processes that are still to be stopped, without a freezer."""


@dataclass(frozen=True, slots=True)
class Confinement:
    """The programs that make walls, where this machine has them, and the system call filter."""

    shell: str
    bwrap: str
    filter: bytes = field(repr=False)


@dataclass(frozen=True, slots=True)
class ProcessEnding:
    """Why an engine ended: by itself, by a limit (``termination`` says which), or by our own fault."""

    sentence: str
    termination: Termination = Termination.CRASH


class SandboxedProcess:
    """Made before the engine starts; whoever makes one must ``end`` it.

    ``argv``, ``environment`` and ``descriptors`` are what to start it with; then comes ``started``.
    """

    environment = OUTER_ENVIRONMENT

    def __init__(
        self, tools: Confinement, walls: Walls, limits: Limits, command: tuple[str, ...], group: Group | None
    ) -> None:
        self.limits = limits
        self.is_over_memory = False
        """Set by whoever watches, where there is no control group."""
        self.was_crowded = False
        self._group = group
        self._monitor = 0
        self._init: tuple[int, int] | None = None
        self._told = b""
        self._stopped: list[int] = []
        self._status, status = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)
        program, arguments = _memory_file(tools.filter), -1
        self.descriptors: tuple[int, ...] = (status, program)
        words = bwrap_arguments(walls, limits, filter_at=program, status_at=status)
        arguments = _memory_file(words)
        self.descriptors += (arguments,)
        self.control_groups = () if group is None else group.folders
        self.argv = (
            *(tools.shell, "-c", ENTER, "sh", *self.control_groups, "--"),
            *(tools.bwrap, "--args", str(arguments), "--"),
            *prlimit_words(limits),
            *command,
        )

    def started(self, monitor: int) -> None:
        """The engine has its descriptors; ``monitor`` is the process that was started, later bwrap's own.

        It still waits, and hands on to the engine what it is set here.
        """
        self._monitor = monitor
        self._close_inherited()
        with contextlib.suppress(OSError):  # it has ended already
            Path(f"/proc/{monitor}/oom_score_adj").write_text(FIRST_TO_GO)
        # ... or may leave no core dump by a stricter limit of the worker's
        with contextlib.suppress(OSError, ValueError):
            resource.prlimit(monitor, resource.RLIMIT_CORE, (NO_CORE_DUMP, NO_CORE_DUMP))

    def init(self) -> int | None:
        """The first process of the engine's namespace, by its number out here; None before there is one."""
        if self._init is None and (number := self._reported("child-pid")) is not None:
            self._init = self._known_as_ours(number)
        return None if self._init is None else self._init[0]

    # While it plays

    @property
    def freezes(self) -> bool:
        """Whether a frozen engine is held by the kernel; else it is only sent SIGSTOP, which it can evade."""
        return self._group is not None

    def freeze(self) -> None:
        """Let the engine compute nothing until ``thaw``."""
        if self._group is not None:
            self._group.freeze()
            return
        self._stopped = []
        for _ in range(STOP_ROUNDS):
            running = [process for process in self.processes() if process not in self._stopped]
            if not running:
                break
            tree.signal_all(running, signal.SIGSTOP)
            self._stopped += running

    def thaw(self) -> None:
        if self._group is not None:
            self._group.thaw()
            return
        stopped, self._stopped = self._stopped, []
        tree.signal_all(stopped, signal.SIGCONT)

    def cpu_ns(self) -> int:
        """The processor time so far; without a control group that of the processes that live."""
        if self._group is not None:
            return self._group.cpu_ns()
        return tree.cpu_ns(self._stopped or self.processes())

    def processes(self) -> list[int]:
        init = self.init()
        return [] if init is None else tree.descendants(init)

    # The end

    def limit_reached(self) -> ProcessEnding | None:
        """The limit of memory, if it has cost the engine a process."""
        if self.is_over_memory or (self._group is not None and self._group.memory_kills()):
            return ProcessEnding(self.limits.memory_sentence, Termination.MEMORY)
        return None

    def explain(self, outer: str) -> ProcessEnding:
        """Why the engine ended; ``outer`` says how bwrap did."""
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
        if self.was_crowded or (self._group is not None and self._group.refused_processes()):
            return ProcessEnding(f"{self.limits.processes_sentence}; {how}", Termination.PROCESS)
        return ProcessEnding(how)

    def kill(self) -> None:
        """End all of the engine's processes, frozen or not. May be repeated."""
        if self._group is not None:
            kill_group(self._group.folders)
        if self.init() is not None and self._init is not None:
            with contextlib.suppress(ProcessLookupError):
                signal.pidfd_send_signal(self._init[1], signal.SIGKILL)

    def end(self) -> None:
        """Kill what is left, wait for it, and give back what the walls were made of. May be repeated."""
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
        """A number that bwrap has told of, a JSON object a line."""
        with contextlib.suppress(BlockingIOError):
            while self._status >= 0 and (chunk := os.read(self._status, 4096)):
                self._told += chunk
        for line in self._told.split(b"\n"):
            with contextlib.suppress(ValueError):
                told = json.loads(line)
                if name in told:
                    return int(told[name])
        return None

    def _known_as_ours(self, number: int) -> tuple[int, int] | None:
        """The process and a descriptor of it, if it still is the child of ours that had this number."""
        try:
            descriptor = os.pidfd_open(number)
        except ProcessLookupError:
            return None
        if number in tree.descendants(self._monitor):
            return number, descriptor
        os.close(descriptor)
        return None


def _memory_file(content: bytes) -> int:
    """A descriptor that reads this from its beginning; unlike a pipe it never blocks."""
    descriptor = os.memfd_create("duarena", os.MFD_CLOEXEC)
    os.write(descriptor, content)
    os.lseek(descriptor, 0, os.SEEK_SET)
    return descriptor
