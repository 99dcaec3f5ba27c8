"""The fair clock: does not charge a sandboxed engine for time in which the machine kept it from its core.

A move is charged ``max(own processor time, wall time - time withheld)``. The kernel's counters are read only
when a move has taken ``MARK_NS``, so quick moves cost nothing; while the core is contended they are read
before each question. The clock needs a sandbox, a slot with one core, and the counters of
``workers.sandbox.withheld``; without them wall time is charged.
"""

from __future__ import annotations

import os
import random
import time
from collections.abc import Callable, Set
from dataclasses import dataclass
from typing import Final

from workers.game.charges import Charge
from workers.sandbox.sandbox import Sandbox
from workers.sandbox.withheld import WithheldCounter

MARK_NS: Final = 1_000_000
"""The time of a move after which the counters are read for the first time."""
SAMPLE_NS: Final = 10_000_000
"""The mean interval of samples. It varies by half, so that no engine keeps in step with them."""
CONTENDED_NS: Final = 1_000_000
"""Time withheld from a move that makes its core count as contended."""
UNCOUNTED_NS: Final = 500_000
UNCOUNTED_PART: Final = 100
"""Less than this time or part of a move is the work of the worker, which shares the core: not counted."""
MAX_WITHHELD_NS: Final = 10_000_000_000
"""The most time withheld that counts for one move."""
RECHECK_NS: Final = 2_000_000
"""The interval of checks after the flag would have fallen by wall time."""
LAST_WAIT_NS: Final = 20_000_000
"""How long an engine may still run before its flag falls, where only waits that are over are counted.

Longer while it waits for its core since then, at most ``MAX_WITHHELD_NS``.
"""
NEVER_NS: Final = 1 << 62
PERIOD_NS: Final = 10_000_000_000
"""Moves are added up until they have taken this time, to find out whether the core is contended."""
COMPLAINT_NS: Final = 180_000_000_000
"""A core that is contended for this time of play is reported."""
PROBE_SECONDS: Final = 0.2


class FairClock:
    """Measures the turns of one engine, one after the other.

    ``turn_cpu_ns`` returns the engine's processor time in its present turn. ``own_delay_ns`` is how long this
    process, which reads the answers, has waited for the core.
    """

    def __init__(
        self,
        counter: WithheldCounter,
        turn_cpu_ns: Callable[[], int],
        own_delay_ns: Callable[[], int] = lambda: 0,
    ) -> None:
        self.is_contended = False
        """Whether much time was withheld from the last measured move."""
        self._counter = counter
        self._turn_cpu_ns = turn_cpu_ns
        self._own_delay_ns = own_delay_ns
        self._noted_ns = NEVER_NS
        """When ``own_delay_ns`` was noted: before the question, then before each wait after the mark."""
        self._noted_delay_ns = 0
        self._unmarked_ns = 0
        """How long this process waited for the core before it marked the counter."""
        self._has_waited = False
        self._asked_ns = 0
        self._marked_ns = NEVER_NS
        """When the counter was marked in this turn."""
        self._sample_ns = NEVER_NS
        """When to sample the counter again."""
        self._is_turn = False
        self._fell_ns = NEVER_NS
        """When the flag would have fallen in this turn."""
        self._last_waits: Set[tuple[int, int]] = frozenset()
        """The waits of the engine at that time."""

    def prepare(self) -> None:
        """Call before a question is written; marks the counter if the core is contended."""
        self._marked_ns = NEVER_NS
        self._note(time.monotonic_ns())
        if self.is_contended:
            self._mark(time.monotonic_ns())

    def begin(self, asked_ns: int) -> None:
        """The turn has begun: the question was written at ``asked_ns``."""
        self._asked_ns = asked_ns
        self._fell_ns = NEVER_NS
        self._is_turn = True
        self._unmarked_ns, self._has_waited = 0, False
        if self._noted_ns == NEVER_NS:
            self._note(time.monotonic_ns())

    def check(self, now_ns: int) -> int:
        """Mark or sample the counter if that is due; returns how long the caller may wait until then.

        Call it before each wait.
        """
        if not self._is_turn:
            return NEVER_NS
        if self._marked_ns == NEVER_NS:
            due_ns = self._asked_ns + MARK_NS
            if now_ns < due_ns:
                return due_ns - now_ns
            self._unmarked_ns = self._own_wait_ns(now_ns)
            self._mark(now_ns)
            self._note(now_ns)
            return max(0, self._sample_ns - now_ns)
        if self._has_waited:
            self._note(now_ns)
        self._has_waited = True
        if now_ns >= self._sample_ns:
            self._sample_ns = now_ns + _next_sample_ns()
            self._counter.sample()
        return max(0, self._sample_ns - now_ns)

    def left_ns(self, left_ns: int) -> int:
        """The time until the flag falls, as known now; ``left_ns`` is that by wall time, and not positive."""
        if not self._is_turn:
            return left_ns
        now_ns = time.monotonic_ns()
        self.check(now_ns)
        waits = self._counter.present_waits()  # before the charge, which has those that are over by then
        left_ns += self._charge(now_ns - self._asked_ns).extension_ns
        if left_ns <= 0 and not self._counter.counts_present_wait:
            left_ns = self._last_wait_ns(now_ns, waits)
        return left_ns if left_ns <= 0 else max(left_ns, RECHECK_NS)

    def _last_wait_ns(self, now_ns: int, waits: Set[tuple[int, int]]) -> int:
        """How long it may still run; a wait since the flag would have fallen counts when it is over."""
        if self._fell_ns == NEVER_NS:
            self._fell_ns, self._last_waits = now_ns, waits
        left_ns = self._fell_ns + LAST_WAIT_NS - now_ns
        if left_ns > 0 or now_ns >= self._fell_ns + MAX_WITHHELD_NS:
            return left_ns
        return RECHECK_NS if self._last_waits & waits else left_ns

    def end(self, arrived_ns: int, *, is_answered: bool = True) -> Charge:
        """End the turn: the answer came, or the flag fell, at ``arrived_ns``. Call it before ``end_turn``."""
        self._is_turn = False
        unread_ns = self._own_wait_ns(arrived_ns) if is_answered else 0
        charge = self._charge(arrived_ns - self._asked_ns, unread_ns)
        if self._marked_ns != NEVER_NS:
            self.is_contended = charge.withheld_ns >= CONTENDED_NS
            CORE.add(charge.wall_ns, charge.withheld_ns)
        self._marked_ns = self._noted_ns = NEVER_NS
        return charge

    def _note(self, now_ns: int) -> None:
        self._noted_ns, self._noted_delay_ns = now_ns, self._own_delay_ns()

    def _own_wait_ns(self, now_ns: int) -> int:
        """How long this process has waited for the core in this turn since that was noted."""
        waited_ns = self._own_delay_ns() - self._noted_delay_ns
        return max(0, min(waited_ns, now_ns - max(self._noted_ns, self._asked_ns)))

    def _mark(self, now_ns: int) -> None:
        self._counter.mark()
        self._marked_ns = now_ns
        self._sample_ns = now_ns + _next_sample_ns()

    def _charge(self, wall_ns: int, unread_ns: int = 0) -> Charge:
        withheld_ns = self._unmarked_ns + unread_ns
        if self._marked_ns != NEVER_NS:
            measured_ns = self._asked_ns + wall_ns - self._marked_ns
            withheld_ns += min(self._counter.since_mark_ns(), max(0, measured_ns))
        withheld_ns = min(withheld_ns, wall_ns)
        if withheld_ns < max(UNCOUNTED_NS, wall_ns // UNCOUNTED_PART):
            withheld_ns = 0
        cpu_ns = self._turn_cpu_ns() if withheld_ns else 0
        return Charge(wall_ns, withheld_ns, cpu_ns, MAX_WITHHELD_NS, self._counter.is_proof)


def _next_sample_ns() -> int:
    return int(SAMPLE_NS * random.uniform(0.5, 1.5))


class ContendedCore:
    """Adds up moves of this process, to notice that its core is contended for minutes.

    That is the case while the machine withholds more than half of the time of all measured moves.
    """

    def __init__(self) -> None:
        self._wall_ns = 0
        self._withheld_ns = 0
        self._contended_ns = 0
        """The length of the latest periods in a row that were contended."""
        self._percent = 0

    def add(self, wall_ns: int, withheld_ns: int) -> None:
        """Add a measured move."""
        self._wall_ns += wall_ns
        self._withheld_ns += withheld_ns
        if self._wall_ns < PERIOD_NS:
            return
        self._percent = 100 * self._withheld_ns // self._wall_ns
        self._contended_ns = self._contended_ns + self._wall_ns if self._percent > 50 else 0
        self._wall_ns = self._withheld_ns = 0

    def complaint(self) -> str:
        """A sentence if the core has been contended for minutes, empty if not. Then it begins anew."""
        if self._contended_ns < COMPLAINT_NS:
            return ""
        minutes = self._contended_ns // 60_000_000_000
        self._contended_ns = self._wall_ns = self._withheld_ns = 0
        return (
            f"other programs use its core: in {minutes} minutes of play engines were kept waiting, "
            f"lately for {self._percent} % of their time"
        )


CORE = ContendedCore()
"""The core of this process, if it is a slot."""


def core_share(seconds: float) -> float:
    """The share of its core that this thread gets while it uses all it can get for ``seconds``."""
    began, used = time.monotonic(), time.thread_time()
    while (wall := time.monotonic() - began) < seconds:
        pass
    return (time.thread_time() - used) / wall


def find_core_trouble() -> str:
    """Use the core for a moment; a sentence if others get more than half of it, empty if not."""
    percent = round(100 * core_share(PROBE_SECONDS))
    return "" if percent >= 50 else f"other programs use its core: a test got {percent} % of it"


@dataclass(frozen=True, slots=True)
class ClockMethod:
    """How clocks run: ``source`` names what counts withheld time; empty is wall time, for ``reason``."""

    source: str = ""
    reason: str = ""

    @property
    def sentence(self) -> str:
        if self.reason:
            return f"Clocks count wall time, also when the machine is busy: {self.reason}."
        return f"Clocks do not count the time that other programs take from an engine ({self.source})."


def find_clock_method(sandbox: Sandbox | None, *, is_pinned: bool) -> ClockMethod:
    """How the clocks of engines in ``sandbox`` run; ``is_pinned``: each game has one core."""
    if sandbox is None:
        return ClockMethod(reason="engines run without a sandbox")
    if not is_pinned:
        return ClockMethod(reason="games have no core of their own")
    source = sandbox.withheld_source
    return ClockMethod(
        source, "" if source else "this kernel does not count how long programs wait for a core"
    )


def own_core() -> int | None:
    """The only core of this process, None if it has several."""
    cores = os.sched_getaffinity(0)
    return min(cores) if len(cores) == 1 else None
