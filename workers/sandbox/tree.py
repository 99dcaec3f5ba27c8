"""The descendants of a process, read from ``/proc``; used where there is no control group.

Every result may be out of date when it is returned: a process may start another at any time.
"""

from __future__ import annotations

import contextlib
import os
import signal
import time
from collections.abc import Callable, Iterable
from pathlib import Path

from workers.reaper import signal_all
from workers.strays import children, thread_numbers

INODE_BYTES = 1024
"""The approximate memory that the kernel needs for a file beside its content."""
MAX_PROCESSES = 1000
"""The most descendants that are read; the limit of processes is far below."""
LOOK_NS = 20_000_000
"""The interval at which ``Family`` looks for new processes, which takes a tenth of a millisecond."""
STOP_ROUNDS = 3
"""How many times to look for processes that are not stopped yet."""
MEMORY_FILESYSTEMS = ("tmp", "dev/shm")


def descendants(ancestor: int) -> list[int]:
    """All descendants of a process, without itself, parents first."""
    found: list[int] = []
    waiting = [ancestor]
    while waiting and len(found) < MAX_PROCESSES:
        for child in children(waiting.pop()):
            found.append(child)
            waiting.append(child)
    return found


class Family:
    """The processor time of a process and its descendants, with those that have ended, as far as seen."""

    def __init__(self) -> None:
        self._used_ns: dict[int, int] = {}
        self._ended_ns = 0
        self._look_ns = 0
        """When to look for new processes again."""

    def cpu_ns(self, ancestor: int) -> int:
        """The processor time so far, with all threads. New processes are looked for every 20 milliseconds."""
        now_ns = time.monotonic_ns()
        if now_ns >= self._look_ns:
            self._look_ns = now_ns + LOOK_NS
            self._look(ancestor)
        for process in tuple(self._used_ns):
            try:
                self._used_ns[process] = _process_ns(process)
            except OSError:
                self._ended_ns += self._used_ns.pop(process)
        return self._ended_ns + sum(self._used_ns.values())

    def _look(self, ancestor: int) -> None:
        # A known process may be missing here, because a list of children that is read while some end is
        # incomplete; only the failure of its clock shows that it has ended.
        for process in (ancestor, *descendants(ancestor)):
            self._used_ns.setdefault(process, 0)


class StoppedProcesses:
    """The processes of an engine that were stopped; a program can evade this by starting others."""

    def __init__(self) -> None:
        self._stopped: list[int] = []

    def stop(self, find: Callable[[], Iterable[int]]) -> None:
        """Stop what ``find`` returns, until it returns nothing else."""
        self._stopped = []
        for _ in range(STOP_ROUNDS):
            running = [process for process in find() if process not in self._stopped]
            if not running:
                break
            signal_all(running, signal.SIGSTOP)
            self._stopped += running

    def resume(self) -> None:
        stopped, self._stopped = self._stopped, []
        signal_all(stopped, signal.SIGCONT)


def _process_ns(process: int) -> int:
    # The clock of another process, by the kernel's encoding: see MAKE_PROCESS_CPUCLOCK.
    return time.clock_gettime_ns((~process << 3) | 2)


def memory_bytes(init: int, processes: Iterable[int]) -> int:
    """The memory that the processes use; a page that several of them share counts once.

    Their page tables and the files in ``/tmp`` and ``/dev/shm`` of ``init`` count as well.
    """
    return sum(map(process_bytes, processes)) + _filesystem_bytes(init)


def process_bytes(process: int) -> int:
    """Its proportional share of the memory (a page shared by n processes counts as 1/n) and its page tables.

    It is read through the first thread or, if that has ended, through any other.
    """
    with contextlib.suppress(OSError):
        for place in (f"/proc/{process}", *(f"/proc/{process}/task/{n}" for n in thread_numbers(process))):
            with contextlib.suppress(ProcessLookupError):
                used = _kilobytes(f"{place}/smaps_rollup", "Pss:")
                return (used + _kilobytes(f"{place}/status", "VmPTE:")) * 1024
    return 0


def _kilobytes(path: str, name: str) -> int:
    for line in Path(path).read_text().splitlines():
        if line.startswith(name):
            return int(line.split()[1])
    return 0


def _filesystem_bytes(init: int) -> int:
    total = 0
    for folder in MEMORY_FILESYSTEMS:
        with contextlib.suppress(OSError):
            if os.stat(f"/proc/{init}/root/{folder}").st_dev == os.stat(f"/{folder}").st_dev:
                continue  # still the machine's own: the engine's is not mounted yet
            status = os.statvfs(f"/proc/{init}/root/{folder}")
            total += (status.f_blocks - status.f_bfree) * status.f_frsize
            total += (status.f_files - status.f_ffree) * INODE_BYTES
    return total
