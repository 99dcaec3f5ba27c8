"""What the kernel accounts for a checked engine: processor time, memory, and waits for a core."""

from __future__ import annotations

import os

from workers.engine.fair_clock import core_share
from workers.sandbox import tree
from workers.sandbox.withheld import (
    DelayCounter,
    StealCounter,
    WithheldCounter,
    core_ns,
    has_run_delays,
    steal_ns,
)
from workers.strays import thread_numbers

THREADS, FILES = "threads and processes", "open files"

PROBE_SECONDS = 0.02
FREE_SHARE = 0.8
"""A core that gives this thread less of its time is shared with others."""


class EngineAccount:
    """The engine's first process, which may be that of its sandbox, and all its descendants."""

    def __init__(self, first: int) -> None:
        self._first = first
        self._family = tree.Family()

    def cpu_ns(self) -> int:
        """The processor time so far; that of children that have ended counts as far as they were seen."""
        return self._family.cpu_ns(self._first)

    def memory_bytes(self) -> int:
        """The memory of all processes; 0 after their end."""
        return sum(map(tree.process_bytes, self._processes()))

    def count_things(self) -> dict[str, int]:
        """The threads of all processes, each with at least one, and the most open files of one of them."""
        processes = self._processes()
        return {
            THREADS: sum(max(1, len(thread_numbers(process))) for process in processes),
            FILES: max(map(_open_files, processes)),
        }

    def withheld_counter(self) -> WithheldCounter | None:
        """Counts how long other programs keep the engine from all cores; None if the kernel does not."""
        if not has_run_delays():
            return None
        cores = os.sched_getaffinity(0)
        return DelayCounter(
            lambda: [thread for process in self._processes() for thread in thread_numbers(process)],
            lambda: core_ns(*cores) - self.cpu_ns(),
            steal=StealCounter(lambda: steal_ns(*cores), self.cpu_ns),
        )

    def _processes(self) -> list[int]:
        return [self._first, *tree.descendants(self._first)]


def _open_files(process: int) -> int:
    try:
        return len(os.listdir(f"/proc/{process}/fd"))
    except OSError:
        return 0


def has_free_core() -> bool:
    """Whether this thread gets a core to itself, for the fiftieth of a second for which it tries."""
    return core_share(PROBE_SECONDS) > FREE_SHARE
