"""Reads the resources of a process and its descendants from ``/proc``."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path

from workers.sandbox.tree import descendants

PROC = Path("/proc")


@dataclass(frozen=True, slots=True)
class Load:
    """The resources of several processes together: number, resident memory, open descriptors."""

    processes: int
    mib: float
    files: int


def weigh(pids: list[int]) -> Load:
    """The resources of these processes; those that end meanwhile are not counted."""
    loads = []
    for pid in pids:
        try:
            loads.append((resident_mib(pid), sum(1 for _ in (PROC / str(pid) / "fd").iterdir())))
        except OSError:
            continue
    return Load(len(loads), sum(mib for mib, _ in loads), sum(files for _, files in loads))


def cpu_seconds(pid: int) -> float:
    """Processor time of a process and its descendants, including those that ended and were waited for."""
    ticks = 0
    for one in (pid, *descendants(pid)):
        try:
            told = (PROC / str(one) / "stat").read_text()
        except OSError:
            continue
        ticks += sum(int(word) for word in told.rpartition(")")[2].split()[11:15])
    return ticks / os.sysconf("SC_CLK_TCK")


def resident_mib(pid: int) -> float:
    """Raises ``OSError`` for a process that has ended."""
    return _status_mib(pid, "VmRSS")


def peak_mib(pid: int) -> float:
    """The peak of resident memory since the process started, or since ``reset_peak_memory``."""
    return _status_mib(pid, "VmHWM")


def reset_peak_memory(pid: int) -> None:
    (PROC / str(pid) / "clear_refs").write_text("5")


def _status_mib(pid: int, name: str) -> float:
    text = (PROC / str(pid) / "status").read_text()
    found = re.search(rf"^{name}:\s+(\d+) kB$", text, re.MULTILINE)
    return int(found[1]) / 1024 if found else 0.0
