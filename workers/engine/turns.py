"""The turns of one engine: what it may use, and what it is charged.

Without a sandbox processor time is neither recorded nor limited, and wall time is charged.
"""

from __future__ import annotations

from workers.engine.fair_clock import NEVER_NS, FairClock, own_core
from workers.engine.processor_time import ProcessorTime, WaitingEngines
from workers.engine.unsandboxed import UnsandboxedProcess, UnsandboxedTime
from workers.game.charges import Charge
from workers.sandbox.process import SandboxedProcess
from workers.sandbox.withheld import own_delay_ns

WAITING = WaitingEngines()
"""The engines of this process that wait for their turn; see ``processor_time``."""


class EngineTurns:
    """Begins with the turn of the engine in ``sandboxed`` or, if that is None, below the process ``pid``.

    ``processor_time`` is None without a sandbox.
    """

    def __init__(self, sandboxed: SandboxedProcess | None, pid: int) -> None:
        self.processor_time: ProcessorTime | None = None
        self.clock: FairClock | None = None
        """Defers deadlines. None where time that the machine withholds cannot be measured."""
        if sandboxed is None:
            self._watch: ProcessorTime | UnsandboxedTime = UnsandboxedTime(UnsandboxedProcess(pid), WAITING)
            return
        self._watch = self.processor_time = ProcessorTime(sandboxed, WAITING)
        core = own_core()
        if core is not None and (counter := sandboxed.withheld_counter(core)) is not None:
            self.clock = FairClock(counter, self.processor_time.turn_cpu_ns, own_delay_ns)

    def begin_game(self) -> None:
        """The engine's own turn begins, to get ready for a game."""
        self._watch.begin_game()
        self.begin()

    def begin(self) -> None:
        """Begin the engine's turn: resume it if it is suspended. May be repeated."""
        self._watch.begin_turn()

    def begin_question(self) -> None:
        """Begin the engine's turn, before a question is written that the fast path has not written."""
        self.begin()
        if self.clock is not None:
            self.clock.prepare()

    def begin_long(self, asked_ns: int) -> None:
        """A turn that the fast path does not complete has begun, with a question written at ``asked_ns``."""
        if self.clock is not None:
            self.clock.begin(asked_ns)
        self.begin()
        WAITING.begin_long_turn()

    def charge(self, at_ns: int, *, is_answered: bool = True) -> Charge | None:
        """The times of the question asked last, up to ``at_ns``; None where they are not measured.

        Call it once, before ``end``.
        """
        return None if self.clock is None else self.clock.end(at_ns, is_answered=is_answered)

    def end(self, *, suspend: bool = False) -> int | None:
        """End the engine's turn; returns the processor time since the end of its last one, in nanoseconds.

        From then on the engine is suspended if it thinks, a sandboxed one at once with ``suspend``. None
        without a sandbox.
        """
        WAITING.end_long_turn()
        if isinstance(self._watch, ProcessorTime):
            return self._watch.end_turn(suspend=suspend)
        self._watch.end_turn()
        return None

    @property
    def may_be_quick(self) -> bool:
        """Whether the fast path may play them. It cannot suspend an engine without a sandbox."""
        return isinstance(self._watch, ProcessorTime) or not self._watch.thinks

    def left_ns(self, now_ns: int, deadline_ns: int) -> int:
        """The time until a deadline, which the clock may defer; not positive when it has passed."""
        left_ns = deadline_ns - now_ns
        return left_ns if left_ns > 0 or self.clock is None else self.clock.left_ns(left_ns)

    def longest_wait_ns(self, now_ns: int) -> int:
        """How long a wait may last before something must be measured."""
        mark_ns = NEVER_NS if self.clock is None else self.clock.check(now_ns)
        return min(WAITING.check(now_ns), mark_ns)

    def check(self) -> None:
        """End the engine if it is over its limit; for intervals of half a second or so."""
        if self.processor_time is not None:
            self.processor_time.check_turn()

    def close(self) -> None:
        self._watch.close()
