"""The engine being checked: one process, read and written line by line, every wait bounded."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from dataclasses import dataclass

from engines.protocol import (
    RESIGN,
    SEED_OPTION,
    VARIANT_OPTION,
    BestMove,
    EngineMessage,
    Go,
    IdName,
    OptionDeclared,
    ReadyOk,
    SetOption,
    SetPosition,
    UgiOk,
    format_message,
    parse_engine_line,
)
from engines.rules.base import IllegalMove
from engines.rules.registry import Variant
from workers.check.situations import Situation
from workers.engine.launch import Launch
from workers.engine.players import NS, READY_SECONDS
from workers.engine.process import EngineExited, EngineFault, EngineFlooded, EngineProcess, EngineSilent
from workers.game.fastpath.clock import NS_PER_MS
from workers.game.fastpath.conversation import Conversation
from workers.game.referee import explain_illegal
from workers.game.seeds import fit_seed

_ANSWER = re.compile("ugiok|readyok|bestmove")
"""In every line that is one: no other is worth parsing, and there may be many."""


class CannotCheck(Exception):
    """The engine cannot be started, or not asked for any ladder; one sentence."""


class Misconduct(Exception):
    """The engine did something wrong; one sentence that says what."""


class CheckTimedOut(Exception):
    """The check's own time is used up, which says nothing about the engine."""


class Budget:
    """The seconds a whole check may take, counted from now."""

    def __init__(self, seconds: float) -> None:
        self._end_ns = time.monotonic_ns() + int(seconds * NS)

    def deadline_ns(self, seconds: float) -> int:
        """So many seconds from now, or the end; raises ``CheckTimedOut`` when that has come."""
        now_ns = time.monotonic_ns()
        if now_ns >= self._end_ns:
            raise CheckTimedOut
        return min(now_ns + int(seconds * NS), self._end_ns)


@dataclass(frozen=True, slots=True)
class Answer:
    """A legal move (or ``resign``), how long it took, and the lines said on the way, its own the last."""

    move: str
    used_ms: int
    lines: tuple[str, ...]


class Subject:
    """One process of the engine. Whoever makes one must ``kill`` it.

    Everything that waits raises ``Misconduct`` for whatever the engine does but what it should, and
    ``CheckTimedOut``. Raises ``CannotCheck`` from the constructor.
    """

    def __init__(self, launch: Launch, budget: Budget, on_wait: Callable[[], None] = lambda: None) -> None:
        self.log = Conversation()
        self.introduction: list[str] = []
        self.name = ""
        self.declared: dict[str, OptionDeclared] = {}
        self._budget = budget
        try:
            self._process = EngineProcess(launch, on_wait=on_wait)
        except OSError as error:
            raise CannotCheck(f"cannot start {launch.argv[-1]!r}: {error.strerror}") from None

    # Talking

    def send(self, *lines: str, end: str = "\n") -> None:
        """Say these lines in one write."""
        data = "".join(line + end for line in lines).encode()
        self.log.sent(data.replace(b"\r", b"\\r"), time.monotonic_ns())
        try:
            self._process.write(data, self._budget.deadline_ns(READY_SECONDS))
        except EngineFault as fault:
            raise Misconduct(_sentence(fault)) from None

    def hear(self, kind: type[EngineMessage], seconds: float) -> list[str] | None:
        """The lines up to the first answer of this kind, its own the last; None if none comes in time."""
        deadline_ns = self._budget.deadline_ns(seconds)
        heard: list[str] = []
        while (line := self._line_before(deadline_ns)) is not None:
            heard.append(line)
            message = parse_engine_line(line) if _ANSWER.search(line) else None
            if isinstance(message, kind):
                self._process.end_move()
                return heard
            if isinstance(message, BestMove):
                raise Misconduct("a bestmove came that nothing had asked for")
        return None

    def expect(self, kind: type[EngineMessage], seconds: float, wanted: str) -> list[str]:
        """As ``hear``, where not to come is misconduct; ``wanted`` names the message to readers."""
        heard = self.hear(kind, seconds)
        if heard is None:
            raise Misconduct(f"no {wanted} within {seconds:g} seconds")
        return heard

    def listen(self, seconds: float) -> list[str]:
        """Whatever it says in that time, unasked."""
        deadline_ns = self._budget.deadline_ns(seconds)
        heard = []
        while (line := self._line_before(deadline_ns)) is not None:
            heard.append(line)
        return heard

    def _line_before(self, deadline_ns: int) -> str | None:
        """The next line, None when there is none by then."""
        try:
            line = self._process.read_line(deadline_ns)
        except EngineSilent:
            self._budget.deadline_ns(0)
            return None
        except EngineFault as fault:
            raise Misconduct(_sentence(fault)) from None
        self.log.received(line, self._process.arrived_ns)
        return line.decode("utf-8", "replace")

    # In the protocol's words

    def introduce(self) -> None:
        """Say ``ugi``, and keep what comes up to ``ugiok`` as its ``introduction``."""
        self.send("ugi")
        self.introduction = self.expect(UgiOk, READY_SECONDS, "ugiok")
        for message in map(parse_engine_line, self.introduction):
            if isinstance(message, OptionDeclared):
                self.declared.setdefault(message.name, message)
            elif isinstance(message, IdName):
                self.name = message.name

    def settle(self) -> None:
        """Have everything said so far done with; a move that nothing asked for is misconduct."""
        self.send("isready")
        self.expect(ReadyOk, READY_SECONDS, "readyok")

    def begin_game(self, game: Variant, seed: int = 0) -> None:
        """A new game on this ladder; the seed is sent if it is declared."""
        options = [SetOption(VARIANT_OPTION, game.code)] if VARIANT_OPTION in self.declared else []
        if (seeding := self.declared.get(SEED_OPTION)) is not None:
            options.append(SetOption(SEED_OPTION, str(fit_seed(seed, seeding))))
        self.send(*map(format_message, options), "uginewgame")
        self.settle()

    def ask(self, situation: Situation, go: Go, *, end: str = "\n") -> None:
        """Put a search to it, in one write as a server does."""
        position = SetPosition(situation.fen, situation.moves)
        self.send(format_message(position), format_message(go), end=end)

    def search(self, situation: Situation, go: Go, seconds: float, *, end: str = "\n") -> Answer:
        """Its legal answer, for which ``seconds`` are waited; whether that was in time is not judged here."""
        asked_ns = time.monotonic_ns()
        self.ask(situation, go, end=end)
        answer = self.take_answer(situation, asked_ns, seconds)
        if answer is None:
            raise Misconduct(f"no bestmove to '{format_message(go)}' within {seconds:g} seconds")
        return answer

    def take_answer(self, situation: Situation, asked_ns: int, seconds: float) -> Answer | None:
        """The answer to what was asked already; None if it does not come in that time from now."""
        lines = self.hear(BestMove, seconds)
        if lines is None:
            return None
        message = parse_engine_line(lines[-1])
        assert isinstance(message, BestMove)
        if message.move != RESIGN:
            try:
                situation.position.play(message.move)
            except IllegalMove as error:
                raise Misconduct(explain_illegal(message.move, error)) from None
        used_ms = (self._process.arrived_ns - asked_ns) // NS_PER_MS
        return Answer(message.move, used_ms, tuple(lines))

    # As a process

    @property
    def session(self) -> int:
        return self._process.session

    @property
    def stderr_size(self) -> int:
        """Bytes said on standard error since ``begin_log``."""
        return self._process.stderr_size

    def begin_log(self) -> None:
        """Keep lines and standard error anew."""
        self.log = Conversation()
        self._process.begin_game()

    def take_stderr(self) -> str:
        return self._process.take_stderr().decode("utf-8", "replace")

    def has_exited(self) -> bool:
        return self._process.has_exited()

    def close_input(self) -> None:
        self._process.close_input()

    def exits_within(self, seconds: float) -> bool:
        """Whether the process ends by itself in that time; what it says meanwhile is dropped."""
        deadline_ns = self._budget.deadline_ns(seconds)
        try:
            while True:
                self._process.read_line(deadline_ns)
                self._process.end_move()
        except EngineFlooded as fault:
            raise Misconduct(_sentence(fault)) from None
        except EngineFault:
            return self._process.has_exited()

    def kill(self) -> None:
        self._process.kill()


def _sentence(fault: EngineFault) -> str:
    if isinstance(fault, EngineExited):
        return f"it crashed: {fault}"
    return f"it floods: {fault}" if isinstance(fault, EngineFlooded) else str(fault)
