"""An engine process: exchanges lines with it before a deadline.

It uses raw pipes and one ``epoll`` loop without threads, so a line costs a few microseconds. Engines
are assumed to be hostile: output never extends a deadline, a write never blocks for long, and output is
limited (``workers.engine.output``). ``child`` starts and ends the process, ``turns`` measures its times.

This module exchanges lines; ``workers.engine.players`` interprets them.
"""

from __future__ import annotations

import os
import select
import time
from collections.abc import Callable, Iterator

from workers.engine.child import REAPER, EngineChild
from workers.engine.fair_clock import MARK_NS, NEVER_NS
from workers.engine.faults import EngineFault, EngineFlooded, EnginePipeClosed, EngineSilent
from workers.engine.launch import Launch
from workers.engine.output import EngineOutput, StandardError
from workers.engine.processor_time import CHECK_NS
from workers.engine.turns import EngineTurns
from workers.game.fastpath.conversation import Conversation
from workers.game.fastpath.moves import NS_PER_S, EngineChannel, Pending
from workers.reaper import Reaper
from workers.sandbox.process import START_LINE

READ_BYTES = 64 * 1024
CLOSED_NS = 1_000_000_000
"""How long an engine may take to end after it closed a pipe, which a process that exits does first."""
QUICK_NS = 5_000_000
"""How long a move may take on the fast path, where engines without a sandbox that wait are not checked.

A shorter one is hardly slowed down by them: an engine that wakes up gets the core at once, for a while.
"""
WAIT_NS = 100_000_000
"""The longest time of a wait before ``on_wait`` is called."""
MAX_EVENTS = 4
"""The most events at once: an engine's input, output and standard error, and its exit."""


class EngineProcess:
    """One running engine. The caller must ``kill`` it.

    ``on_wait`` is called at least ten times a second of waiting and may raise to end the
    wait. Deadlines are in nanoseconds of ``time.monotonic_ns``. Raises ``OSError`` from the
    constructor when the program cannot be started.
    """

    def __init__(
        self, launch: Launch, *, on_wait: Callable[[], None] = lambda: None, reaper: Reaper = REAPER
    ) -> None:
        self.on_wait = on_wait
        self.output = EngineOutput()
        self.stderr = StandardError()
        """The standard error of this game, as far as it was read."""
        self._closed, self._closed_ns = "", NEVER_NS
        """The pipe that the engine closed first, and when that was seen."""
        self._next_check_ns = 0
        self.child = EngineChild(launch, reaper)
        try:
            self._watch()
            if self.child.sandboxed is not None:
                self.write(START_LINE, time.monotonic_ns())
            self.turns = EngineTurns(self.child.sandboxed, self.child.pid)
        except BaseException:
            self.child.end()
            raise

    def _watch(self) -> None:
        self._in, self._out, self._err = self.child.stdin, self.child.stdout, self.child.stderr
        self._exit = os.pidfd_open(self.child.pid)
        self._poll = select.epoll()
        for descriptor in (self._in, self._out, self._err):
            os.set_blocking(descriptor, False)
        self._watched_fds: tuple[int, ...] = (self._out, self._err, self._exit)
        """Output, standard error and the exit, as far as they are open."""
        for descriptor in self._watched_fds:
            self._poll.register(descriptor, select.EPOLLIN)
        self._wait = self._poll.poll

    def fast_channel(self, conversation: Conversation) -> EngineChannel | None:
        """The channel for the fast path; None while unread output waits, and without output.

        None also while the core is contended, which the fast path does not measure, and for an engine without
        a sandbox that thinks in its opponent's time.
        """
        if not self.output.is_empty or self._out not in self._watched_fds or not self.turns.may_be_quick:
            return None
        watch, clock = self.turns.processor_time, self.turns.clock
        if clock is not None and clock.is_contended:
            return None
        channel = (self._in, self._out, self._watched_fds, conversation, self.on_wait)
        if watch is None:
            return EngineChannel(*channel, QUICK_NS)
        # An engine that waits for its turn is checked at this interval, and the fast path does not do that.
        wait_ns = CHECK_NS if clock is None else MARK_NS
        return EngineChannel(*channel, wait_ns, watch.begin_turn, watch.end_turn)

    def ask(self, asked: Pending, deadline_ns: int) -> Iterator[list[bytes]]:
        """Write the rest of a question; yields its answer without end, as ``read_lines``.

        Raises what that and ``write`` raise. The fair clock defers the deadline until ``turns.charge``.
        """
        self.turns.begin_long(asked.asked_ns)
        for piece, arrived_ns in asked.received:
            self.output.add(piece, arrived_ns)
            if self.output.lines:
                yield self.output.take()
        self.write(asked.rest, deadline_ns)
        while True:
            yield self.read_lines(deadline_ns)

    def write(self, data: bytes, deadline_ns: int) -> None:
        """Write all of ``data``; raises ``EngineSilent`` if the engine does not read it by the deadline.

        Does not raise for an engine that closed its input or has ended: reading reports that.
        """
        while data:
            try:
                data = data[os.write(self._in, data) :]
            except BlockingIOError:
                self._wait_to_write(deadline_ns)
            except BrokenPipeError:
                self._note_closed("input", time.monotonic_ns())
                return

    def _wait_to_write(self, deadline_ns: int) -> None:
        """Wait until the pipe has room. Reads meanwhile, because the engine may be blocked in a write."""
        seconds = self._next_wait(deadline_ns, lambda: "it did not read what was sent to it")
        self._poll.register(self._in, select.EPOLLOUT)
        try:
            ready = self._wait(seconds, MAX_EVENTS)
        finally:
            self._poll.unregister(self._in)
        self._read_ready([event for event in ready if event[0] != self._in])

    def _next_wait(self, deadline_ns: int, explain: Callable[[], str]) -> float:
        """The seconds of the next wait; raises ``EngineSilent`` after the deadline, with an explanation.

        Calls ``on_wait`` if that is due, also while the engine keeps writing.
        """
        now_ns = time.monotonic_ns()
        if now_ns >= self._next_check_ns:
            self._next_check_ns = now_ns + WAIT_NS
            self.turns.check()
            self.on_wait()
        left_ns = self.turns.left_ns(now_ns, deadline_ns)
        if left_ns <= 0:
            raise EngineSilent(explain())
        return min(left_ns, WAIT_NS, self.turns.longest_wait_ns(now_ns)) / NS_PER_S

    def read_line(self, deadline_ns: int, *, until_exit: bool = False) -> bytes:
        """The next line that is not empty, without its line end; waits until the deadline at most.

        An engine that has closed its input or output is not waited for, except with ``until_exit``.
        """
        while not self.output.lines:
            if not until_exit and time.monotonic_ns() >= self._closed_ns + CLOSED_NS:
                raise EnginePipeClosed(f"it closed its {self._closed}")
            seconds = self._next_wait(deadline_ns, self.output.describe_move)
            self._read_ready(self._wait(seconds, MAX_EVENTS))
        return self.output.lines.popleft()

    def read_lines(self, deadline_ns: int) -> list[bytes]:
        """The next line and all lines that arrived together with it; see ``read_line``."""
        line = self.read_line(deadline_ns)
        return [line, *self.output.take()]

    def has_spoken(self) -> bool:
        """Whether the engine has unread output, which is read from the pipes into ``output``.

        Never waits. Does not raise ``EngineExited``, because output before the end comes first.
        """
        ready = self._wait(0, MAX_EVENTS)
        while ready and not self._is_only_the_exit(ready):
            self._read_ready(ready)
            ready = self._wait(0, MAX_EVENTS)
        return bool(self.output.lines or self.output.unfinished)

    def begin_game(self) -> None:
        """Reset what is counted for each game; the engine's turn begins."""
        self.stderr = StandardError()
        self.turns.begin_game()

    def take_stderr(self) -> bytes:
        """The standard error of this game; the middle of a long one is left out."""
        if not self.child.is_ended:
            self._drain_stderr()
        return self.stderr.joined()

    def wait(self, deadline_ns: int) -> EngineFault:
        """Read and drop output until the engine ends or the deadline passes; returns what ended that."""
        try:
            while True:
                self.read_line(deadline_ns, until_exit=True)
                self.output.end_move()
        except EngineFault as fault:
            return fault

    def kill(self, *, keep_scratch: bool = False) -> str | None:
        """Kill the engine and its process group at once. May be repeated.

        Returns the scratch folder if it is kept; see ``EngineChild.end``.
        """
        if self.child.is_ended:
            return None
        self.child.kill()
        self._drain_stderr()
        os.close(self._exit)
        self._poll.close()
        self.turns.close()
        return self.child.end(keep_scratch=keep_scratch)

    def _read_ready(self, ready: list[tuple[int, int]]) -> None:
        """Read all ready streams; raises ``EngineExited`` if the exit is the only event."""
        for descriptor, _ in ready:
            if descriptor == self._out:
                self._read_out()
            elif descriptor == self._err:
                self._read_err()
            elif self._is_only_the_exit(ready):
                raise self.child.exited()

    def _is_only_the_exit(self, ready: list[tuple[int, int]]) -> bool:
        return len(ready) == 1 and ready[0][0] == self._exit

    def _read_out(self) -> None:
        chunk = self._read(self._out)
        now_ns = time.monotonic_ns()
        if chunk:
            self.output.add(chunk, now_ns)
        else:
            self._note_closed("output", now_ns)

    def _note_closed(self, pipe: str, now_ns: int) -> None:
        if not self._closed:
            self._closed, self._closed_ns = pipe, now_ns

    def _read_err(self) -> bool:
        """Read standard error once; returns whether there may be more."""
        chunk = self._read(self._err)
        self.stderr.add(chunk)
        return chunk != b""

    def _read(self, descriptor: int) -> bytes:
        """The bytes of one read; at the end of the stream none, and it is not watched any more."""
        try:
            chunk = os.read(descriptor, READ_BYTES)
        except ConnectionResetError:
            chunk = b""
        if not chunk:  # every wait from now on would end at once
            self._poll.unregister(descriptor)
            self._watched_fds = tuple(watched for watched in self._watched_fds if watched != descriptor)
        return chunk

    def _drain_stderr(self) -> None:
        try:
            while any(event[0] == self._err for event in self._poll.poll(0)) and self._read_err():
                pass
        except EngineFlooded:
            return
