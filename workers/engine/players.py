"""A player that is an engine process speaking UGI.

The engine is not trusted. A move is one write (``position`` and ``go``) and reads up to ``bestmove``;
its time runs from the write to the arrival of the line. Most moves take the fast path instead
(``workers.game.fastpath.moves``).

An engine that stays silent, crashes, writes too much or answers before it was asked makes a method raise
``Forfeit``; the referee turns that into a lost game.
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
from engines.records.seeds import fit_seed
from workers.engine.child import drop_scratch
from workers.engine.declared import Unsuited, find_unsuited
from workers.engine.faults import EngineExited, EngineFault, EnginePipeClosed, EngineSilent
from workers.engine.launch import Launch
from workers.engine.process import EngineProcess
from workers.engine.processor_time import NS
from workers.game.charges import Charge
from workers.game.fastpath.clock import NS_PER_MS
from workers.game.fastpath.conversation import Conversation
from workers.game.fastpath.moves import EngineChannel, Pending
from workers.game.referee import EngineMove, Forfeit, MoveRequest, Void
from workers.jobs import UNTIMED_SECONDS

READY_SECONDS = 10
"""The usual time limit for ``ugiok`` and for each ``readyok``."""
NOT_UTF_8 = "its output has zero bytes, like UTF-16, and must be UTF-8"
GAMEOVER_SECONDS = 0.05
QUIT_SECONDS = 0.5

_PLAIN_ANSWER = re.compile(rb"bestmove ([!-~]+)")
"""The usual answer; any other line that may be an answer is parsed in full."""
_HANDSHAKE = re.compile(rb"ugiok|readyok|bestmove|" + f"{VARIANT_OPTION}|{SEED_OPTION}".encode())
"""Occurs in every line that matters before a game; others, perhaps many, are not parsed."""


class UgiPlayer:
    """A player over one engine process, for any number of games. The caller must ``close`` it.

    The process starts with the first ``prepare``. ``on_wait`` is called repeatedly while
    the engine thinks and may raise to abort the game; another one counts from the next ``prepare`` on.
    ``ready_seconds`` None is ``READY_SECONDS``.
    ``on_introduced`` is called after each ``ugiok`` with each of ``options`` that the engine does not
    declare, or not with this value; ``UGI_Variant`` is among them if it is declared without this game.
    """

    def __init__(
        self,
        plan: Callable[[], Launch],
        *,
        variant: str,
        options: tuple[tuple[str, str], ...] = (),
        ready_seconds: int | None = None,
        on_introduced: Callable[[Sequence[Unsuited]], None] = lambda unsuited: None,
    ) -> None:
        self.seed: int | None = None
        """The seed of the next game; sent only to an engine that declares the option."""
        self._plan = plan
        self._variant = variant
        self._options = options
        self.on_wait: Callable[[], None] = lambda: None
        self._ready_seconds = ready_seconds
        self._on_introduced = on_introduced
        self._kept_options = {
            VARIANT_OPTION.lower(),
            SEED_OPTION.lower(),
            *(name.lower() for name, _ in options),
        }
        self._process: EngineProcess | None = None
        self._declared: dict[str, OptionDeclared] = {}
        self._pending_options: list[ServerMessage] = []
        self._is_playing = False
        self.asked_ns: int | None = None
        """When the question that it has not answered yet was written; None on the fast path."""
        self.conversation = Conversation()
        """The lines exchanged in this game. A new object replaces it for the next game and after an end."""
        self.scratch: str | None = None
        """The scratch folder of an engine that was closed for a restart; ``plan`` may use it again."""

    # Methods for the referee

    def prepare(self) -> None:
        self.conversation = Conversation()
        if self._process is not None and self._process.child.has_exited():
            self.close()
        try:
            if self._process is None:
                self._process = self._start()
                self._handshake()
            else:
                self._process.on_wait = self.on_wait
                self._process.begin_game()
            self._begin_game()
            self._is_playing = True
        except EngineSilent as fault:
            raise self._limit_verdict() or _verdict(fault) from None
        except EngineFault as fault:
            raise _verdict(fault) from None

    def fast_channel(self) -> EngineChannel | None:
        return None if self._process is None else self._process.fast_channel(self.conversation)

    def choose(self, turn: MoveRequest) -> EngineMove:
        process, asked = self._process, turn.asked
        assert process is not None, "prepare() comes first"
        allowance_ns = UNTIMED_SECONDS * NS if turn.allowance_ns is None else turn.allowance_ns
        try:
            if asked is None:
                if process.has_spoken():
                    self._refuse_early_answers(process)
                process.turns.begin_question()
                asked = Pending(turn.question, time.monotonic_ns(), turn.question)
            self.asked_ns = asked.asked_ns
            self.conversation.sent(asked.question, asked.asked_ns)
            return self._read_answer(process, asked, allowance_ns)
        except EngineSilent as silence:
            self._keep_unfinished(process)
            charge = process.turns.charge(time.monotonic_ns(), is_answered=False)
            raise self._limit_verdict() or _silence_verdict(silence, allowance_ns, charge) from None
        except EngineFault as fault:
            raise _verdict(fault) from None
        finally:
            self.asked_ns = None

    def finish(self, winner: Winner, reason: str) -> None:
        is_playing, self._is_playing = self._is_playing, False
        if not is_playing or self._process is None or self._process.child.has_exited():
            return
        self._process.on_wait = _go_on
        try:
            self._send([GameOver(winner, reason)], _seconds_from_now(GAMEOVER_SECONDS))
        except EngineFault:
            return  # the next request to the engine reports the fault
        self._process.turns.end(suspend=True)  # until the next game

    # Methods for the owner

    def take_stderr(self) -> str:
        """The engine's standard error of this game; the middle of a long one is left out."""
        return "" if self._process is None else self._process.take_stderr().decode("utf-8", "replace")

    def close(self, *, restarts: bool = False) -> None:
        """End the engine: send ``quit``, wait for half a second, then kill it. May be repeated.

        With ``restarts`` its scratch folder may be kept, for the next start or until it is closed again.
        """
        process, self._process = self._process, None
        self.conversation = Conversation()  # frees the old one, which may be large
        if process is None:
            self._drop_scratch(keep=restarts)
            return
        process.on_wait = _go_on
        process.turns.begin()
        try:
            if not process.child.has_exited():
                deadline_ns = _seconds_from_now(QUIT_SECONDS)
                process.write(_encoded(Quit()), deadline_ns)
                process.wait(deadline_ns)
        except EngineFault:
            pass
        finally:
            self.scratch = process.kill(keep_scratch=restarts)

    def kill(self) -> None:
        """Kill the engine at once, without ``quit``. May be repeated."""
        process, self._process = self._process, None
        self.conversation = Conversation()
        if process is not None:
            process.kill()
        self._drop_scratch()

    def _drop_scratch(self, *, keep: bool = False) -> None:
        if self.scratch is not None and not keep:
            drop_scratch(self.scratch)
            self.scratch = None

    # Starting

    def _start(self) -> EngineProcess:
        """Start the process; raises ``EngineExited`` for an unusable program, ``Void`` for other errors."""
        launch: Launch | None = None
        try:
            launch = self._plan()
            if self.scratch == launch.scratch:
                self.scratch = None  # from now on the process removes it
            return EngineProcess(launch, on_wait=self.on_wait)
        except OSError as error:
            if launch is not None and launch.sandboxed is None and error.filename == launch.argv[0]:
                raise EngineExited(f"the program cannot be started: {error.strerror}") from None
            raise Void(f"no process can be started: {error.strerror or error}") from error

    def _handshake(self) -> None:
        self._declared = {}
        self._request([Ugi()], UgiOk, "ugiok")
        by_name = {name.lower(): option for name, option in self._declared.items()}
        ladder = [(VARIANT_OPTION, self._variant)] if VARIANT_OPTION in self._declared else []
        self._on_introduced(tuple(find_unsuited(by_name, [*ladder, *self._options])))
        self._pending_options = [SetOption(name, value) for name, value in self._options]
        if VARIANT_OPTION in self._declared:
            self._pending_options.insert(0, SetOption(VARIANT_OPTION, self._variant))

    def _begin_game(self) -> None:
        messages, self._pending_options = self._pending_options, []
        seed_option = self._declared.get(SEED_OPTION)
        if seed_option is not None and self.seed is not None:
            messages.append(SetOption(SEED_OPTION, str(fit_seed(self.seed, seed_option))))
        self._request([*messages, UgiNewGame(), IsReady()], ReadyOk, "readyok")
        self._running.output.end_move()
        self._running.turns.end(suspend=True)  # the opponent may need long to get ready

    def _limit_verdict(self) -> Forfeit | Void | None:
        """The sandbox limit that kept the engine from answering, as a verdict; None if there is none."""
        over = None if self._process is None else self._process.child.limit_reached()
        return None if over is None else _verdict(over)

    @property
    def _running(self) -> EngineProcess:
        assert self._process is not None, "prepare() comes first"
        return self._process

    def _send(self, messages: Sequence[ServerMessage], deadline_ns: int) -> None:
        data = b"".join(map(_encoded, messages))
        self.conversation.sent(data, time.monotonic_ns())
        self._running.write(data, deadline_ns)

    def _request(self, messages: Sequence[ServerMessage], kind: type[EngineMessage], word: str) -> None:
        """Send messages and read up to the answer of type ``kind``, within the time to get ready.

        Raises ``EngineSilent``, which names the missing answer.
        """
        seconds = READY_SECONDS if self._ready_seconds is None else self._ready_seconds
        deadline_ns = _seconds_from_now(seconds)
        try:
            self._send(messages, deadline_ns)
            while not self._has_received(kind, word, deadline_ns):
                pass
        except EnginePipeClosed as closed:
            raise EngineSilent(f"no {word}: {closed}") from None
        except EngineSilent:
            output = self._running.output
            self._keep_unfinished(self._running)
            found = NOT_UTF_8 if "\0" in self.conversation.text() else output.describe_unfinished()
            raise EngineSilent(f"no {word} within {seconds} seconds{found and f': {found}'}") from None

    def _keep_unfinished(self, process: EngineProcess) -> None:
        """Add the beginning of a line that never ended to the log."""
        if process.output.unfinished:
            self.conversation.received(process.output.unfinished, process.output.arrived_ns)

    def _has_received(self, kind: type[EngineMessage], word: str, deadline_ns: int) -> bool:
        """Whether the answer is among the next lines; lines after it are put back."""
        lines = self._running.read_lines(deadline_ns)
        arrived_ns = self._running.output.arrived_ns
        for index, line in enumerate(lines):
            message = _parsed(line) if self._matters(line) else None
            if isinstance(message, BestMove):
                self.conversation.received(b"\n".join(lines), arrived_ns)
                raise Forfeit(Termination.UNSOLICITED, f"a bestmove came instead of {word}")
            if isinstance(message, OptionDeclared) and message.name.lower() in self._kept_options:
                self._declared[message.name] = message
            if isinstance(message, kind):
                self.conversation.received(b"\n".join(lines[: index + 1]), arrived_ns)
                self._running.output.put_back(lines[index + 1 :])
                return True
        self.conversation.received(b"\n".join(lines), arrived_ns)
        return False

    def _matters(self, line: bytes) -> bool:
        """Whether a line before a game may matter; options are parsed only if there are any to set."""
        return _HANDSHAKE.search(line) is not None or (bool(self._options) and b"option" in line)

    # Moving

    def _refuse_early_answers(self, process: EngineProcess) -> None:
        lines = process.output.take()
        if lines:
            self.conversation.received(b"\n".join(lines), process.output.arrived_ns)
        if _first_move([*lines, process.output.unfinished]) is not None:
            raise Forfeit(Termination.UNSOLICITED, "a bestmove was waiting before the engine was asked")

    def _read_answer(self, process: EngineProcess, asked: Pending, allowance_ns: int) -> EngineMove:
        """Send the question and read up to the move, which ends the engine's turn."""
        earlier: list[bytes] = []
        answer = process.ask(asked, asked.asked_ns + allowance_ns)
        while (found := _first_move(lines := next(answer))) is None:
            self.conversation.received(b"\n".join(lines), process.output.arrived_ns)
            earlier += lines
        index, move = found
        self.conversation.received(b"\n".join(lines[: index + 1]), process.output.arrived_ns)
        process.output.put_back(lines[index + 1 :])
        process.output.end_move()
        earlier += lines[:index]
        charge = process.turns.charge(max(process.output.arrived_ns, asked.asked_ns))
        used_ns = process.output.arrived_ns - asked.asked_ns if charge is None else charge.used_ns
        if charge is not None and charge.is_void(allowance_ns):
            raise Void(_void_sentence(charge))
        cpu_ns = process.turns.end()
        cpu_ms = None if cpu_ns is None else round(cpu_ns / NS_PER_MS)
        ms = round(used_ns / NS_PER_MS)
        note = note_from_info(last_info(earlier), ms, cpu_ms) if earlier else note_of_time(ms, cpu_ms)
        return EngineMove(move, used_ns, note, charge)


def _silence_verdict(silence: EngineSilent, allowance_ns: int, charge: Charge | None) -> Forfeit | Void:
    """Whose fault it is that no answer came in time."""
    if charge is not None and charge.is_void(allowance_ns):
        return Void(_void_sentence(charge))
    limit = f"no answer within {allowance_ns // NS_PER_MS} ms, margin included"
    evidence = f"{'no answer' if isinstance(silence, EnginePipeClosed) else limit}: {silence}"
    return Forfeit(Termination.TIME, evidence if charge is None else f"{evidence} ({charge.sentence})")


def _void_sentence(charge: Charge) -> str:
    return f"other programs used the core for too long: {charge.sentence}"


def _first_move(lines: Sequence[bytes]) -> tuple[int, str] | None:
    """The index of the first ``bestmove`` line and its move; None if there is none."""
    for index, line in enumerate(lines):
        if b"bestmove" in line and (move := _move_in(line)) is not None:
            return index, move
    return None


def _move_in(line: bytes) -> str | None:
    """The move of a ``bestmove`` line, which may be empty; None for any other line."""
    if plain := _PLAIN_ANSWER.fullmatch(line):
        return plain[1].decode()
    message = _parsed(line) if b"bestmove" in line else None
    return message.move if isinstance(message, BestMove) else None


def _parsed(line: bytes) -> EngineMessage | None:
    return parse_engine_line(line.decode("utf-8", "replace"))


def _go_on() -> None:
    """The ``on_wait`` of waits that are not aborted, because they are short."""


def _seconds_from_now(seconds: float) -> int:
    return time.monotonic_ns() + int(seconds * NS)


@lru_cache(maxsize=256)
def _encoded(message: ServerMessage) -> bytes:
    return format_message(message).encode() + b"\n"


def _verdict(fault: EngineFault) -> Forfeit | Void:
    """Whose fault the end of an engine is: a failed sandbox is the server's fault."""
    is_void = fault.termination is Termination.VOID
    return Void(str(fault)) if is_void else Forfeit(fault.termination, str(fault))
