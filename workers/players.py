"""UGI over an engine's process: what the referee asks of a player, said in lines.

The server trusts nothing here. A move is one write (``position`` and ``go``) and
one read up to ``bestmove``; its time runs from that write to the line's arrival.
Most moves go another way, by ``workers.exchange.plain``.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Sequence
from functools import lru_cache

from engines.protocol import (
    SEED_OPTION,
    VARIANT_OPTION,
    BestMove,
    EngineMessage,
    GameOver,
    IsReady,
    OptionDeclared,
    Quit,
    ReadyOk,
    ServerMessage,
    SetOption,
    Ugi,
    UgiNewGame,
    UgiOk,
    Winner,
    format_message,
    last_info,
    parse_engine_line,
)
from engines.records import Termination, note_from_info, note_of_time
from workers.exchange.clocks import NS_PER_MS
from workers.exchange.conversation import Conversation
from workers.exchange.plain import Asked, Line
from workers.launch import Launch
from workers.process import (
    EngineExited,
    EngineFault,
    EngineFlooded,
    EngineOverLimit,
    EngineProcess,
    EngineSilent,
)
from workers.referee import Choice, Forfeit, Turn, Void
from workers.seeds import fit_seed

READY_SECONDS = 10
"""For ``ugiok``, and for each ``readyok``."""
UNTIMED_SECONDS = 120
"""For a move under nodes or depth alone, where no flag can fall."""
GAMEOVER_SECONDS = 0.05
QUIT_SECONDS = 0.5
NS = 1_000_000_000

_PLAIN_ANSWER = re.compile(rb"bestmove ([!-~]+)")
"""What nearly every engine says; whatever else might be an answer is read word by word."""
_OF_A_MEETING = re.compile(rb"ugiok|readyok|bestmove|" + f"{VARIANT_OPTION}|{SEED_OPTION}".encode())
"""In every line that matters before a game: no other is worth parsing, and there may be many."""


class UgiPlayer:
    """One engine process, for as many games as it behaves in. Whoever makes one must ``close`` it.

    The process starts with the first ``prepare``. ``on_wait`` is called now and then while
    it thinks and may raise to break the game off.
    """

    def __init__(
        self,
        plan: Callable[[], Launch],
        *,
        variant: str,
        options: tuple[tuple[str, str], ...] = (),
        on_wait: Callable[[], None] = lambda: None,
    ) -> None:
        self.seed: int | None = None
        """For the next game; sent only to an engine that declares the option."""
        self._plan = plan
        self._variant = variant
        self._options = options
        self._on_wait = on_wait
        self._process: EngineProcess | None = None
        self._declared: dict[str, OptionDeclared] = {}
        self._news: list[ServerMessage] = []
        self._is_playing = False
        self._cpu_ns: int | None = None
        self._log = Conversation()

    # What the referee asks

    def prepare(self) -> None:
        self._log = Conversation()
        if self._process is not None and self._process.has_exited():
            self.close()
        try:
            if self._process is None:
                self._process = self._start()
                self._meet()
            else:
                self._process.on_wait = self._on_wait
                self._process.begin_game()
                self._process.wake()
            self._begin_game()
            self._is_playing = True
        except EngineSilent as fault:
            raise self._silenced() or Forfeit(Termination.STALL, str(fault)) from None
        except EngineFault as fault:
            raise _verdict(fault) from None

    def line(self) -> Line | None:
        return None if self._process is None else self._process.line(self._log)

    def choose(self, turn: Turn) -> Choice:
        process, asked = self._process, turn.asked
        assert process is not None, "prepare() comes first"
        allowance_ns = UNTIMED_SECONDS * NS if turn.allowance_ns is None else turn.allowance_ns
        try:
            if asked is None:
                if process.has_spoken():
                    self._refuse_answers_in_advance(process)
                process.wake()
                asked = Asked(turn.question, time.monotonic_ns())
            self._log.sent(asked.question, asked.asked_ns)
            return self._read_answer(process, asked, asked.asked_ns + allowance_ns)
        except EngineSilent as silence:
            waited_ms = allowance_ns // NS_PER_MS
            raise self._silenced() or Forfeit(
                Termination.TIME, f"no answer within {waited_ms} ms, margin included: {silence}"
            ) from None
        except EngineFault as fault:
            raise _verdict(fault) from None

    def finish(self, winner: Winner, reason: str) -> None:
        is_playing, self._is_playing = self._is_playing, False
        if not is_playing or self._process is None or self._process.has_exited():
            return
        self._process.on_wait = _go_on
        try:
            self._say([GameOver(winner, reason)], _seconds_from_now(GAMEOVER_SECONDS))
        except EngineFault:
            return  # it will be found out when it is asked for something

    # What its owner asks

    def take_stderr(self) -> str:
        """What the engine said on standard error in this game, its middle left out when it is long."""
        return "" if self._process is None else self._process.take_stderr().decode("utf-8", "replace")

    @property
    def conversation(self) -> Conversation:
        """The lines exchanged in this game; the next has another, and so has an engine that has ended."""
        return self._log

    def close(self) -> None:
        """End the engine: politely for half a second, then for good. May be repeated."""
        process, self._process = self._process, None
        self._log = Conversation()  # one that nobody reads any more may be large
        if process is None:
            return
        process.on_wait = _go_on
        process.wake()
        try:
            if not process.has_exited():
                deadline_ns = _seconds_from_now(QUIT_SECONDS)
                process.write(_encoded(Quit()), deadline_ns)
                process.wait(deadline_ns)
        except EngineFault:
            pass
        finally:
            process.kill()

    def kill(self) -> None:
        """End the engine at once: it has lost its claim to politeness. May be repeated."""
        process, self._process = self._process, None
        self._log = Conversation()
        if process is not None:
            process.kill()

    # Starting

    def _start(self) -> EngineProcess:
        """Raises ``EngineExited`` for a program that is none, ``Void`` when this machine cannot."""
        launch: Launch | None = None
        try:
            launch = self._plan()
            return EngineProcess(launch, on_wait=self._on_wait)
        except OSError as error:
            if launch is not None and launch.cell is None and error.filename == launch.argv[0]:
                raise EngineExited(f"the program cannot be started: {error.strerror}") from None
            raise Void(f"no process can be started: {error.strerror or error}") from error

    def _meet(self) -> None:
        self._declared = {}
        self._ask([Ugi()], UgiOk, "ugiok")
        self._news = [SetOption(name, value) for name, value in self._options]
        if VARIANT_OPTION in self._declared:
            self._news.insert(0, SetOption(VARIANT_OPTION, self._variant))

    def _begin_game(self) -> None:
        news, self._news = self._news, []
        seed_option = self._declared.get(SEED_OPTION)
        if seed_option is not None and self.seed is not None:
            news.append(SetOption(SEED_OPTION, str(fit_seed(self.seed, seed_option))))
        self._ask([*news, UgiNewGame(), IsReady()], ReadyOk, "readyok")
        self._running.end_move()
        self._rest(self._running)

    def _rest(self, process: EngineProcess) -> int | None:
        """Have the engine wait for its turn; returns the processor time it used since it waited last."""
        process.rest()
        before, self._cpu_ns = self._cpu_ns, process.cpu_ns()
        return None if before is None or self._cpu_ns is None else max(0, self._cpu_ns - before)

    def _silenced(self) -> Forfeit | Void | None:
        """What kept an engine from answering, should a limit of its walls have done so."""
        over = None if self._process is None else self._process.limit_reached()
        return None if over is None else _verdict(over)

    @property
    def _running(self) -> EngineProcess:
        assert self._process is not None, "prepare() comes first"
        return self._process

    def _say(self, messages: Sequence[ServerMessage], deadline_ns: int) -> None:
        data = b"".join(map(_encoded, messages))
        self._log.sent(data, time.monotonic_ns())
        self._running.write(data, deadline_ns)

    def _ask(self, messages: Sequence[ServerMessage], kind: type[EngineMessage], word: str) -> None:
        """Say something and read up to the answer of this kind, all within ``READY_SECONDS``.

        Raises ``EngineSilent`` naming what did not come.
        """
        deadline_ns = _seconds_from_now(READY_SECONDS)
        try:
            self._say(messages, deadline_ns)
            while not self._has_heard(kind, word, deadline_ns):
                pass
        except EngineSilent:
            raise EngineSilent(f"no {word} within {READY_SECONDS} seconds") from None

    def _has_heard(self, kind: type[EngineMessage], word: str, deadline_ns: int) -> bool:
        """Whether the answer is among the lines that come next; those after it are left."""
        lines = self._running.read_lines(deadline_ns)
        arrived_ns = self._running.arrived_ns
        for place, line in enumerate(lines):
            message = _parsed(line) if _OF_A_MEETING.search(line) else None
            if isinstance(message, BestMove):
                self._log.received(b"\n".join(lines), arrived_ns)
                raise Forfeit(Termination.UNSOLICITED, f"a bestmove came instead of {word}")
            if isinstance(message, OptionDeclared) and message.name in (VARIANT_OPTION, SEED_OPTION):
                self._declared[message.name] = message
            if isinstance(message, kind):
                self._log.received(b"\n".join(lines[: place + 1]), arrived_ns)
                self._running.put_back(lines[place + 1 :])
                return True
        self._log.received(b"\n".join(lines), arrived_ns)
        return False

    # Moving

    def _refuse_answers_in_advance(self, process: EngineProcess) -> None:
        lines = process.drain()
        if lines:
            self._log.received(b"\n".join(lines), process.arrived_ns)
        if _first_move([*lines, process.unfinished]) is not None:
            raise Forfeit(Termination.UNSOLICITED, "a bestmove was waiting before the engine was asked")

    def _read_answer(self, process: EngineProcess, asked: Asked, deadline_ns: int) -> Choice:
        """Ask and read up to the move; let an engine rest that can."""
        said: list[bytes] = []
        lines = process.ask(asked, deadline_ns)
        while (found := _first_move(lines)) is None:
            self._log.received(b"\n".join(lines), process.arrived_ns)
            said += lines
            lines = process.read_lines(deadline_ns)
        place, move = found
        self._log.received(b"\n".join(lines[: place + 1]), process.arrived_ns)
        process.put_back(lines[place + 1 :])
        process.end_move()
        said += lines[:place]
        used_ns = process.arrived_ns - asked.asked_ns
        cpu_ns = self._rest(process) if process.is_walled else None
        cpu_ms = None if cpu_ns is None else round(cpu_ns / NS_PER_MS)
        ms = round(used_ns / NS_PER_MS)
        note = note_from_info(last_info(said), ms, cpu_ms) if said else note_of_time(ms, cpu_ms)
        return Choice(move, used_ns, note)


def _first_move(lines: Sequence[bytes]) -> tuple[int, str] | None:
    """The first best move in ``lines``, and the place of its line."""
    for place, line in enumerate(lines):
        if b"bestmove" in line and (move := _move_in(line)) is not None:
            return place, move
    return None


def _move_in(line: bytes) -> str | None:
    """The move of a best move, which may be empty, or None: the line is none."""
    if plain := _PLAIN_ANSWER.fullmatch(line):
        return plain[1].decode()
    message = _parsed(line) if b"bestmove" in line else None
    return message.move if isinstance(message, BestMove) else None


def _parsed(line: bytes) -> EngineMessage | None:
    return parse_engine_line(line.decode("utf-8", "replace"))


def _go_on() -> None:
    """For waits that nothing breaks off: they are short."""


def _seconds_from_now(seconds: float) -> int:
    return time.monotonic_ns() + int(seconds * NS)


@lru_cache(maxsize=256)
def _encoded(message: ServerMessage) -> bytes:
    return format_message(message).encode() + b"\n"


def _verdict(fault: EngineFault) -> Forfeit | Void:
    """Whose fault it was that an engine ended; that walls fail is ours."""
    if isinstance(fault, EngineOverLimit):
        if fault.termination is Termination.VOID:
            return Void(str(fault))
        return Forfeit(fault.termination, str(fault))
    termination = Termination.FLOOD if isinstance(fault, EngineFlooded) else Termination.CRASH
    return Forfeit(termination, str(fault))
