"""The protocol session of an engine process: one thread reads, the main thread answers and searches.

It speaks UGI (PROTOCOL.md) and calls ``choose`` in the main thread, one search at a time. The second thread
reads the input, so that a ``stop`` or the end of the input can end a running search, and an ``isready`` is
answered during it. With ``choose`` in the second thread its exceptions would not end the process, and it
would receive no signals.
"""

from __future__ import annotations

import os
import queue
import threading
from collections.abc import Callable, Iterable, Sequence

from engines.protocol import (
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
from engines.rules.base import RulesError
from engines.rules.registry import Variant
from engines.sdk.options import combo, parse_value
from engines.sdk.turn import BotTurn, Clock, InputLine, Search, one_line

NO_MOVE = "none"
"""The word after ``bestmove`` if there is no legal move or no position."""

MAX_SEED = 2**63 - 1
QUIT_GRACE_SECONDS = 2.0
"""The time that a search may continue after ``quit`` or the end of the input."""


class Session:
    """The protocol session of an engine process; ``write_line`` writes one line to the server at once."""

    def __init__(
        self,
        choose: Callable[[BotTurn], str],
        name: str,
        author: str,
        games: Sequence[Variant],
        options: Sequence[OptionDeclared],
        on_new_game: Callable[[], None] | None,
        write_line: Callable[[str], None],
    ) -> None:
        self._choose = choose
        self._name = name
        self._author = author
        self._games = games
        self._own_options = {option.name.casefold(): option for option in options}
        self._on_new_game = on_new_game
        self._write_line = write_line
        self._values = {option.name: parse_value(option, option.default or "") for option in options}
        self._game = games[0]
        self._seed: int | None = None
        self._line: InputLine | None = InputLine(self._game, None)
        self._messages: queue.SimpleQueue[ServerMessage | Search] = queue.SimpleQueue()
        self._search: Search | None = None
        self._finished = threading.Event()

    def serve(self, lines: Iterable[str]) -> None:
        """Answer ``lines`` until ``quit`` or their end; returns without an error if the output is closed."""
        threading.Thread(target=self._read, args=(lines,), daemon=True).start()
        try:
            while not isinstance(message := self._messages.get(), Quit):
                self._answer(message)
        except BrokenPipeError:
            pass
        finally:
            self._finished.set()

    def _read(self, lines: Iterable[str]) -> None:
        """The reading thread: queues the messages in order, except those that concern a running search."""
        try:
            for line in lines:
                message = parse_server_line(line)
                if isinstance(message, Quit):
                    break
                if message is not None:
                    self._receive(message)
        finally:
            self._messages.put(Quit())
            if self._search is not None:
                self._search.stopped = True
        if not self._finished.wait(QUIT_GRACE_SECONDS):
            os._exit(0)

    def _receive(self, message: ServerMessage) -> None:
        search = self._search
        match message:
            case Go():
                self._search = Search(message)
                self._messages.put(self._search)
            case Stop():
                if search is not None:
                    search.stopped = True
            case IsReady() if search is not None and not search.over:
                self._send(ReadyOk())
            case _:
                self._messages.put(message)

    def _send(self, message: EngineMessage) -> None:
        self._write_line(format_message(message))

    def _complain(self, sentence: str) -> None:
        self._send(Info(string=one_line(sentence)))

    def _answer(self, message: ServerMessage | Search) -> None:
        match message:
            case Ugi():
                self._introduce()
            case IsReady():
                self._send(ReadyOk())
            case SetOption():
                self._set_option(message.name.casefold(), message.value or "")
            case UgiNewGame():
                self._line = InputLine(self._game, None)
                if self._on_new_game is not None:
                    self._on_new_game()
            case SetPosition():
                self._set_position(message)
            case Search():
                self._move(message)
            case Query():
                self._send(Response(self._answer_query(message.what)))

    def _introduce(self) -> None:
        self._send(IdName(self._name))
        self._send(IdAuthor(self._author or "unknown"))
        codes = [game.code for game in self._games]
        if len(codes) > 1:
            self._send(combo(VARIANT_OPTION, codes[0], codes))
        self._send(OptionDeclared(SEED_OPTION, OptionType.SPIN, "0", 0, MAX_SEED))
        for option in self._own_options.values():
            self._send(option)
        self._send(UgiOk())

    def _set_option(self, name: str, value: str) -> None:
        if name == VARIANT_OPTION.casefold():
            self._set_variant(value)
        elif name == SEED_OPTION.casefold():
            self._seed = parse_number(value)
        elif (option := self._own_options.get(name)) is not None:
            try:
                self._values[option.name] = parse_value(option, value)
            except ValueError as error:
                self._complain(str(error))

    def _set_variant(self, code: str) -> None:
        for game in self._games:
            if game.code == code:
                self._game = game
                self._line = InputLine(game, None)
                return
        self._complain(f"{self._name} does not play {code!r}")

    def _set_position(self, message: SetPosition) -> None:
        """Set the position; if the rules refuse it, report that and have no position until the next one."""
        line, self._line = self._line, None
        try:
            if line is None or not line.leads_to(message):
                line = InputLine(self._game, message.fen)
            for token in message.moves[len(line.moves) :]:
                line.play(token)
        except RulesError as error:
            self._complain(str(error))
        else:
            self._line = line

    def _move(self, search: Search) -> None:
        move = self._find_move(search)
        search.over = True
        self._send(BestMove(move))

    def _find_move(self, search: Search) -> str:
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
        turn = BotTurn(line, clock, self._values, self._seed, search, self._send)
        chosen: object = self._choose(turn)
        if not isinstance(chosen, str):
            raise TypeError(f"choose returned {chosen!r}, which is not a move")
        return chosen

    def _answer_query(self, question: Question) -> str:
        if self._line is None:
            return Winner.NONE if question is Question.RESULT else "false"
        return self._line.answer(question)
