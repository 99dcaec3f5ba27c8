"""Without a control group: a thread that looks at engines' memory and ends one that takes too much.

Half a second at most passes from the first byte too many to the kill. What it cannot see in
time, or at all, is told in ``docs/sandbox.md``.
"""

from __future__ import annotations

import logging
import threading

from workers.sandbox import tree
from workers.sandbox.cell import SandboxedProcess

PERIOD_SECONDS = 0.2

log = logging.getLogger("workers.sandbox")


class Sampler:
    """Looks at every cell it was told of. The thread starts with the first, and again after a fork."""

    def __init__(self) -> None:
        self._cells: dict[int, SandboxedProcess] = {}
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None

    def watch(self, cell: SandboxedProcess) -> None:
        with self._lock:
            self._cells[id(cell)] = cell
            if self._thread is None or not self._thread.is_alive():
                self._thread = threading.Thread(target=self._look, name="sampler", daemon=True)
                self._thread.start()

    def forget(self, cell: SandboxedProcess) -> None:
        """May be repeated. Once it returns the cell is not looked at any more."""
        with self._lock:
            self._cells.pop(id(cell), None)

    def _look(self) -> None:
        pause = threading.Event()
        while not pause.wait(PERIOD_SECONDS):
            with self._lock:
                if not self._cells:
                    self._thread = None
                    return
                for cell in self._cells.values():
                    judge(cell)


def judge(cell: SandboxedProcess) -> None:
    """End an engine that uses more memory than it may; note one that has as many processes as it may."""
    init = cell.init()
    if init is None or cell.is_over_memory:
        return
    processes = tree.descendants(init)
    if len(processes) >= cell.limits.processes - 1:  # the namespace's first process counts as well
        cell.was_crowded = True
    if tree.memory_bytes(init, processes) > cell.limits.memory:
        cell.is_over_memory = True
        cell.kill()
