"""Parses lines into messages. No line raises an exception.

As in UCI, unknown words are ignored, also before a message: ``joho bestmove c1`` is a best move.
Only spaces and tabs separate words. Numbers of more than 19 digits are ignored.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from itertools import pairwise
from typing import Any

from engines.protocol.messages import (
    GO_FIELDS,
    INFO_FIELDS,
    OPTION_FIELDS,
    BestMove,
    EngineMessage,
    GameOver,
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
)

MAX_DIGITS = 19

INFO_WORDS = frozenset(
    "depth seldepth time nodes nps pv multipv score currmove currmovenumber hashfull tbhits cpuload "
    "string refutation currline".split()
)
_OPTION_WORDS = {
    OptionType.CHECK: ("default",),
    OptionType.SPIN: OPTION_FIELDS,
    OptionType.COMBO: ("default", "var"),
    OptionType.BUTTON: (),
    OptionType.STRING: ("default",),
}
"""The words that begin a field of an option, by its type."""
_FIELDS = {*OPTION_FIELDS, "var"}
_OPTION_TYPES: dict[str, OptionType] = {kind.value: kind for kind in OptionType}
_WINNERS: dict[str, Winner] = {winner.value: winner for winner in Winner if winner is not Winner.NONE}
_QUESTIONS: dict[str, Question] = {question.value: question for question in Question}


def parse_engine_line(line: str) -> EngineMessage | None:
    """The message of an engine, or None if the line has none that we know."""
    word, rest = _find_word(line, _ENGINE_PARSERS)
    return _ENGINE_PARSERS[word](rest) if word else None


def parse_server_line(line: str) -> ServerMessage | None:
    """The message of a server, or None if the line has none that we know."""
    word, rest = _find_word(line, _SERVER_PARSERS)
    return _SERVER_PARSERS[word](rest) if word else None


def _find_word(line: str, known: Collection[str]) -> tuple[str, list[str]]:
    """The first of the known words, "" if there is none, and the words after it."""
    words = _words(line)
    for index, word in enumerate(words):
        if word in known:
            return word, words[index + 1 :]
    return "", []


def last_info(lines: Sequence[bytes | str]) -> Info:
    """The last depth, the last score, the last time, nodes and pv in ``lines``.

    Reads backwards and only as far as needed, so that a runner can keep the
    raw lines of a search and parse them once, after the best move.
    """
    found: Info | None = None
    for line in reversed(lines):
        text = line.decode("utf-8", "replace") if isinstance(line, bytes) else line
        message = parse_engine_line(text)
        if not isinstance(message, Info):
            continue
        found = message if found is None else _filled(found, message)
        if found.pv and None not in (found.depth, found.score, found.time_ms, found.nodes):
            break
    return found or Info()


def _filled(later: Info, earlier: Info) -> Info:
    return Info(
        depth=earlier.depth if later.depth is None else later.depth,
        seldepth=earlier.seldepth if later.seldepth is None else later.seldepth,
        score=later.score or earlier.score,
        time_ms=earlier.time_ms if later.time_ms is None else later.time_ms,
        nodes=earlier.nodes if later.nodes is None else later.nodes,
        nps=earlier.nps if later.nps is None else later.nps,
        pv=later.pv or earlier.pv,
        string=later.string or earlier.string,
    )


BYTE_ORDER_MARK = "\ufeff"
"""Some programs begin their UTF-8 output with it."""


def _words(line: str) -> list[str]:
    plain = line.removeprefix(BYTE_ORDER_MARK).rstrip("\r\n").replace("\t", " ")
    return [word for word in plain.split(" ") if word]


def parse_number(word: str) -> int | None:
    """A plain decimal number with an optional sign, or None; never raises."""
    digits = word[1:] if word[:1] in ("-", "+") else word
    if 0 < len(digits) <= MAX_DIGITS and digits.isascii() and digits.isdigit():
        return int(word)
    return None


# From the engine


def _parse_id(words: list[str]) -> IdName | IdAuthor | None:
    rest = " ".join(words[1:])
    if words[:1] == ["name"]:
        return IdName(rest)
    return IdAuthor(rest) if words[:1] == ["author"] else None


def _groups(words: list[str], known: Collection[str]) -> list[tuple[str, list[str]]]:
    """Each known word with the words up to the next one."""
    return _split(words, [place for place, word in enumerate(words) if word in known])


def _split(words: list[str], starts: list[int]) -> list[tuple[str, list[str]]]:
    """Each word at one of these places with the words up to the next one."""
    return [(words[start], words[start + 1 : end]) for start, end in pairwise([*starts, len(words)])]


def _parse_option(words: list[str]) -> OptionDeclared | None:
    """None without a name or a known type.

    The name ends at the first ``type`` before a known type, if a field or nothing comes next: names and texts
    may hold such words too.
    """
    for end in range(2, len(words) - 1):
        kind = _OPTION_TYPES.get(words[end + 1]) if words[end] == "type" else None
        if words[0] == "name" and kind is not None and {*words[end + 2 : end + 3]} <= _FIELDS:
            return _option_of(" ".join(words[1:end]), kind, words[end + 2 :])
    return None


def _option_of(name: str, kind: OptionType, words: list[str]) -> OptionDeclared:
    known = _OPTION_WORDS[kind]
    starts = [
        place
        for place, word in enumerate(words)
        if word in known and (word != "default" or word not in words[:place])  # a later one is text
    ]
    groups = [(word, " ".join(rest)) for word, rest in _split(words, starts)]
    texts = dict(reversed(groups))  # the first of two counts
    return OptionDeclared(
        name,
        kind,
        default=texts.get("default"),
        min=parse_number(texts.get("min", "")),
        max=parse_number(texts.get("max", "")),
        choices=tuple(text for word, text in groups if word == "var"),
    )


def _parse_info(words: list[str]) -> Info:
    end = words.index("string") if "string" in words else len(words)
    fields: dict[str, Any] = {"string": " ".join(words[end + 1 :])}
    for word, rest in _groups(words[:end], INFO_WORDS):
        if word == "pv":
            fields["pv"] = tuple(rest)
        elif word in INFO_FIELDS:
            value = _parse_score(rest) if word == "score" else parse_number("".join(rest[:1]))
            if value is not None:
                fields[INFO_FIELDS[word]] = value
    return Info(**fields)


def _parse_score(words: list[str]) -> Score | None:
    kind, number = words[0] if words else "", parse_number("".join(words[1:2]))
    if number is None or kind not in ("cp", "mate"):
        return None
    return Score(centipawns=number) if kind == "cp" else Score(mate=number)


_ENGINE_PARSERS: dict[str, Callable[[list[str]], EngineMessage | None]] = {
    "info": _parse_info,
    "bestmove": lambda words: BestMove(words[0] if words else ""),
    "readyok": lambda words: ReadyOk(),
    "ugiok": lambda words: UgiOk(),
    "id": _parse_id,
    "option": _parse_option,
    "response": lambda words: Response(words[0] if words else ""),
}


# To the engine


def _parse_set_option(words: list[str]) -> SetOption | None:
    if words[:1] != ["name"]:
        return None
    end = words.index("value") if "value" in words else len(words)
    name = " ".join(words[1:end])
    value = " ".join(words[end + 1 :]) if end < len(words) else None
    return SetOption(name, value) if name else None


def _parse_position(words: list[str]) -> SetPosition | None:
    """None if neither ``startpos`` nor ``fen`` is given."""
    end = words.index("moves") if "moves" in words else len(words)
    moves = tuple(words[end + 1 :])
    head = words[:end]
    for index, word in enumerate(head):
        if word == "startpos":
            return SetPosition(None, moves)
        if word == "fen":
            return SetPosition(" ".join(head[index + 1 :]), moves)
    return None


def _parse_go(words: list[str]) -> Go:
    limits: dict[str, int] = {}
    for word, value in pairwise(words):
        number = parse_number(value)
        if word in GO_FIELDS and number is not None:
            limits[GO_FIELDS[word]] = number
    return Go(**limits)


def _parse_game_over(words: list[str]) -> GameOver | None:
    winner = _WINNERS.get(words[0]) if words else None
    return None if winner is None else GameOver(winner, " ".join(words[1:]))


def _parse_query(words: list[str]) -> Query | None:
    question = _QUESTIONS.get(words[0]) if words else None
    return None if question is None else Query(question)


_SERVER_PARSERS: dict[str, Callable[[list[str]], ServerMessage | None]] = {
    "ugi": lambda words: Ugi(),
    "isready": lambda words: IsReady(),
    "uginewgame": lambda words: UgiNewGame(),
    "setoption": _parse_set_option,
    "position": _parse_position,
    "go": _parse_go,
    "stop": lambda words: Stop(),
    "quit": lambda words: Quit(),
    "gameover": _parse_game_over,
    "query": _parse_query,
}
