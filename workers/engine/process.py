"""An engine process: exchanges lines with it before a deadline, and ends it completely.

It uses raw pipes and one ``epoll`` loop without threads, so a line costs a few microseconds. Engines
are assumed to be hostile: output never extends a deadline, a write never blocks for long, and output is
limited. Killing an engine kills its process group and what has left it, and leaves no zombie, descriptor or
scratch folder.

This module exchanges lines; ``workers.engine.players`` interprets them.
"""

from __future__ import annotations

import os
import select
import signal
import subprocess
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from typing import IO

from engines.records import Termination
from workers.engine.fair_clock import MARK_NS, NEVER_NS, FairClock, own_core
from workers.engine.launch import Launch, check_program, is_untouched
from workers.engine.processor_time import CHECK_NS, ProcessorTime, WaitingEngines
from workers.exit_status import exit_sentence, signal_sentence
from workers.game.charges import Charge
from workers.game.fastpath.conversation import Conversation
from workers.game.fastpath.moves import NS_PER_S, EngineChannel, Pending
from workers.reaper import Reaper, remove_scratch
from workers.sandbox.process import START_LINE, ProcessEnding, SandboxedProcess
from workers.sandbox.sandbox import SAMPLER
from workers.sandbox.withheld import own_delay_ns
from workers.strays import end_strays

MAX_LINE_BYTES = 64 * 1024
MAX_MOVE_OUTPUT_BYTES = 1024 * 1024
MAX_STDERR_BYTES = 16 * 1024 * 1024
"""The limit of standard error in one game."""
KEPT_STDERR_BYTES = 64 * 1024
"""Bytes kept from the beginning and from the end of standard error."""
READ_BYTES = 64 * 1024
CLOSED_NS = 1_000_000_000
"""How long an engine may take to end after it closed a pipe, which a process that exits does first."""
WAIT_NS = 500_000_000
"""The longest time of a wait before ``on_wait`` is called."""
MOST_EVENTS = 4
"""The most events at once: an engine's input, output and standard error, and its exit."""

PARENT = """
exec 3<&0 </dev/null
unset PWD OLDPWD SHLVL _
"$@" <&3 3<&- &
exec >/dev/null 2>&1 3<&-
wait $!
status=$?
[ $status -le 128 ] || kill -$((status - 128)) $$
exit $status
"""
"""The parent of an engine without a sandbox, which can kill its parent: that ends the engine, not the worker.

It keeps none of the engine's streams open and ends as the engine does."""

RUNNING: set[int] = set()
"""The engines of this process that have not been reaped."""
REAPER = Reaper()
"""Ends the engines of this process if it dies; every engine is registered with it."""
WAITING = WaitingEngines()
"""The sandboxed engines of this process that wait for their turn; see ``processor_time``."""


class EngineFault(Exception):
    """An engine misbehaved; the text is a sentence of evidence."""


class EngineSilent(EngineFault):
    """No line arrived, or no input was read, before the deadline."""


class EnginePipeClosed(EngineSilent):
    """The engine has closed its input or its output and has not ended."""


class EngineExited(EngineFault):
    """The process has ended, by itself or by a signal; all its output has been read."""


class EngineFlooded(EngineFault):
    """The engine sent more output than is allowed."""


class EngineOverLimit(EngineExited):
    """A limit of the sandbox ended the engine, or the sandbox failed (termination ``void``)."""

    def __init__(self, ending: ProcessEnding) -> None:
        super().__init__(ending.sentence)
        self.termination = ending.termination


class EngineProcess:
    """One running engine. The caller must ``kill`` it.

    ``on_wait`` is called at least every half second of waiting and may raise to end the
    wait. Deadlines are in nanoseconds of ``time.monotonic_ns``. Raises ``OSError`` from the
    constructor when the program cannot be started.
    """

    def __init__(
        self, launch: Launch, *, on_wait: Callable[[], None] = lambda: None, reaper: Reaper = REAPER
    ) -> None:
        self.on_wait = on_wait
        self.arrived_ns = 0
        """The arrival time of the last line read."""
        self._launch = launch
        self._reaper = reaper
        self._lines: deque[bytes] = deque()
        self.unfinished = b""
        """The beginning of a line that has not arrived completely."""
        self._output_bytes = 0
        self._closed, self._closed_ns = "", NEVER_NS
        """The pipe that the engine closed first, and when that was seen."""
        self._next_check_ns = 0
        self._stderr = Ends(KEPT_STDERR_BYTES)
        self._watched_fds: tuple[int, ...] = ()
        """Output, standard error and the exit, as far as they are open."""
        self._killed = False
        self._sandboxed = launch.sandboxed
        self._processor_time: ProcessorTime | None = None
        """None without a sandbox, where processor time is neither measured nor limited."""
        self._fair_clock: FairClock | None = None
        """None where time that the machine withholds cannot be measured; see ``fair_clock``."""
        control_groups = () if self._sandboxed is None else self._sandboxed.control_groups
        try:
            reaper.watch(launch.scratch, control_groups=control_groups)
            if self._sandboxed is not None:
                self._sandboxed.enclose()
            self._popen = _spawn(launch)
            RUNNING.add(self._popen.pid)
        except BaseException:
            if self._sandboxed is not None:
                self._sandboxed.end()
            drop_scratch(launch.scratch, reaper)
            raise
        try:
            self._watch()
        except BaseException:
            self._end()
            raise

    def _watch(self) -> None:
        control_groups = () if self._sandboxed is None else self._sandboxed.control_groups
        self._reaper.watch(self._launch.scratch, self._popen.pid, control_groups)
        self._in, self._out, self._err = (stream.fileno() for stream in _streams(self._popen))
        self._exit = os.pidfd_open(self._popen.pid)
        self._poll = select.epoll()
        for descriptor in (self._in, self._out, self._err):
            os.set_blocking(descriptor, False)
        self._watched_fds = (self._out, self._err, self._exit)
        for descriptor in self._watched_fds:
            self._poll.register(descriptor, select.EPOLLIN)
        self._wait = self._poll.poll
        if self._sandboxed is not None:
            self._start_sandboxed(self._sandboxed)

    def _start_sandboxed(self, sandboxed: SandboxedProcess) -> None:
        """Let the sandboxed engine begin, after its process group has been registered with the reaper."""
        sandboxed.started(self._popen.pid)
        if not sandboxed.freezes:
            SAMPLER.watch(sandboxed)
        self.write(START_LINE, time.monotonic_ns())
        self._processor_time = ProcessorTime(sandboxed, WAITING)
        core = own_core()
        if core is not None and (counter := sandboxed.withheld_counter(core)) is not None:
            self._fair_clock = FairClock(counter, self._processor_time.turn_cpu_ns, own_delay_ns)

    def time_with(self, clock: FairClock) -> None:
        """Use this clock from now on to defer deadlines; the caller begins and ends its turns."""
        self._fair_clock = clock

    def wake(self) -> None:
        """Begin the engine's turn: resume it if it is suspended. May be repeated."""
        if self._processor_time is not None:
            self._processor_time.begin_turn()

    def rest(self, *, suspend: bool = False) -> int | None:
        """End the engine's turn; returns the processor time since the end of its last one, in nanoseconds.

        From then on a sandboxed engine is suspended if it thinks, or at once with ``suspend``. None without a
        sandbox, where the engine keeps running.
        """
        return None if self._processor_time is None else self._processor_time.end_turn(suspend=suspend)

    def limit_reached(self) -> EngineOverLimit | None:
        """The sandbox limit that ended a process of the engine while the engine still runs, or None."""
        ending = None if self._sandboxed is None else self._sandboxed.limit_reached()
        return None if ending is None else EngineOverLimit(ending)

    def line(self, conversation: Conversation) -> EngineChannel | None:
        """The channel for the fast path; None while unread output waits, and without output.

        None also while the core is contended, because the fast path does not measure that.
        """
        if self._lines or self.unfinished or self._output_bytes or self._out not in self._watched_fds:
            return None
        watch, fair_clock = self._processor_time, self._fair_clock
        if fair_clock is not None and fair_clock.is_contended:
            return None
        channel = (self._in, self._out, self._watched_fds, conversation, self.on_wait)
        if watch is None:
            return EngineChannel(*channel, WAIT_NS)
        # An engine that waits for its turn is checked at this interval, and the fast path does not do that.
        wait_ns = CHECK_NS if fair_clock is None else MARK_NS
        return EngineChannel(*channel, wait_ns, watch.begin_turn, watch.end_turn)

    def begin_question(self) -> None:
        """Begin the engine's turn, before a question is written that the fast path has not written."""
        self.wake()
        if self._fair_clock is not None:
            self._fair_clock.prepare()

    def ask(self, asked: Pending, deadline_ns: int) -> Iterator[list[bytes]]:
        """Write the rest of a question; yields its answer without end, as ``read_lines``.

        Raises what that and ``write`` raise. The fair clock defers the deadline until ``charge`` is called.
        """
        if self._fair_clock is not None:
            self._fair_clock.begin(asked.asked_ns)
        for piece, arrived_ns in asked.received:
            self.arrived_ns = arrived_ns
            self._add_output(piece)
            if self._lines:
                yield self._take()
        self.write(asked.rest, deadline_ns)
        while True:
            yield self.read_lines(deadline_ns)

    def charge(self, asked_ns: int) -> Charge | None:
        """The times of the question asked last, up to the last output; None where they are not measured.

        Call it once, before ``rest``.
        """
        return None if self._fair_clock is None else self._fair_clock.end(max(self.arrived_ns, asked_ns))

    def charge_silence(self) -> Charge | None:
        """The times of a question that was not answered; None where they are not measured."""
        return (
            None if self._fair_clock is None else self._fair_clock.end(time.monotonic_ns(), is_answered=False)
        )

    def _left_ns(self, now_ns: int, deadline_ns: int) -> int:
        """The time until a deadline, which the fair clock may defer; not positive when it has passed."""
        left_ns = deadline_ns - now_ns
        if left_ns > 0 or self._fair_clock is None:
            return left_ns
        return self._fair_clock.left_ns(left_ns)

    def _longest_wait_ns(self, now_ns: int) -> int:
        """How long a wait may last before something else must be done."""
        mark_ns = NEVER_NS if self._fair_clock is None else self._fair_clock.check(now_ns)
        return min(WAIT_NS, WAITING.check(now_ns), mark_ns)

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

    def read_line(self, deadline_ns: int, *, until_exit: bool = False) -> bytes:
        """The next line that is not empty, without its line end; waits until the deadline at most.

        An engine that has closed its input or output is not waited for, except with ``until_exit``.
        """
        while not self._lines:
            now_ns = time.monotonic_ns()
            if not until_exit and now_ns >= self._closed_ns + CLOSED_NS:
                raise EnginePipeClosed(f"it closed its {self._closed}")
            if now_ns >= self._next_check_ns:
                self._call_on_wait(now_ns)
            left_ns = self._left_ns(now_ns, deadline_ns)
            if left_ns <= 0:
                raise EngineSilent("no line arrived in time")
            wait_ns = min(left_ns, self._longest_wait_ns(now_ns))
            self._read_ready(self._wait(wait_ns / NS_PER_S, MOST_EVENTS))
        return self._lines.popleft()

    def read_lines(self, deadline_ns: int) -> list[bytes]:
        """The next line and all lines that arrived together with it; see ``read_line``."""
        line = self.read_line(deadline_ns)
        return [line, *self._take()]

    def put_back(self, lines: Sequence[bytes]) -> None:
        """Put lines back, so that they are read again next."""
        self._lines.extendleft(reversed(lines))

    def has_spoken(self) -> bool:
        """Whether the engine has unread output; it is read from the pipes and kept for ``drain``.

        Never waits. Does not raise ``EngineExited``, because output before the end comes first.
        """
        ready = self._wait(0, MOST_EVENTS)
        while ready and not self._is_only_the_exit(ready):
            self._read_ready(ready)
            ready = self._wait(0, MOST_EVENTS)
        return bool(self._lines or self.unfinished)

    def drain(self) -> list[bytes]:
        """All complete lines that have arrived; the rest is in ``unfinished``. Never waits."""
        self.has_spoken()
        return self._take()

    def _take(self) -> list[bytes]:
        lines = list(self._lines)
        self._lines.clear()
        return lines

    def close_input(self) -> None:
        """Close the engine's input; nothing can be written after this. May be repeated."""
        _streams(self._popen)[0].close()

    @property
    def session(self) -> int:
        """The number of the session in which the engine and its child processes run."""
        return self._popen.pid

    @property
    def stderr_size(self) -> int:
        """How many bytes of standard error have been read in this game."""
        return self._stderr.size

    def end_move(self) -> None:
        """Reset the output count: output from now on belongs to the next move."""
        self._output_bytes = 0

    def begin_game(self) -> None:
        """Reset what is counted for each game."""
        self._stderr = Ends(KEPT_STDERR_BYTES)
        if self._processor_time is not None:
            self._processor_time.begin_game()

    def take_stderr(self) -> bytes:
        """The standard error of this game; the middle of a long one is left out."""
        if not self._killed:
            self._drain_stderr()
        return self._stderr.joined()

    def has_exited(self) -> bool:
        return self._killed or self._status() is not None

    def wait(self, deadline_ns: int) -> None:
        """Read and drop output until the engine ends or the deadline passes; never raises ``EngineFault``."""
        try:
            while True:
                self.read_line(deadline_ns, until_exit=True)
                self._output_bytes = 0
        except EngineFault:
            return

    def kill(self, *, keep_scratch: bool = False) -> str | None:
        """Kill the engine and its process group at once. May be repeated.

        With ``keep_scratch`` the scratch folder is kept for the next start if the engine has left nothing in
        it; then returns it. It remains registered with the reaper until ``drop_scratch``.
        """
        if self._killed:
            return None
        self._kill_group()
        self._drain_stderr()
        os.close(self._exit)
        self._poll.close()
        return self._end(keep_scratch)

    def _end(self, keep_scratch: bool = False) -> str | None:
        self._killed = True
        if self._processor_time is not None:
            self._processor_time.close()
        self._kill_group()
        if self._sandboxed is not None:
            SAMPLER.forget(self._sandboxed)
            self._sandboxed.end()
        os.waitid(os.P_PID, self._popen.pid, os.WEXITED | os.WNOWAIT)
        if self._sandboxed is None:
            end_strays(self._launch.scratch)
        for stream in _streams(self._popen):
            stream.close()
        scratch = self._launch.scratch
        is_kept = keep_scratch and is_untouched(self._launch)
        # The process is reaped last: only then may the kernel give its number to another process.
        if is_kept:
            self._reaper.watch(scratch)  # without the process group
        else:
            drop_scratch(scratch, self._reaper)
        self._popen.wait()
        RUNNING.discard(self._popen.pid)
        return scratch if is_kept else None

    def _call_on_wait(self, now_ns: int) -> None:
        """Call ``on_wait`` and schedule the next call, also while the engine keeps writing."""
        self._next_check_ns = now_ns + WAIT_NS
        if self._processor_time is not None:
            self._processor_time.check_turn()
        self.on_wait()

    def _kill_group(self) -> None:
        try:
            os.killpg(self._popen.pid, signal.SIGKILL)
        except (ProcessLookupError, PermissionError):
            self._popen.kill()
        if self._sandboxed is not None:
            self._sandboxed.kill()

    def _wait_to_write(self, deadline_ns: int) -> None:
        """Wait until the pipe has room. Reads meanwhile, because the engine may be blocked in a write."""
        now_ns = time.monotonic_ns()
        if now_ns >= self._next_check_ns:
            self._call_on_wait(now_ns)
        left_ns = self._left_ns(now_ns, deadline_ns)
        if left_ns <= 0:
            raise EngineSilent("it did not read what was sent to it")
        self._poll.register(self._in, select.EPOLLOUT)
        try:
            wait_ns = min(left_ns, self._longest_wait_ns(now_ns))
            ready = self._poll.poll(wait_ns / NS_PER_S, MOST_EVENTS)
        finally:
            self._poll.unregister(self._in)
        self._read_ready([event for event in ready if event[0] != self._in])

    def _read_ready(self, ready: list[tuple[int, int]]) -> None:
        """Read all ready streams; raises ``EngineExited`` if the exit is the only event."""
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
            self._add_output(chunk)
        else:
            self._note_closed("output", self.arrived_ns)
            self._stop_watching(self._out)

    def _note_closed(self, pipe: str, now_ns: int) -> None:
        if not self._closed:
            self._closed, self._closed_ns = pipe, now_ns

    def _add_output(self, chunk: bytes) -> None:
        """Split output into lines; raises ``EngineFlooded`` if a line or the move's output is too long."""
        self._output_bytes += len(chunk)
        chunk = self.unfinished + chunk
        *lines, self.unfinished = chunk.split(b"\n")
        self._lines.extend(filter(None, lines))  # empty lines are ignored; one read may have 65,536 of them
        if len(chunk) > MAX_LINE_BYTES and max(map(len, (*lines, self.unfinished))) > MAX_LINE_BYTES:
            raise EngineFlooded(f"a line of output was over {MAX_LINE_BYTES // 1024} KiB")
        if self._output_bytes > MAX_MOVE_OUTPUT_BYTES:
            raise EngineFlooded(f"more than {MAX_MOVE_OUTPUT_BYTES // 1024} KiB of output in one move")

    def _read_err(self) -> bool:
        """Read standard error once; returns whether there may be more."""
        chunk = _read(self._err)
        if not chunk:
            self._stop_watching(self._err)
            return False
        self._stderr.add(chunk)
        if self._stderr.size > MAX_STDERR_BYTES:
            raise EngineFlooded(f"more than {MAX_STDERR_BYTES >> 20} MiB of standard error in one game")
        return True

    def _stop_watching(self, descriptor: int) -> None:
        """The engine has closed a stream, which would end every wait from now on."""
        self._poll.unregister(descriptor)
        self._watched_fds = tuple(watched for watched in self._watched_fds if watched != descriptor)

    def _drain_stderr(self) -> None:
        try:
            while any(event[0] == self._err for event in self._poll.poll(0)) and self._read_err():
                pass
        except EngineFlooded:
            return

    def _status(self) -> os.waitid_result | None:
        """How the process ended, without reaping it; None while it runs."""
        return os.waitid(os.P_PID, self._popen.pid, os.WEXITED | os.WNOWAIT | os.WNOHANG)

    def _exited(self) -> EngineExited:
        """The fault for the end of the process."""
        status = self._status()
        if status is None:
            return EngineExited(exit_sentence("?"))
        described = exit_sentence if status.si_code == os.CLD_EXITED else signal_sentence
        how = described(status.si_status)
        if self._sandboxed is None:
            return EngineExited(how)
        ending = self._sandboxed.explain(how)
        crashed = ending.termination is Termination.CRASH
        return EngineExited(ending.sentence) if crashed else EngineOverLimit(ending)


class Ends:
    """The first and the last bytes of a stream, and its size."""

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
        if len(self._last) > 2 * self._kept:  # not on every call: the copy costs more than a line
            del self._last[: -self._kept]

    def joined(self) -> bytes:
        last = self._last[-self._kept :]
        left_out = self.size - len(self._first) - len(last)
        gap = b"\n[... %d bytes left out ...]\n" % left_out if left_out else b""
        return bytes(self._first + gap + last)


def drop_scratch(scratch: str, reaper: Reaper = REAPER) -> None:
    """Remove the scratch folder of an engine that has ended."""
    remove_scratch(scratch)
    reaper.forget(scratch)


def _spawn(launch: Launch) -> subprocess.Popen[bytes]:
    argv = launch.argv
    if launch.sandboxed is None:
        check_program(argv[0], launch.environment.get("PATH", os.defpath))
        argv = ("/bin/sh", "-c", PARENT, "duarena-engine", *argv)
    return subprocess.Popen(
        argv,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=launch.folder,
        env=dict(launch.environment),
        pass_fds=() if launch.sandboxed is None else launch.sandboxed.descriptors,
        bufsize=0,
        start_new_session=True,
    )


def _streams(process: subprocess.Popen[bytes]) -> tuple[IO[bytes], ...]:
    """The process's input, output and standard error."""
    return tuple(stream for stream in (process.stdin, process.stdout, process.stderr) if stream is not None)


def _read(descriptor: int) -> bytes:
    """The bytes of one read; empty at the end of the stream."""
    try:
        return os.read(descriptor, READ_BYTES)
    except ConnectionResetError:
        return b""
