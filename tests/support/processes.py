"""What tests and the test runner read about processes."""

from __future__ import annotations

from pathlib import Path


def command_line(pid: int) -> str:
    """The command line of a process, its words separated by spaces; empty if the process has ended."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
    except OSError:
        return ""


def children(pid: int) -> list[int]:
    """The processes that this one has started and that run; none if it has ended."""
    try:
        text = Path(f"/proc/{pid}/task/{pid}/children").read_text()
    except OSError:
        return []
    return [int(word) for word in text.split()]


def slots_of(worker: int) -> list[int]:
    """The processes of the slots of the worker with this main process."""
    return [pid for pid in children(worker) if b"reaper" not in Path(f"/proc/{pid}/comm").read_bytes()]
