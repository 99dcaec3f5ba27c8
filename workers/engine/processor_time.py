"""The processor time of sandboxed engines: keeps each from thinking in its opponent's time, and limits all.

Suspending an engine costs a third of a millisecond, so one that only waits for its turn is not suspended. It
is watched: its processor time is read when its turn ends and begins, and at intervals in between. An engine
that uses it in its opponent's turns is suspended, then and after each of its answers until the game ends.
"""

from __future__ import annotations

import os
import time
from typing import Final, Protocol

from workers.engine.fair_clock import NEVER_NS
from workers.sandbox.process import SandboxedProcess

NS: Final = 1_000_000_000
CHECK_NS: Final = 10_000_000
"""The interval of the checks in an opponent's turn."""
FORGIVEN_NS: Final = 100_000
"""Not counted in each turn of the opponent: what an engine needs to wait for its input again."""
FREE_NS: Final = 10_000_000
"""How much an engine may use in its opponent's turns of a game before it is suspended in them."""
BASE_SECONDS: Final = 10
CLOCK_FACTOR: Final = 2


def limit_ns(clock_ns: int, cores: int) -> int:
    """The processor time that an engine may use over its run, whose own turns took ``clock_ns`` so far.

    10 seconds, and twice its own turns on every core. The start and the preparation of a game count as turns.
    """
    return BASE_SECONDS * NS + CLOCK_FACTOR * cores * clock_ns


class ProcessorTime:
    """The turns of one engine; begins with its own turn. The caller must ``close`` it."""

    def __init__(self, sandboxed: SandboxedProcess, waiting: WaitingEngines) -> None:
        self._sandboxed = sandboxed
        self._waiting = waiting
        self._cores = len(os.sched_getaffinity(0))
        self._began_ns = time.monotonic_ns()
        """When the present turn began."""
        self._is_own_turn = True
        self._is_suspended = False
        self._clock_ns = 0
        self._cpu_ns = 0
        """The processor time at the last change of turns."""
        self._ended_ns = 0
        """The processor time at the end of the engine's last turn."""
        self._taken = TakenTime()

    def begin_game(self) -> None:
        """Forget what was used in the opponent's turns."""
        self._taken.begin_game()

    def begin_turn(self) -> None:
        """Resume the engine if it is suspended; its own turn begins. May be repeated."""
        if self._is_own_turn:
            return
        self._waiting.remove(self)
        cpu_ns = self._sandboxed.cpu_ns()
        if self._is_suspended:
            self._is_suspended = False
            self._sandboxed.thaw()
        else:
            self._taken.add_turn(cpu_ns - self._cpu_ns)
        self._cpu_ns = cpu_ns
        self._is_own_turn = True
        self._began_ns = time.monotonic_ns()

    def end_turn(self, *, suspend: bool = False) -> int:
        """End its own turn and watch the engine. With ``suspend`` it is suspended, for a time without checks.

        Returns the processor time since the last end of a turn, in nanoseconds.
        """
        used_ns = 0
        if self._is_own_turn:
            self._is_own_turn = False
            self._clock_ns += time.monotonic_ns() - self._began_ns
            if suspend or self._taken.is_too_much:
                self._suspend()
            else:
                self._waiting.add(self)
            cpu_ns = self._sandboxed.cpu_ns()
            used_ns = max(0, cpu_ns - self._ended_ns)
            self._cpu_ns = self._ended_ns = cpu_ns
            self._end_if_over(cpu_ns, self._clock_ns)
        elif suspend and not self._is_suspended:
            self._suspend()
        return used_ns

    def turn_cpu_ns(self) -> int:
        """The processor time since the last change of turns."""
        return max(0, self._sandboxed.cpu_ns() - self._cpu_ns)

    def check_turn(self) -> None:
        """End the engine in its own turn if it is over its limit; for intervals of half a second or so."""
        if self._is_own_turn:
            turn_ns = time.monotonic_ns() - self._began_ns
            self._end_if_over(self._sandboxed.cpu_ns(), self._clock_ns + turn_ns)

    def note_wait(self) -> None:
        """Nothing to note: all turns are reported, so what it used is known."""

    def end_wait(self) -> None:
        """Nothing to count: that is done when its own turn begins."""

    def check_wait(self) -> None:
        """Suspend the engine if it has thought in its opponent's turns."""
        cpu_ns = self._sandboxed.cpu_ns()
        if self._taken.is_too_much_with(cpu_ns - self._cpu_ns):
            self._taken.add_turn(cpu_ns - self._cpu_ns)
            self._suspend()
        self._end_if_over(cpu_ns, self._clock_ns)

    def close(self) -> None:
        """End the watch. May be repeated."""
        self._waiting.remove(self)

    def _suspend(self) -> None:
        self._waiting.remove(self)
        self._is_suspended = True
        self._sandboxed.freeze()

    def _end_if_over(self, cpu_ns: int, clock_ns: int) -> None:
        if cpu_ns > limit_ns(clock_ns, self._cores):
            self._sandboxed.end_over_processor_time(cpu_ns, clock_ns)


class TakenTime:
    """What an engine used in its opponent's turns of a game; a little is forgiven once in each of them."""

    def __init__(self) -> None:
        self._ns = 0

    @property
    def is_too_much(self) -> bool:
        return self._ns > FREE_NS

    def begin_game(self) -> None:
        self._ns = 0

    def add_turn(self, used_ns: int) -> None:
        """A turn of the opponent ended, or the engine is suspended for the rest of it."""
        self._ns += max(0, used_ns - FORGIVEN_NS)

    def is_too_much_with(self, used_ns: int) -> bool:
        """Whether it is too much with what the engine used in the present turn so far."""
        return self._ns + max(0, used_ns - FORGIVEN_NS) > FREE_NS


class WaitingEngine(Protocol):
    """An engine that waits for its turn."""

    def note_wait(self) -> None:
        """A turn of its opponent takes long."""

    def check_wait(self) -> None:
        """Suspend the engine if it has thought in its opponent's turns."""

    def end_wait(self) -> None:
        """The long turn of its opponent ends."""


class WaitingEngines:
    """The watched engines of this process. Every wait for another engine calls ``check``."""

    def __init__(self) -> None:
        self._engines: list[WaitingEngine] = []
        self._due_ns = NEVER_NS

    def add(self, engine: WaitingEngine) -> None:
        """Does nothing if it is there."""
        if engine not in self._engines:
            self._engines.append(engine)
            self._due_ns = min(self._due_ns, time.monotonic_ns() + CHECK_NS)

    def remove(self, engine: WaitingEngine) -> None:
        """Does nothing if it is not there."""
        if engine in self._engines:
            self._engines.remove(engine)
            if not self._engines:
                self._due_ns = NEVER_NS

    def begin_long_turn(self) -> None:
        """Call when a turn of another engine takes long."""
        for engine in self._engines:
            engine.note_wait()

    def end_long_turn(self) -> None:
        """Call when it ends."""
        for engine in tuple(self._engines):
            engine.end_wait()

    def check(self, now_ns: int) -> int:
        """Check all engines if that is due; returns how long the caller may wait until the next check."""
        if now_ns >= self._due_ns:
            self._due_ns = now_ns + CHECK_NS
            for engine in tuple(self._engines):
                engine.check_wait()
            if not self._engines:
                self._due_ns = NEVER_NS
        return self._due_ns - now_ns
