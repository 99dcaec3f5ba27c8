"""An engine as a process: lines in and out before a deadline, and a clean end.

Raw pipes and one ``epoll`` loop, no threads: a line costs a few microseconds. An
engine is taken to be hostile. A deadline is never moved by output, a write
never blocks for long, what an engine says is bounded, and killing it kills its
process group and leaves no zombie, descriptor or scratch folder.

Knows lines, not what they mean: that is ``workers.players``.
"""

from __future__ import annotations

import os
import select
import signal
import subprocess
import time
from collections import deque
from collections.abc import Callable, Sequence
from typing import IO

from engines.records import Termination
from workers.endings import exit_sentence, signal_sentence
from workers.exchange.conversation import Conversation
from workers.exchange.plain import NS_PER_S, Asked, Line
from workers.launch import Launch
from workers.reaper import Reaper, remove_scratch
from workers.sandbox.cell import GATE, Cell, Ending
from workers.sandbox.enclosure import SAMPLER

MAX_LINE_BYTES = 64 * 1024
MAX_MOVE_OUTPUT_BYTES = 1024 * 1024
MAX_STDERR_BYTES = 16 * 1024 * 1024
"""Of standard error in one game."""
KEPT_STDERR_BYTES = 64 * 1024
"""Kept of it: this many at either end."""
READ_BYTES = 64 * 1024
WAIT_NS = 500_000_000
"""How long a wait may last before its owner is asked whether it may go on."""
MOST_EVENTS = 4
"""At once: an engine's input, output and standard error, and its end."""

REAPER = Reaper()
"""Ends this process's engines should it vanish; every engine is told to it."""


class EngineFault(Exception):
    """An engine misbehaved; the text is one sentence of evidence."""


class EngineSilent(EngineFault):
    """The deadline passed without a line."""


class EngineExited(EngineFault):
    """The process has ended, by itself or by a signal; everything it said has been read."""


class EngineFlooded(EngineFault):
    """It said more than it may."""


class EngineOverLimit(EngineExited):
    """A limit of its walls ended it, or walls that failed (``void``)."""

    def __init__(self, ending: Ending) -> None:
        super().__init__(ending.sentence)
        self.termination = ending.termination


class EngineProcess:
    """One running engine. Whoever starts one must ``kill`` it.

    ``on_wait`` is called at least every half second of waiting and may raise to end the
    wait. Deadlines are in nanoseconds of ``time.monotonic_ns``. Raises ``OSError`` from the
    constructor when the program cannot be started.
    """

    def __init__(
        self, launch: Launch, *, on_wait: Callable[[], None] = lambda: None, reaper: Reaper = REAPER
    ) -> None:
        self.on_wait = on_wait
        self.arrived_ns = 0
        """When the line last read arrived."""
        self._launch = launch
        self._reaper = reaper
        self._lines: deque[bytes] = deque()
        self.unfinished = b""
        """The line that has begun to arrive, as far as it has."""
        self._said = 0
        self._mind_ns = 0
        self._stderr = Ends(KEPT_STDERR_BYTES)
        self._killed = False
        self._cell = launch.cell
        self.is_walled = launch.cell is not None
        """Whether it rests between its turns, and its processor time is known."""
        control_groups = () if self._cell is None else self._cell.control_groups
        try:
            reaper.watch(launch.scratch, control_groups=control_groups)
            self._popen = _spawn(launch)
        except BaseException:
            if self._cell is not None:
                self._cell.end()
            remove_scratch(launch.scratch)
            reaper.forget(launch.scratch)
            raise
        try:
            self._watch()
        except BaseException:
            self._end()
            raise

    def _watch(self) -> None:
        control_groups = () if self._cell is None else self._cell.control_groups
        self._reaper.watch(self._launch.scratch, self._popen.pid, control_groups)
        self._in, self._out, self._err = (stream.fileno() for stream in _streams(self._popen))
        self._exit = os.pidfd_open(self._popen.pid)
        self._poll = select.epoll()
        for descriptor in (self._in, self._out, self._err):
            os.set_blocking(descriptor, False)
        for descriptor in (self._out, self._err, self._exit):
            self._poll.register(descriptor, select.EPOLLIN)
        self._wait = self._poll.poll
        if self._cell is not None:
            self._enter(self._cell)

    def _enter(self, cell: Cell) -> None:
        """Let the engine behind its walls begin: from now on nothing of it can be lost."""
        cell.started(self._popen.pid)
        if not cell.freezes:
            SAMPLER.watch(cell)
        self.write(GATE, time.monotonic_ns())

    def wake(self) -> None:
        """Let an engine that rests run again."""
        if self._cell is not None:
            self._cell.thaw()

    def rest(self) -> None:
        """Let an engine behind walls compute nothing until ``wake``; one without them goes on."""
        if self._cell is not None:
            self._cell.freeze()

    def cpu_ns(self) -> int | None:
        """The processor time it has used so far, or None: that is measured behind walls alone."""
        return None if self._cell is None else self._cell.cpu_ns()

    def limit_reached(self) -> EngineOverLimit | None:
        """The limit that has cost the engine a process, though it lives on."""
        ending = None if self._cell is None else self._cell.limit_reached()
        return None if ending is None else EngineOverLimit(ending)

    def line(self, conversation: Conversation) -> Line | None:
        """For plain play; None behind walls, and while something that it said waits to be read."""
        if self.is_walled or self._lines or self.unfinished or self._said:
            return None
        return Line(
            self._in, self._out, (self._out, self._err, self._exit), conversation, self.on_wait, WAIT_NS
        )

    def ask(self, asked: Asked, deadline_ns: int) -> list[bytes]:
        """Put what is left of a question and do as ``read_lines``; raises what that and ``write`` raise."""
        if asked.heard:
            self.arrived_ns = asked.heard_ns
            self._hear(asked.heard)
        self.write(asked.rest, deadline_ns)
        return self.read_lines(deadline_ns)

    def write(self, data: bytes, deadline_ns: int) -> None:
        """Write all of it; raises ``EngineSilent`` if the engine has not read enough by the deadline.

        An engine that closed its input or has ended is found out by reading, not here.
        """
        while data:
            try:
                data = data[os.write(self._in, data) :]
            except BlockingIOError:
                self._wait_to_write(deadline_ns)
            except BrokenPipeError:
                return

    def read_line(self, deadline_ns: int) -> bytes:
        """The next line that is not empty, without its end; waits until the deadline, whatever arrives."""
        while not self._lines:
            now_ns = time.monotonic_ns()
            if now_ns >= self._mind_ns:
                self._mind_the_owner(now_ns)
            if now_ns >= deadline_ns:
                raise EngineSilent("no line arrived in time")
            self._read_ready(self._wait(min(deadline_ns - now_ns, WAIT_NS) / NS_PER_S, MOST_EVENTS))
        return self._lines.popleft()

    def read_lines(self, deadline_ns: int) -> list[bytes]:
        """The same, with whatever other lines arrived together with it."""
        line = self.read_line(deadline_ns)
        return [line, *self._take()]

    def put_back(self, lines: Sequence[bytes]) -> None:
        """Lines that were read too far: they are the next to be read again."""
        self._lines.extendleft(reversed(lines))

    def has_spoken(self) -> bool:
        """Whether anything lies in the pipes already; it is read, and ``drain`` has it.

        Never waits. Does not raise ``EngineExited``: what an engine said before it ended comes first.
        """
        ready = self._wait(0, MOST_EVENTS)
        while ready and not self._is_only_the_exit(ready):
            self._read_ready(ready)
            ready = self._wait(0, MOST_EVENTS)
        return bool(self._lines or self.unfinished)

    def drain(self) -> list[bytes]:
        """The lines that lie in the pipes already; what may follow them is ``unfinished``. Never waits."""
        self.has_spoken()
        return self._take()

    def _take(self) -> list[bytes]:
        lines = list(self._lines)
        self._lines.clear()
        return lines

    def close_input(self) -> None:
        """Let the engine read the end of its input; nothing can be written after this. May be repeated."""
        _streams(self._popen)[0].close()

    @property
    def session(self) -> int:
        """The number of the session that the engine and whatever it starts run in."""
        return self._popen.pid

    @property
    def stderr_size(self) -> int:
        """How many bytes of standard error have been read in this game."""
        return self._stderr.size

    def end_move(self) -> None:
        """Begin to count output anew: what is said from now on belongs to the next move."""
        self._said = 0

    def begin_game(self) -> None:
        """Begin to count and keep standard error anew."""
        self._stderr = Ends(KEPT_STDERR_BYTES)

    def take_stderr(self) -> bytes:
        """What was said on standard error in this game, its middle left out when it is long."""
        if not self._killed:
            self._drain_stderr()
        return self._stderr.joined()

    def has_exited(self) -> bool:
        return self._killed or self._status() is not None

    def wait(self, deadline_ns: int) -> None:
        """Read and drop what the engine says until it ends or the deadline passes; never raises a fault."""
        try:
            while True:
                self.read_line(deadline_ns)
                self._said = 0
        except EngineFault:
            return

    def kill(self) -> None:
        """End the engine and all of its group, now. May be repeated."""
        if self._killed:
            return
        self._kill_group()
        self._drain_stderr()
        os.close(self._exit)
        self._poll.close()
        self._end()

    def _end(self) -> None:
        self._killed = True
        self._kill_group()
        if self._cell is not None:
            SAMPLER.forget(self._cell)
            self._cell.end()
        os.waitid(os.P_PID, self._popen.pid, os.WEXITED | os.WNOWAIT)
        for stream in _streams(self._popen):
            stream.close()
        remove_scratch(self._launch.scratch)
        # Reaped last of all: only then may the number pass to another process.
        self._reaper.forget(self._launch.scratch)
        self._popen.wait()

    def _mind_the_owner(self, now_ns: int) -> None:
        """Ask whether the wait may go on: as often while the engine keeps talking."""
        self._mind_ns = now_ns + WAIT_NS
        self.on_wait()

    def _kill_group(self) -> None:
        try:
            os.killpg(self._popen.pid, signal.SIGKILL)
        except (ProcessLookupError, PermissionError):
            self._popen.kill()
        if self._cell is not None:
            self._cell.kill()

    def _wait_to_write(self, deadline_ns: int) -> None:
        """Wait until there is room, reading meanwhile: an engine may be stuck in a write of its own."""
        now_ns = time.monotonic_ns()
        if now_ns >= self._mind_ns:
            self._mind_the_owner(now_ns)
        if now_ns >= deadline_ns:
            raise EngineSilent("it did not read what was sent to it")
        self._poll.register(self._in, select.EPOLLOUT)
        try:
            ready = self._poll.poll(min(deadline_ns - now_ns, WAIT_NS) / NS_PER_S, MOST_EVENTS)
        finally:
            self._poll.unregister(self._in)
        self._read_ready([event for event in ready if event[0] != self._in])

    def _read_ready(self, ready: list[tuple[int, int]]) -> None:
        """Read the streams that have something; raises ``EngineExited`` once only the exit has."""
        for descriptor, _ in ready:
            if descriptor == self._out:
                self._read_out()
            elif descriptor == self._err:
                self._read_err()
            elif self._is_only_the_exit(ready):
                raise self._exited()

    def _is_only_the_exit(self, ready: list[tuple[int, int]]) -> bool:
        return len(ready) == 1 and ready[0][0] == self._exit

    def _read_out(self) -> None:
        chunk = _read(self._out)
        self.arrived_ns = time.monotonic_ns()
        if chunk:
            self._hear(chunk)
        else:
            self._poll.unregister(self._out)

    def _hear(self, chunk: bytes) -> None:
        """Make lines of what was said; raises ``EngineFlooded`` when it was too much."""
        self._said += len(chunk)
        chunk = self.unfinished + chunk
        *lines, self.unfinished = chunk.split(b"\n")
        self._lines.extend(filter(None, lines))  # empty ones mean nothing, and there may be 65,536 in a read
        if len(chunk) > MAX_LINE_BYTES and max(map(len, (*lines, self.unfinished))) > MAX_LINE_BYTES:
            raise EngineFlooded(f"a line of output was over {MAX_LINE_BYTES // 1024} KiB")
        if self._said > MAX_MOVE_OUTPUT_BYTES:
            raise EngineFlooded(f"more than {MAX_MOVE_OUTPUT_BYTES // 1024} KiB of output in one move")

    def _read_err(self) -> bool:
        """Read once; whether there may be more."""
        chunk = _read(self._err)
        if not chunk:
            self._poll.unregister(self._err)
            return False
        self._stderr.add(chunk)
        if self._stderr.size > MAX_STDERR_BYTES:
            raise EngineFlooded(f"more than {MAX_STDERR_BYTES >> 20} MiB of standard error in one game")
        return True

    def _drain_stderr(self) -> None:
        try:
            while any(event[0] == self._err for event in self._poll.poll(0)) and self._read_err():
                pass
        except EngineFlooded:
            return

    def _status(self) -> os.waitid_result | None:
        """How the process ended, leaving it to be reaped; None while it runs."""
        return os.waitid(os.P_PID, self._popen.pid, os.WEXITED | os.WNOWAIT | os.WNOHANG)

    def _exited(self) -> EngineExited:
        """What to say of its end."""
        status = self._status()
        if status is None:
            return EngineExited(exit_sentence("?"))
        described = exit_sentence if status.si_code == os.CLD_EXITED else signal_sentence
        how = described(status.si_status)
        if self._cell is None:
            return EngineExited(how)
        ending = self._cell.explain(how)
        crashed = ending.termination is Termination.CRASH
        return EngineExited(ending.sentence) if crashed else EngineOverLimit(ending)


class Ends:
    """The first and the last bytes of a stream, and how many there were."""

    def __init__(self, kept: int) -> None:
        self.size = 0
        self._kept = kept
        self._first = bytearray()
        self._last = bytearray()

    def add(self, chunk: bytes) -> None:
        self.size += len(chunk)
        room = self._kept - len(self._first)
        if room > 0:
            self._first += chunk[:room]
            chunk = chunk[room:]
        self._last += chunk
        if len(self._last) > 2 * self._kept:  # not each time: the copy would cost more than a line
            del self._last[: -self._kept]

    def joined(self) -> bytes:
        last = self._last[-self._kept :]
        left_out = self.size - len(self._first) - len(last)
        gap = b"\n[... %d bytes left out ...]\n" % left_out if left_out else b""
        return bytes(self._first + gap + last)


def _spawn(launch: Launch) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        launch.argv,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=launch.folder,
        env=dict(launch.environment),
        pass_fds=() if launch.cell is None else launch.cell.descriptors,
        bufsize=0,
        start_new_session=True,
    )


def _streams(process: subprocess.Popen[bytes]) -> tuple[IO[bytes], ...]:
    """Its input, output and standard error."""
    return tuple(stream for stream in (process.stdin, process.stdout, process.stderr) if stream is not None)


def _read(descriptor: int) -> bytes:
    """One read; empty at the end of the stream."""
    try:
        return os.read(descriptor, READ_BYTES)
    except ConnectionResetError:
        return b""
