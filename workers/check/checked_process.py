"""One process of the engine that is checked: it exchanges lines, with a time limit for every wait."""

from __future__ import annotations

import enum
import re
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

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
from engines.records.seeds import fit_seed
from engines.rules.base import IllegalMove
from engines.rules.registry import Variant
from workers.check.account import EngineAccount
from workers.check.situations import Situation
from workers.engine.fair_clock import FairClock
from workers.engine.faults import (
    EngineExited,
    EngineFault,
    EngineFlooded,
    EngineSilent,
)
from workers.engine.launch import Launch
from workers.engine.players import NOT_UTF_8, READY_SECONDS
from workers.engine.process import EngineProcess
from workers.engine.processor_time import NS
from workers.game.charges import Charge
from workers.game.fastpath.conversation import Conversation
from workers.game.referee import explain_illegal
from workers.sandbox.withheld import own_delay_ns

_ANSWER = re.compile("ugiok|readyok|bestmove")
"""Every answer contains one of these words; other lines are not parsed, because there may be many."""


class CannotCheck(Exception):
    """The engine cannot be started, or has no ladder to check; the text is one sentence."""


class FaultKind(enum.StrEnum):
    """What an engine did wrong, as far as that explains more than the check in which it happened."""

    OTHER = ""
    CRASH = "crash"
    FLOOD = "flood"
    ILLEGAL_MOVE = "illegal move"
    UNSOLICITED = "unsolicited answer"
    GROWTH = "growth"
    """Memory, threads, processes or files that grow; ``MEMORY`` if that loses a game."""
    MEMORY = "memory"
    HARMLESS = "harmless"
    """A breach of the protocol that a server does not mind."""


class CheckFailed(Exception):
    """The engine failed a check; the text is one sentence."""

    def __init__(self, sentence: str, kind: FaultKind = FaultKind.OTHER) -> None:
        super().__init__(sentence)
        self.kind = kind


class CheckTimedOut(Exception):
    """The time limit of the whole check has passed; this is not the engine's fault."""


class Budget:
    """The time limit of a whole check, in seconds from now."""

    def __init__(self, seconds: float) -> None:
        self._end_ns = time.monotonic_ns() + int(seconds * NS)

    @property
    def seconds_left(self) -> float:
        return max(0, self._end_ns - time.monotonic_ns()) / NS

    def deadline_ns(self, seconds: float) -> int:
        """The time ``seconds`` from now, but at most the end; raises ``CheckTimedOut`` after the end."""
        now_ns = time.monotonic_ns()
        if now_ns >= self._end_ns:
            raise CheckTimedOut
        return min(now_ns + int(seconds * NS), self._end_ns)


@dataclass(frozen=True, slots=True)
class Answer:
    """A legal move (or ``resign``), and all lines of the search; ``bestmove`` is the last line.

    ``charge`` has the times from the question to the answer.
    """

    move: str
    charge: Charge
    lines: tuple[str, ...]


class CheckedProcess:
    """One process of the engine; the caller must kill ``engine``.

    Every method that waits raises ``CheckFailed`` if the engine does not do what it should, and
    ``CheckTimedOut``. The constructor raises ``CannotCheck``.
    """

    def __init__(self, launch: Launch, budget: Budget, on_wait: Callable[[], None] = lambda: None) -> None:
        self.log = Conversation()
        self.introduction: list[str] = []
        self.name = ""
        self.declared: dict[str, OptionDeclared] = {}
        self._budget = budget
        try:
            self.engine = EngineProcess(launch, on_wait=on_wait)
        except OSError as error:
            raise CannotCheck(f"cannot start {launch.argv[-1]!r}: {error.strerror}") from None
        self.account = EngineAccount(self.engine.child.pid)
        self.clock: FairClock | None = None
        """Leaves out of all times what the machine withholds; None where the kernel does not count that."""
        self._asked_ns = self._asked_cpu_ns = 0
        if (counter := self.account.withheld_counter()) is not None:
            self.clock = FairClock(counter, lambda: self.account.cpu_ns() - self._asked_cpu_ns, own_delay_ns)
            self.engine.turns.clock = self.clock
        self._begin_turn()

    # Lines

    def send(self, *lines: str, end: str = "\n", exactly: bool = False) -> None:
        """Send these lines in one write; ``exactly`` times the answer at a small cost."""
        self._begin_turn(exactly)
        data = "".join(line + end for line in lines).encode()
        self.log.sent(data.replace(b"\r", b"\\r"), time.monotonic_ns())
        try:
            self.engine.write(data, self._budget.deadline_ns(READY_SECONDS))
        except EngineFault as fault:
            raise _failure(fault) from None

    def read_until(self, kind: type[EngineMessage], seconds: float) -> list[str] | None:
        """The lines up to the first message of this kind, included; None if none arrives in time."""
        deadline_ns = self._budget.deadline_ns(seconds)
        lines: list[str] = []
        while (line := self._line_before(deadline_ns)) is not None:
            lines.append(line)
            message = parse_engine_line(line) if _ANSWER.search(line) else None
            if isinstance(message, kind):
                self.engine.output.end_move()
                return lines
            if isinstance(message, BestMove):
                raise CheckFailed("it sent a bestmove without a go", FaultKind.UNSOLICITED)
        return None

    def expect(self, kind: type[EngineMessage], seconds: float, wanted: str) -> list[str]:
        """As ``read_until``, but a missing message fails the check; ``wanted`` is its name for the fault."""
        lines = self.read_until(kind, seconds)
        if lines is None:
            encoding = f": {NOT_UTF_8}" if "\0" in self.log.text() else ""
            raise CheckFailed(f"no {wanted} within {seconds:g} seconds{encoding}")
        return lines

    def read_for(self, seconds: float) -> list[str]:
        """All lines that arrive within ``seconds``."""
        deadline_ns = self._budget.deadline_ns(seconds)
        return list(iter(partial(self._line_before, deadline_ns), None))

    def _line_before(self, deadline_ns: int) -> str | None:
        """The next line; None if none arrives before the deadline."""
        try:
            line = self.engine.read_line(deadline_ns)
        except EngineFault as fault:
            if type(fault) is not EngineSilent:
                raise _failure(fault) from None
            self._budget.deadline_ns(0)
            return None
        self.log.received(line, self.engine.output.arrived_ns)
        return line.decode("utf-8", "replace")

    # Messages

    def introduce(self) -> None:
        """Send ``ugi`` and keep the lines up to ``ugiok`` as ``introduction``."""
        self.send("ugi")
        self.introduction = self.expect(UgiOk, READY_SECONDS, "ugiok")
        for message in map(parse_engine_line, self.introduction):
            if isinstance(message, OptionDeclared):
                self.declared.setdefault(message.name, message)
            elif isinstance(message, IdName):
                self.name = message.name

    def synchronize(self) -> None:
        """Wait until the engine has processed all input; an unexpected ``bestmove`` fails the check."""
        self.send("isready")
        self.expect(ReadyOk, READY_SECONDS, "readyok")

    def begin_game(self, game: Variant, seed: int = 0) -> None:
        """Start a new game on this ladder; the seed is sent if the engine declares ``UGI_Seed``."""
        options = [SetOption(VARIANT_OPTION, game.code)] if VARIANT_OPTION in self.declared else []
        if (seeding := self.declared.get(SEED_OPTION)) is not None:
            options.append(SetOption(SEED_OPTION, str(fit_seed(seed, seeding))))
        self.send(*map(format_message, options), "uginewgame")
        self.synchronize()

    def start_search(self, situation: Situation, go: Go, *, end: str = "\n", exactly: bool = False) -> None:
        """Start a search, in one write as a server does."""
        position = SetPosition(situation.fen, situation.moves)
        self.send(format_message(position), format_message(go), end=end, exactly=exactly)

    def search(
        self, situation: Situation, go: Go, seconds: float, *, end: str = "\n", exactly: bool = False
    ) -> Answer:
        """The legal answer, awaited for ``seconds``; the caller checks whether it was in time."""
        self.start_search(situation, go, end=end, exactly=exactly)
        answer = self.take_answer(situation, seconds)
        if answer is None:
            raise CheckFailed(f"no bestmove to '{format_message(go)}' within {seconds:g} seconds")
        return answer

    def take_answer(self, situation: Situation, seconds: float) -> Answer | None:
        """The answer of the running search; None if it does not arrive within ``seconds`` from now."""
        lines = self.read_until(BestMove, seconds)
        if lines is None:
            return None
        message = parse_engine_line(lines[-1])
        assert isinstance(message, BestMove)
        if message.move != RESIGN:
            try:
                situation.position.play(message.move)
            except IllegalMove as error:
                sentence = explain_illegal(message.move, error)
                raise CheckFailed(sentence, FaultKind.ILLEGAL_MOVE) from None
        return Answer(message.move, self._charge(), tuple(lines))

    def _begin_turn(self, exactly: bool = False) -> None:
        """From now on time that the machine withholds defers deadlines."""
        self._asked_ns = time.monotonic_ns()
        if self.clock is not None:
            self._asked_cpu_ns = self.account.cpu_ns()
            self.clock.is_contended |= exactly
            self.clock.prepare()
            self.clock.begin(self._asked_ns)

    def _charge(self) -> Charge:
        """The times from the last lines sent to the last line received; ends the turn."""
        arrived_ns = self.engine.output.arrived_ns
        if self.clock is None:
            return Charge(arrived_ns - self._asked_ns, 0, 0, 0)
        return self.clock.end(arrived_ns)

    # The process

    def begin_log(self) -> None:
        """Reset the log of lines and standard error."""
        self.log = Conversation()
        self.engine.begin_game()

    def take_stderr(self) -> str:
        return self.engine.take_stderr().decode("utf-8", "replace")

    def close_input(self) -> None:
        self._begin_turn()
        self.engine.child.close_input()

    def exits_within(self, seconds: float) -> bool:
        """Whether the process exits within ``seconds``; its output is dropped."""
        fault = self.engine.wait(self._budget.deadline_ns(seconds))
        if isinstance(fault, EngineFlooded):
            raise _failure(fault)
        return self.engine.child.has_exited()


def _failure(fault: EngineFault) -> CheckFailed:
    if isinstance(fault, EngineExited):
        return CheckFailed(f"it crashed: {fault}", FaultKind.CRASH)
    if isinstance(fault, EngineFlooded):
        return CheckFailed(f"it floods: {fault}", FaultKind.FLOOD)
    return CheckFailed(str(fault))
