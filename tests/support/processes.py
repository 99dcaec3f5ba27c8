"""What tests and the test runner read about processes."""

from __future__ import annotations

from pathlib import Path


def command_line(pid: int) -> str:
    """The command line of a process, its words separated by spaces; empty if the process has ended."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
    except OSError:
        return ""
