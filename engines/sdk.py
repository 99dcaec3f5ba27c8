"""Everything an engine in Python needs but the choice of a move.

    from engines.sdk import run

    def choose(turn):
        return next(turn.position.legal_moves())

    run(choose, name="First Move")

``run`` speaks UGI (PROTOCOL.md) on standard input and output and calls ``choose`` in
the main thread, one search at a time. A second thread only reads: that is how a
``stop`` or the end of the input reaches a search that is under way, and an
``isready`` is answered during one. (The other way round an exception of ``choose``
would die in a thread, and signals would not reach it.) What the engine prints
goes to standard error, its log, so that a stray ``print`` cannot lose a game.
"""

from __future__ import annotations

import contextlib
import os
import queue
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from engines.protocol import (
    RESIGN,
    SEED_OPTION,
    VARIANT_OPTION,
    BestMove,
    EngineMessage,
    Go,
    IdAuthor,
    IdName,
    Info,
    IsReady,
    OptionDeclared,
    OptionType,
    Query,
    Question,
    Quit,
    ReadyOk,
    Response,
    Score,
    ServerMessage,
    SetOption,
    SetPosition,
    Stop,
    Ugi,
    UgiNewGame,
    UgiOk,
    Winner,
    format_message,
    parse_number,
    parse_server_line,
)
from engines.rules.base import Outcome, Position, Result, RulesError
from engines.rules.history import History
from engines.rules.registry import GAMES, Game, find_game

if TYPE_CHECKING:
    from random import Random

__all__ = ["RESIGN", "Clock", "OptionValue", "Turn", "check", "combo", "run", "spin", "text"]

OptionValue = int | bool | str

NO_MOVE = "none"
"""The word after ``bestmove`` when there is nothing to choose from."""

MAX_SEED = 2**63 - 1
QUIT_GRACE_S = 2.0
"""How long a search may ignore ``should_stop()`` after ``quit`` or the end of the input."""

MOVES_TO_GO = 25
"""The moves a clock is expected to last for; games here rarely have an end in sight."""
INCREMENT_SHARE = 0.75
CLOCK_SHARE = 0.8
"""The most of a clock that one move may take; the rest is for the way to the server."""
MOVE_TIME_SHARE = 0.9


def run(
    choose: Callable[[Turn], str],
    *,
    name: str,
    games: Sequence[str] | None = None,
    author: str = "",
    options: Iterable[OptionDeclared] = (),
    on_new_game: Callable[[], None] | None = None,
) -> None:
    """Play until ``quit`` or the end of the input; ``choose`` returns a move, or ``RESIGN``.

    ``games`` are the ladders' codes, the first being the default; None is all of
    them. ``options`` come from ``spin``, ``check``, ``text`` and ``combo``, their values
    are in ``Turn.options``. ``on_new_game`` is called where everything learnt from the
    game before must be forgotten. An exception of ``choose`` ends the process with
    its traceback on standard error.
    """
    known = [find_game(code) for code in (GAMES if games is None else games)]
    session = Session(choose, name, author, known, tuple(options), on_new_game, _write_line)
    with contextlib.redirect_stdout(sys.stderr):
        session.serve(_read_lines(sys.stdin.fileno()))


# What choose is given


@dataclass(frozen=True, slots=True)
class Clock(Go):
    """The limits of this search as the server sent them; None is no such limit."""

    mover_is_p1: bool = True

    @property
    def left_ms(self) -> int | None:
        """The mover's own clock."""
        return self.p1_time_ms if self.mover_is_p1 else self.p2_time_ms

    @property
    def increment_ms(self) -> int:
        """What the mover's own clock gains after this move."""
        return (self.p1_inc_ms if self.mover_is_p1 else self.p2_inc_ms) or 0

    @property
    def budget_ms(self) -> float | None:
        """A reasonable time for this move, safely within every limit; None if time is unlimited."""
        budgets = []
        if self.left_ms is not None:
            share = self.left_ms / MOVES_TO_GO + self.increment_ms * INCREMENT_SHARE
            budgets.append(max(0.0, min(share, self.left_ms * CLOCK_SHARE)))
        if self.movetime_ms is not None:
            budgets.append(max(0.0, self.movetime_ms * MOVE_TIME_SHARE))
        return min(budgets, default=None)


class Turn:
    """One search: the position, what is known of the game, and what the search may use.

    ``history`` holds the moves so far under the match rules and is not to be changed;
    should a runner play on after the match rules ended the game, it stays at that
    end while ``position`` goes on. ``seed`` is None unless the runner sent one.
    """

    def __init__(
        self,
        line: _Line,
        clock: Clock,
        options: Mapping[str, OptionValue],
        seed: int | None,
        search: _Search,
        say: Callable[[EngineMessage], None],
    ) -> None:
        self.game: Game = line.game
        self.position: Position = line.position
        self.history: History = line.history
        self.moves: tuple[str, ...] = tuple(line.moves)
        self.clock = clock
        self.options = options
        self.seed = seed
        self._search = search
        self._say = say
        budget_ms = clock.budget_ms
        self._deadline = None if budget_ms is None else search.started + budget_ms / 1000

    def should_stop(self) -> bool:
        """Whether to answer now: the server said so, or ``clock.budget_ms`` is used up. Cheap."""
        if self._search.stopped:
            return True
        return self._deadline is not None and time.monotonic() >= self._deadline

    @property
    def elapsed_ms(self) -> int:
        """Since the search was asked for."""
        return int((time.monotonic() - self._search.started) * 1000)

    @cached_property
    def random(self) -> Random:
        """A source of chance; the same seed and ply give the same numbers, without a seed none do."""
        from random import Random  # an engine without chance starts faster

        return Random() if self.seed is None else Random(f"{self.seed}/{self.position.ply}")

    def info(
        self,
        *,
        depth: int | None = None,
        score: int | None = None,
        mate: int | None = None,
        nodes: int | None = None,
        pv: Iterable[str] = (),
        string: str = "",
    ) -> None:
        """Tell how the search goes; the last of each goes into the record.

        ``score`` is in hundredths and ``mate`` in plies, both from the mover's side;
        ``mate`` takes precedence. The time is added.
        """
        stated = None if mate is None and score is None else Score(None if mate is not None else score, mate)
        elapsed_ms = self.elapsed_ms
        nps = None if nodes is None else nodes * 1000 // max(1, elapsed_ms)
        self._say(
            Info(
                depth=depth,
                score=stated,
                time_ms=elapsed_ms,
                nodes=nodes,
                nps=nps,
                pv=tuple(pv),
                string=_one_line(string),
            )
        )


# Options an engine declares


def spin(name: str, default: int, minimum: int, maximum: int) -> OptionDeclared:
    """A whole number between two others, both allowed."""
    return OptionDeclared(name, OptionType.SPIN, str(default), minimum, maximum)


def check(name: str, default: bool) -> OptionDeclared:
    return OptionDeclared(name, OptionType.CHECK, str(default).lower())


def combo(name: str, default: str, choices: Iterable[str]) -> OptionDeclared:
    return OptionDeclared(name, OptionType.COMBO, default, choices=tuple(choices))


def text(name: str, default: str = "") -> OptionDeclared:
    return OptionDeclared(name, OptionType.STRING, default or "<empty>")


def _parse_value(option: OptionDeclared, value: str) -> OptionValue:
    """Raises ``ValueError`` with a sentence when ``value`` is none of the option's."""
    match option.type:
        case OptionType.SPIN:
            number = parse_number(value)
            if number is not None and (option.min or 0) <= number <= (option.max or 0):
                return number
            wanted = f"a number from {option.min} to {option.max}"
        case OptionType.CHECK:
            if value in ("true", "false"):
                return value == "true"
            wanted = "true or false"
        case OptionType.COMBO:
            if value in option.choices:
                return value
            wanted = f"one of {', '.join(option.choices)}"
        case _:
            return "" if value == "<empty>" else value
    raise ValueError(f"option {option.name!r} takes {wanted}, not {value!r}")


# The conversation


class _Search:
    """One ``go``, as the reading thread and the searching one share it."""

    __slots__ = ("go", "over", "started", "stopped")

    def __init__(self, go: Go) -> None:
        self.go = go
        self.started = time.monotonic()
        self.stopped = False
        self.over = False


class _Line:
    """The moves of the current game, played once each however often they are repeated."""

    def __init__(self, game: Game, fen: str | None) -> None:
        self.game = game
        self.fen = fen
        self.moves: list[str] = []
        self.history = History(game, None if fen is None else game.position.parse(fen))
        self.position = self.history.position

    def leads_to(self, message: SetPosition) -> bool:
        """Whether ``message`` only adds moves to this line."""
        return self.fen == message.fen and self.moves == list(message.moves[: len(self.moves)])

    def play(self, token: str) -> None:
        """The match rules do not stop a runner that has others; the rules of the game do."""
        if self.history.outcome.decided:
            self.position = self.position.play(token)
        else:
            self.history.play(token)
            self.position = self.history.position
        self.moves.append(token)

    def answer(self, question: Question) -> str:
        outcome = self.history.outcome
        match question:
            case Question.GAME_OVER:
                return str(outcome.decided).lower()
            case Question.P1_TURN:
                return str(self.position.side is self.game.first).lower()
            case Question.RESULT:
                return _winner(self.game, outcome)


def _winner(game: Game, outcome: Outcome) -> Winner:
    if not outcome.decided:
        return Winner.NONE
    if outcome.result is Result.DRAW:
        return Winner.DRAW
    return Winner.P1 if outcome.result is Result.win_for(game.first) else Winner.P2


class Session:
    """The conversation of one engine process; ``say_line`` writes one line to the server at once."""

    def __init__(
        self,
        choose: Callable[[Turn], str],
        name: str,
        author: str,
        games: Sequence[Game],
        options: Sequence[OptionDeclared],
        on_new_game: Callable[[], None] | None,
        say_line: Callable[[str], None],
    ) -> None:
        self._choose = choose
        self._name = name
        self._author = author
        self._games = games
        self._own_options = {option.name.casefold(): option for option in options}
        self._on_new_game = on_new_game
        self._say_line = say_line
        self._values = {option.name: _parse_value(option, option.default or "") for option in options}
        self._game = games[0]
        self._seed: int | None = None
        self._line: _Line | None = _Line(self._game, None)
        self._messages: queue.SimpleQueue[ServerMessage | _Search] = queue.SimpleQueue()
        self._search: _Search | None = None
        self._finished = threading.Event()

    def serve(self, lines: Iterable[str]) -> None:
        """Answer ``lines`` until ``quit`` or their end; returns quietly when nobody listens any more."""
        threading.Thread(target=self._listen, args=(lines,), daemon=True).start()
        try:
            while not isinstance(message := self._messages.get(), Quit):
                self._answer(message)
        except BrokenPipeError:
            pass
        finally:
            self._finished.set()

    def _listen(self, lines: Iterable[str]) -> None:
        """The reading thread: hands the messages on in order, all but those meant for a running search."""
        try:
            for line in lines:
                message = parse_server_line(line)
                if isinstance(message, Quit):
                    break
                if message is not None:
                    self._take(message)
        finally:
            self._messages.put(Quit())
            if self._search is not None:
                self._search.stopped = True
        if not self._finished.wait(QUIT_GRACE_S):
            os._exit(0)

    def _take(self, message: ServerMessage) -> None:
        search = self._search
        match message:
            case Go():
                self._search = _Search(message)
                self._messages.put(self._search)
            case Stop():
                if search is not None:
                    search.stopped = True
            case IsReady() if search is not None and not search.over:
                self._say(ReadyOk())
            case _:
                self._messages.put(message)

    def _say(self, message: EngineMessage) -> None:
        self._say_line(format_message(message))

    def _complain(self, sentence: str) -> None:
        self._say(Info(string=_one_line(sentence)))

    def _answer(self, message: ServerMessage | _Search) -> None:
        match message:
            case Ugi():
                self._introduce()
            case IsReady():
                self._say(ReadyOk())
            case SetOption():
                self._set_option(message.name.casefold(), message.value or "")
            case UgiNewGame():
                self._line = _Line(self._game, None)
                if self._on_new_game is not None:
                    self._on_new_game()
            case SetPosition():
                self._set_position(message)
            case _Search():
                self._move(message)
            case Query():
                self._say(Response(self._answer_query(message.what)))

    def _introduce(self) -> None:
        self._say(IdName(self._name))
        self._say(IdAuthor(self._author or "unknown"))
        codes = [game.code for game in self._games]
        if len(codes) > 1:
            self._say(combo(VARIANT_OPTION, codes[0], codes))
        self._say(OptionDeclared(SEED_OPTION, OptionType.SPIN, "0", 0, MAX_SEED))
        for option in self._own_options.values():
            self._say(option)
        self._say(UgiOk())

    def _set_option(self, name: str, value: str) -> None:
        if name == VARIANT_OPTION.casefold():
            self._set_variant(value)
        elif name == SEED_OPTION.casefold():
            self._seed = parse_number(value)
        elif (option := self._own_options.get(name)) is not None:
            try:
                self._values[option.name] = _parse_value(option, value)
            except ValueError as error:
                self._complain(str(error))

    def _set_variant(self, code: str) -> None:
        for game in self._games:
            if game.code == code:
                self._game = game
                self._line = _Line(game, None)
                return
        self._complain(f"{self._name} does not play {code!r}")

    def _set_position(self, message: SetPosition) -> None:
        """A position the rules refuse is said to be so, and there is none to search until the next."""
        line, self._line = self._line, None
        try:
            if line is None or not line.leads_to(message):
                line = _Line(self._game, message.fen)
            for token in message.moves[len(line.moves) :]:
                line.play(token)
        except RulesError as error:
            self._complain(str(error))
        else:
            self._line = line

    def _move(self, search: _Search) -> None:
        move = self._find_move(search)
        search.over = True
        self._say(BestMove(move))

    def _find_move(self, search: _Search) -> str:
        line = self._line
        if line is None or line.position.outcome().decided:
            self._complain("there is no position to search" if line is None else "the game is over")
            return NO_MOVE
        go = search.go
        clock = Clock(
            go.p1_time_ms,
            go.p2_time_ms,
            go.p1_inc_ms,
            go.p2_inc_ms,
            go.movetime_ms,
            go.nodes,
            go.depth,
            mover_is_p1=line.position.side is line.game.first,
        )
        return self._choose(Turn(line, clock, self._values, self._seed, search, self._say))

    def _answer_query(self, question: Question) -> str:
        if self._line is None:
            return Winner.NONE if question is Question.RESULT else "false"
        return self._line.answer(question)


def _one_line(sentence: str) -> str:
    return " ".join(sentence.replace("\0", " ").split())


def _read_lines(descriptor: int) -> Iterator[str]:
    """Straight from the descriptor: a thread waiting in a buffered read would hold up the exit."""
    pending = b""
    while chunk := os.read(descriptor, 65536):
        *lines, pending = (pending + chunk).split(b"\n")
        for line in lines:
            yield line.decode("utf-8", "replace")
    yield pending.decode("utf-8", "replace")


_STANDARD_OUTPUT = 1


def _write_line(line: str) -> None:
    """At once and past ``sys.stdout``, which is the log while an engine runs."""
    data = f"{line}\n".encode("utf-8", "replace")
    while data:
        data = data[os.write(_STANDARD_OUTPUT, data) :]
