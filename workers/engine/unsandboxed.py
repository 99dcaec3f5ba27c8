"""Keeps an engine without a sandbox from thinking in its opponent's time.

It is suspended as a sandboxed one is (``processor_time``), but its quick turns cost nothing: the fast path
does not report them. When a turn takes longer, the processor time of the engines that wait is read.
"""

from __future__ import annotations

from workers.engine.processor_time import TakenTime, WaitingEngines
from workers.sandbox.tree import Family, StoppedProcesses, descendants


class UnsandboxedProcess:
    """All processes of an engine; the process ``parent`` has started the first."""

    def __init__(self, parent: int) -> None:
        self._parent = parent
        self._family = Family()
        self._stopped = StoppedProcesses()

    def cpu_ns(self) -> int:
        return self._family.cpu_ns(self._parent)

    def freeze(self) -> None:
        self._stopped.stop(lambda: descendants(self._parent))

    def thaw(self) -> None:
        self._stopped.resume()


class UnsandboxedTime:
    """The turns of one engine. The caller must ``close`` it."""

    def __init__(self, process: UnsandboxedProcess, waiting: WaitingEngines) -> None:
        self._process = process
        self._waiting = waiting
        self._is_suspended = False
        self._taken = TakenTime()
        self._noted_ns: int | None = None
        """Its processor time in a long turn of its opponent; None in other turns."""

    @property
    def thinks(self) -> bool:
        """Whether it has used its opponent's time in this game."""
        return self._taken.is_too_much

    def begin_game(self) -> None:
        """Forget what was used in the opponent's turns."""
        self._taken.begin_game()

    def begin_turn(self) -> None:
        """Resume the engine if it is suspended; its own turn begins. May be repeated."""
        self._waiting.remove(self)
        if self._is_suspended:
            self._is_suspended = False
            self._process.thaw()

    def end_turn(self) -> None:
        """End its own turn: it is suspended if it thinks, else it waits. May be repeated."""
        self._noted_ns = None
        if self.thinks:
            self._suspend()
        else:
            self._waiting.add(self)

    def note_wait(self) -> None:
        """A turn of its opponent begins to take long: what it used before does not count."""
        self._noted_ns = self._process.cpu_ns()

    def check_wait(self) -> None:
        """Suspend it if it has used too much, with what it used in this long turn."""
        if self._noted_ns is not None and self._taken.is_too_much_with(
            self._process.cpu_ns() - self._noted_ns
        ):
            self.end_wait()

    def end_wait(self) -> None:
        """The long turn of its opponent ends: what it used in it counts, and suspends it if too much."""
        if self._noted_ns is None:
            return
        self._taken.add_turn(self._process.cpu_ns() - self._noted_ns)
        self._noted_ns = None
        if self.thinks:
            self._suspend()

    def close(self) -> None:
        """End the watch. May be repeated."""
        self._waiting.remove(self)

    def _suspend(self) -> None:
        self._waiting.remove(self)
        if not self._is_suspended:
            self._is_suspended = True
            self._process.freeze()
