"""Reads the processor time of a process and its descendants from ``/proc``."""

from __future__ import annotations

import os
from pathlib import Path

from workers.sandbox.tree import descendants


def cpu_seconds(pid: int) -> float:
    """Processor time of a process and its descendants, including those that ended and were waited for."""
    ticks = 0
    for one in (pid, *descendants(pid)):
        try:
            told = Path(f"/proc/{one}/stat").read_text()
        except OSError:
            continue
        ticks += sum(int(word) for word in told.rpartition(")")[2].split()[11:15])
    return ticks / os.sysconf("SC_CLK_TCK")
