"""What a process and all it has started take of the machine, from ``/proc``."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path

from workers.sandbox.tree import descendants

PROC = Path("/proc")


@dataclass(frozen=True, slots=True)
class Load:
    """Of some processes together: their number, their resident memory, their open descriptors."""

    processes: int
    mib: float
    files: int


def weigh(pids: list[int]) -> Load:
    """Those that end meanwhile count for nothing."""
    loads = []
    for pid in pids:
        try:
            loads.append((resident_mib(pid), sum(1 for _ in (PROC / str(pid) / "fd").iterdir())))
        except OSError:
            continue
    return Load(len(loads), sum(mib for mib, _ in loads), sum(files for _, files in loads))


def cpu_seconds(pid: int) -> float:
    """Processor time of this process and all below it, those that have ended and were waited for included."""
    ticks = 0
    for one in (pid, *descendants(pid)):
        try:
            told = (PROC / str(one) / "stat").read_text()
        except OSError:
            continue
        ticks += sum(int(word) for word in told.rpartition(")")[2].split()[11:15])
    return ticks / os.sysconf("SC_CLK_TCK")


def resident_mib(pid: int) -> float:
    """Raises ``OSError`` for a process that is gone."""
    return _status_mib(pid, "VmRSS")


def highest_mib(pid: int) -> float:
    """The highest resident memory since the process began, or since ``forget_highest``."""
    return _status_mib(pid, "VmHWM")


def forget_highest(pid: int) -> None:
    (PROC / str(pid) / "clear_refs").write_text("5")


def _status_mib(pid: int, name: str) -> float:
    text = (PROC / str(pid) / "status").read_text()
    found = re.search(rf"^{name}:\s+(\d+) kB$", text, re.MULTILINE)
    return int(found[1]) / 1024 if found else 0.0
