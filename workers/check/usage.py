"""What an engine costs: the processor time of its whole session, from ``/proc``."""

from __future__ import annotations

import os
from pathlib import Path

_TICKS = os.sysconf("SC_CLK_TCK")
_SESSION, _USER, _SYSTEM = 3, 11, 12
"""Places in ``/proc/PID/stat`` after the name, which is in parentheses."""


def session_cpu_seconds(session: int) -> float:
    """Of the processes that live now; exact to a hundredth of a second."""
    return sum(_ticks(entry, session) for entry in os.listdir("/proc") if entry.isdigit()) / _TICKS


def _ticks(process: str, session: int) -> int:
    """Of one process, 0 if it is another session's or gone."""
    try:
        fields = Path("/proc", process, "stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0
    return int(fields[_USER]) + int(fields[_SYSTEM]) if int(fields[_SESSION]) == session else 0
