"""Without a control group: a thread that samples engines' memory and kills an engine that uses too much.

The kill comes at most half a second after the limit is exceeded. ``docs/sandbox.md`` says what it cannot
see in time, or at all.
"""

from __future__ import annotations

import os
import threading

from workers.sandbox import tree
from workers.sandbox.process import SandboxedProcess

PERIOD_SECONDS = 0.2


class Sampler:
    """Checks every watched process. The thread starts with the first one, and again after a fork."""

    def __init__(self) -> None:
        self._watched: dict[int, SandboxedProcess] = {}
        self._lock = threading.Lock()
        os.register_at_fork(
            before=self._lock.acquire, after_in_parent=self._lock.release, after_in_child=self._lock.release
        )
        self._thread: threading.Thread | None = None

    def watch(self, process: SandboxedProcess) -> None:
        with self._lock:
            self._watched[id(process)] = process
            if self._thread is None or not self._thread.is_alive():
                self._thread = threading.Thread(target=self._run, name="sampler", daemon=True)
                self._thread.start()

    def forget(self, process: SandboxedProcess) -> None:
        """Stop checking the process: when this returns, no check of it runs. May be repeated."""
        with self._lock:
            self._watched.pop(id(process), None)

    def _run(self) -> None:
        pause = threading.Event()
        while not pause.wait(PERIOD_SECONDS):
            with self._lock:
                if not self._watched:
                    self._thread = None
                    return
                for process in self._watched.values():
                    check_limits(process)


def check_limits(process: SandboxedProcess) -> None:
    """Kill an engine over its memory limit; note an engine that has as many processes as it may have."""
    init = process.init()
    if init is None or process.is_over_memory:
        return
    processes = tree.descendants(init)
    if len(processes) >= process.limits.processes - 1:  # the namespace's first process counts as well
        process.reached_process_limit = True
    if tree.memory_bytes(init, processes) > process.limits.memory:
        process.is_over_memory = True
        process.kill()
