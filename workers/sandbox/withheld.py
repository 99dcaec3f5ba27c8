"""Measures how long the machine keeps a sandboxed engine from its core while it wants to run.

Two counters of the kernel serve. The ``full`` line of the control group's ``cpu.pressure`` counts the time in
which some thread of the engine can run and none does: no engine can raise it alone. Elsewhere the run delays
of the engine's threads are added. Threads also wait for each other, so the sum is bounded by the processor
time that the core spent on others. In a virtual machine both leave out the time in which the engine had the
core, but the host did not run it; that is counted by the kernel's steal time.

Independent of clocks and rules: ``workers.engine.fair_clock`` decides what is charged.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable, Iterable, Set
from pathlib import Path

PRESSURE = "pressure"
RUN_DELAY = "run delay"
"""The names of the counters, in records and messages."""
PRESSURE_FILE = "cpu.pressure"
SAMPLED_NS = 1_000_000
"""Threads are looked at between ``mark`` and the end only if the core has spent this much on others."""
TICK_NS = 1_000_000_000 // os.sysconf("SC_CLK_TCK")
BUSY_FIELDS = (1, 2, 3, 6, 7)
"""The fields user, nice, system, irq and softirq of a ``cpu`` line of ``/proc/stat``; see
``proc_stat(5)``."""
STEAL_FIELDS = (8,)
PER_CORE = "cpuacct.usage_percpu"


class StealCounter:
    """Counts the time for which the host of a virtual machine did not run the engine's core.

    ``steal_ns`` is that time so far, in ticks; ``own_ns`` is the engine's processor time.
    """

    def __init__(self, steal_ns: Callable[[], int], own_ns: Callable[[], int]) -> None:
        self._steal_ns = steal_ns
        self._own_ns = own_ns
        self._marked_at_ns = self._marked_steal_ns = self._marked_own_ns = 0

    def mark(self) -> None:
        self._marked_at_ns = time.monotonic_ns()
        self._marked_steal_ns = self._steal_ns()
        self._marked_own_ns = self._own_ns()

    def since_mark_ns(self) -> int:
        """The time since ``mark``, less a tick, which may have begun before."""
        return max(0, self._steal_ns() - self._marked_steal_ns - TICK_NS)

    def engines_part_ns(self) -> int:
        """The part of it in which the engine had the core, as large as its part of the other time."""
        steal_ns = self.since_mark_ns()
        if not steal_ns:
            return 0
        own_ns = self._own_ns() - self._marked_own_ns
        other_ns = time.monotonic_ns() - self._marked_at_ns - steal_ns
        return steal_ns if own_ns >= other_ns else steal_ns * max(0, own_ns) // other_ns


NO_STEAL = StealCounter(lambda: 0, lambda: 0)


class PressureCounter:
    """Counts by pressure information; ``read_ns`` is the total of the control group."""

    is_proof = True
    """Whether the engine cannot have caused what is counted."""
    counts_present_wait = True
    """Whether a wait for the core that is not over counts as far as it has lasted."""

    def __init__(self, read_ns: Callable[[], int], steal: StealCounter = NO_STEAL) -> None:
        self._read_ns = read_ns
        self._steal = steal
        self._marked_ns = 0

    def present_waits(self) -> Set[tuple[int, int]]:
        """The waits that are not over and not counted: here none."""
        return frozenset()

    def mark(self) -> None:
        self._steal.mark()
        self._marked_ns = self._read_ns()

    def sample(self) -> None:
        """The total of a group does not depend on its threads."""

    def since_mark_ns(self) -> int:
        return max(0, self._read_ns() - self._marked_ns) + self._steal.engines_part_ns()


class DelayCounter:
    """Counts by the run delays of the engine's threads; of one that has ended, up to the last ``sample``.

    ``threads`` are their numbers. ``others_ns`` is the processor time that the core has spent on others.
    ``processes`` are the engine's where there is no control group. There the time of a child that has ended
    counts as that of others, so nothing is counted any more once a new process was seen. Delays contain steal
    time, the time spent on others does not.
    """

    is_proof = False
    counts_present_wait = False

    def __init__(
        self,
        threads: Callable[[], Iterable[int]],
        others_ns: Callable[[], int],
        processes: Callable[[], Iterable[int]] = lambda: (),
        steal: StealCounter = NO_STEAL,
    ) -> None:
        self._threads = threads
        self._others_ns = others_ns
        self._processes = processes
        self._steal = steal
        self._known: set[int] | None = None
        self._is_over = False
        self._marked: dict[int, int] = {}
        self._latest: dict[int, int] = {}
        self._marked_others_ns = 0

    def mark(self) -> None:
        self._marked, self._latest = self._delays(), {}
        self._marked_others_ns = self._others_ns()
        self._steal.mark()
        if self._known is None:
            self._known = set(self._processes())

    def sample(self) -> None:
        """Note what threads have that may end before ``since_mark_ns``; call it every few milliseconds."""
        if self._others_ns() - self._marked_others_ns >= SAMPLED_NS:
            self._look()

    def since_mark_ns(self) -> int:
        most_ns = max(0, self._others_ns() - self._marked_others_ns) + self._steal.since_mark_ns()
        if not most_ns:
            return 0
        self._look()
        if self._is_over:
            return 0
        delays = self._latest.items()
        total_ns = sum(max(0, delay_ns - self._marked.get(thread, 0)) for thread, delay_ns in delays)
        return min(total_ns + self._steal.engines_part_ns(), most_ns)

    def present_waits(self) -> Set[tuple[int, int]]:
        """The waits that are not over and not counted; the same wait is the same value.

        Of each thread that can run: its number and how often it has run.
        """
        found = set()
        for thread in self._threads():
            with contextlib.suppress(OSError, ValueError, IndexError):  # it may have ended
                if can_run(thread):
                    found.add((thread, run_count(thread)))
        return found

    def _look(self) -> None:
        self._is_over = self._is_over or not set(self._processes()) <= (self._known or set())
        self._latest.update(self._delays())

    def _delays(self) -> dict[int, int]:
        found = {}
        for thread in self._threads():
            with contextlib.suppress(OSError, ValueError, IndexError):  # it may have ended
                found[thread] = run_delay_ns(thread)
        return found


WithheldCounter = PressureCounter | DelayCounter
"""Counts the nanoseconds withheld from one engine since ``mark``."""


def run_delay_ns(thread: int | str) -> int:
    """How long a thread has waited for a core so far; raises ``OSError`` if it has ended.

    The present wait counts when it is over.
    """
    return int(Path(f"/proc/{thread}/schedstat").read_text().split()[1])


def own_delay_ns() -> int:
    """How long this thread has waited for a core so far; 0 if the kernel does not count that."""
    with contextlib.suppress(OSError, ValueError, IndexError):
        return run_delay_ns("thread-self")
    return 0


def run_count(thread: int) -> int:
    """How often a thread has got a core so far; raises ``OSError`` if it has ended."""
    return int(Path(f"/proc/{thread}/schedstat").read_text().split()[2])


def can_run(thread: int) -> bool:
    """Whether a thread runs or waits for a core; raises ``OSError`` if it has ended."""
    return Path(f"/proc/{thread}/stat").read_text().rpartition(")")[2].split()[0] == "R"


def parse_full_ns(text: str) -> int:
    """The total of the ``full`` line of a pressure file; raises ``ValueError`` if there is none."""
    for line in text.splitlines():
        if line.startswith("full "):
            return int(line.rpartition("total=")[2]) * 1000
    raise ValueError("no full line")


def has_pressure(folder: str | Path) -> bool:
    """Whether the kernel counts pressure for a control group."""
    try:
        parse_full_ns(Path(folder, PRESSURE_FILE).read_text())
    except (OSError, ValueError):
        return False
    return True


def core_ns(*cores: int) -> int:
    """The processor time that these cores have spent on all processes, counted in ticks."""
    return _sum_ns(cores, BUSY_FIELDS)


def steal_ns(*cores: int) -> int:
    """How long the host of a virtual machine did not run cores that wanted to run, counted in ticks."""
    return _sum_ns(cores, STEAL_FIELDS)


def _sum_ns(cores: tuple[int, ...], fields: Iterable[int]) -> int:
    names = {f"cpu{core}" for core in cores}
    with open("/proc/stat") as file:
        found = [words for words in map(str.split, file) if words[0] in names]
    if not found:
        raise OSError(f"/proc/stat has no core {', '.join(map(str, cores))}")
    return sum(int(words[field]) for words in found for field in fields) * TICK_NS


def accounted_core_ns(folder: str, core: int) -> int:
    """The processor time that a core has spent on the processes of a control group of version 1."""
    return int(Path(folder, PER_CORE).read_text().split()[core])


def outermost_account(folder: str) -> str:
    """The outermost control group of version 1 around ``folder`` that counts processor time."""
    place = Path(folder)
    while (place.parent / PER_CORE).exists():
        place = place.parent
    return str(place)


def has_run_delays() -> bool:
    """Whether this kernel counts run delays."""
    try:
        run_delay_ns("self")
    except (OSError, ValueError, IndexError):
        return False
    return True
