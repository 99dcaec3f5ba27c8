"""Ends processes that an engine without a sandbox leaves behind outside of its process group.

A child that begins a session of its own is not killed with the group. It is found by its environment
(``workers.reaper``). One that has replaced its environment is found as an orphan: a process that adopts
orphans gets them as its own children.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import time
from collections.abc import Collection, Iterator
from pathlib import Path

from workers.reaper import END_SECONDS, NAME, PAUSE_SECONDS, end_marked, signal_all

_PR_SET_CHILD_SUBREAPER = 36
_adopts = False


def end_strays(folder: str) -> None:
    """Kill the processes whose home is ``folder``; only orphans are searched if they are adopted."""
    end_marked((folder,), children if _adopts else None)


@contextlib.contextmanager
def adopting_orphans() -> Iterator[None]:
    """Adopt the orphans of all child processes meanwhile, and kill those that are left at the end.

    Processes that are children already are not touched. Elsewhere than on Linux nothing is adopted.
    """
    global _adopts
    before = set(children())
    _adopts = _set_subreaper(True)
    try:
        yield
    finally:
        if _adopts:
            end_orphans(before)
            _adopts = not _set_subreaper(False)


def end_orphans(known: Collection[int]) -> None:
    """Kill all children of this process, and theirs, except those in ``known``."""
    until = time.monotonic() + END_SECONDS
    while (
        orphans := [child for child in children() if _is_orphan(child, known)]
    ) and time.monotonic() < until:
        signal_all(orphans, signal.SIGKILL)
        reap_orphans(known)
        time.sleep(PAUSE_SECONDS)


def _is_orphan(child: int, known: Collection[int]) -> bool:
    """Not the reaper of a child that was killed: it ends by itself when it has finished."""
    try:
        return child not in known and Path(f"/proc/{child}/comm").read_bytes().strip() != NAME
    except OSError:
        return False


def reap_orphans(known: Collection[int]) -> None:
    """Reap the adopted processes that have ended; the children in ``known`` are reaped by others."""
    for child in children():
        if child not in known:
            with contextlib.suppress(ChildProcessError):
                os.waitpid(child, os.WNOHANG)


def children(process: int | str = "self") -> list[int]:
    """The child processes of a process, of all its threads; of this process without an argument."""
    found: list[int] = []
    for thread in thread_numbers(process):
        with contextlib.suppress(OSError), open(f"/proc/{process}/task/{thread}/children", "rb") as file:
            found += map(int, file.read().split())
    return found


def thread_numbers(process: int | str) -> list[int]:
    """The numbers of its threads; empty if it has ended, and elsewhere than on Linux."""
    try:
        return list(map(int, os.listdir(f"/proc/{process}/task")))
    except OSError:
        return []


def _set_subreaper(on: bool) -> bool:
    """Whether the kernel has done it."""
    try:
        return bool(ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, int(on), 0, 0, 0) == 0)
    except (OSError, AttributeError):
        return False
