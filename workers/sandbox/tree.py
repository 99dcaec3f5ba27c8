"""The processes below one, as ``/proc`` shows them: what is left to look at without a control group.

Every answer is of a moment that is over: a process may start another between two looks.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

INODE_BYTES = 1024
"""What a file costs the kernel beside its content, about."""
MAX_PROCESSES = 1000
"""Looked at; the limit of processes is far below."""
OWN_FILESYSTEMS = ("tmp", "dev/shm")


def descendants(ancestor: int) -> list[int]:
    """All below a process, without itself, parents first."""
    found: list[int] = []
    waiting = [ancestor]
    while waiting and len(found) < MAX_PROCESSES:
        for child in _children(waiting.pop()):
            found.append(child)
            waiting.append(child)
    return found


def signal_all(processes: Iterable[int], number: int) -> None:
    for process in processes:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(process, number)


def cpu_ns(processes: Iterable[int]) -> int:
    """The processor time of those that live, all threads of theirs included."""
    total = 0
    for process in processes:
        with contextlib.suppress(OSError):
            # The clock of another process, by the kernel's encoding: see MAKE_PROCESS_CPUCLOCK.
            total += time.clock_gettime_ns((~process << 3) | 2)
    return total


def memory_bytes(init: int, processes: Iterable[int]) -> int:
    """What they hold: memory, each shared page once over all, with the kernel's tables of it; and the
    files of ``init``'s ``/tmp`` and ``/dev/shm``."""
    return sum(map(_process_bytes, processes)) + _filesystem_bytes(init)


def _children(process: int) -> list[int]:
    found: list[int] = []
    try:
        for thread in os.listdir(f"/proc/{process}/task"):
            found += map(int, Path(f"/proc/{process}/task/{thread}/children").read_text().split())
    except OSError:
        pass  # it has ended
    return found


def _process_bytes(process: int) -> int:
    """Its share of the memory it has in use, a page that n processes share being an nth, and its page tables.

    A process is asked about through its first thread, and once that has ended through any other.
    """
    with contextlib.suppress(OSError):
        for place in (f"/proc/{process}", *_threads(process)):
            with contextlib.suppress(ProcessLookupError):
                used = _kilobytes(f"{place}/smaps_rollup", "Pss:")
                return (used + _kilobytes(f"{place}/status", "VmPTE:")) * 1024
    return 0


def _threads(process: int) -> Iterator[str]:
    """Looked for only when it is asked for one."""
    for thread in os.listdir(f"/proc/{process}/task"):
        yield f"/proc/{process}/task/{thread}"


def _kilobytes(path: str, name: str) -> int:
    for line in Path(path).read_text().splitlines():
        if line.startswith(name):
            return int(line.split()[1])
    return 0


def _filesystem_bytes(init: int) -> int:
    total = 0
    for folder in OWN_FILESYSTEMS:
        with contextlib.suppress(OSError):
            if os.stat(f"/proc/{init}/root/{folder}").st_dev == os.stat(f"/{folder}").st_dev:
                continue  # the machine's own: the engine's are not mounted yet
            status = os.statvfs(f"/proc/{init}/root/{folder}")
            total += (status.f_blocks - status.f_bfree) * status.f_frsize
            total += (status.f_files - status.f_ffree) * INODE_BYTES
    return total
