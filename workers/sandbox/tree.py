"""The processes below one, as ``/proc`` shows them: what is left to look at without a control group.

Every answer is of a moment that is over: a process may start another between two looks.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterable
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
    """What they hold: memory, each shared page once over all; files of ``init``'s ``/tmp`` and ``/dev/shm``;
    and files that exist in memory alone, mapped or not."""
    processes = list(processes)
    unnamed: dict[tuple[int, int], int] = {}
    for process in processes:
        unnamed.update(_memory_files(process))
    resident = sum(map(_resident_bytes, processes))
    return resident + sum(unnamed.values()) + _filesystem_bytes(init)


def _children(process: int) -> list[int]:
    found: list[int] = []
    try:
        for thread in os.listdir(f"/proc/{process}/task"):
            found += map(int, Path(f"/proc/{process}/task/{thread}/children").read_text().split())
    except OSError:
        pass  # it has ended
    return found


def _resident_bytes(process: int) -> int:
    """Its share of the memory it has in use: a page that n processes share counts an nth."""
    try:
        for line in Path(f"/proc/{process}/smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1]) * 1024
    except (OSError, ValueError):
        pass
    return 0


def _memory_files(process: int) -> dict[tuple[int, int], int]:
    """The bytes of its open memory files, by device and inode."""
    found: dict[tuple[int, int], int] = {}
    try:
        for name in os.listdir(f"/proc/{process}/fd"):
            path = f"/proc/{process}/fd/{name}"
            if os.readlink(path).startswith("/memfd:"):
                status = os.stat(path)
                found[status.st_dev, status.st_ino] = status.st_blocks * 512
    except OSError:
        pass
    return found


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
