"""Formats messages as lines, one each, without the line end."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

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
    Query,
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
)


class ProtocolError(ValueError):
    """A message does not fit into one line."""


def format_message(message: ServerMessage | EngineMessage) -> str:
    """The line of ``message``; raises ``ProtocolError`` if one of its texts contains a line end."""
    line = _format(message)
    for character in "\n\r\0":
        if character in line:
            raise ProtocolError(f"a {type(message).__name__} message cannot hold {character!r}: {line!r}")
    return line


_WORDS: dict[type[ServerMessage | EngineMessage], str] = {
    Ugi: "ugi",
    IsReady: "isready",
    UgiNewGame: "uginewgame",
    Stop: "stop",
    Quit: "quit",
    UgiOk: "ugiok",
    ReadyOk: "readyok",
}
"""The messages of one word."""


def _format(message: ServerMessage | EngineMessage) -> str:
    match message:
        case SetPosition(fen, moves):
            start = "startpos" if fen is None else f"fen {fen}"
            return " ".join(("position", start, *(("moves", *moves) if moves else ())))
        case Go():
            return " ".join(("go", *_given(message, GO_FIELDS)))
        case Info(pv=pv, string=string):
            line, text = ("pv", *pv) if pv else (), ("string", string) if string else ()
            return " ".join(("info", *_given(message, INFO_FIELDS), *line, *text))
        case BestMove(move):
            return f"bestmove {move}".rstrip()
        case SetOption(name, value):
            return f"setoption name {name}" if value is None else f"setoption name {name} value {value}"
        case GameOver(winner, reason):
            return f"gameover {winner} {reason}".rstrip()
        case Query(what):
            return f"query {what}"
        case IdName(name):
            return f"id name {name}"
        case IdAuthor(author):
            return f"id author {author}"
        case OptionDeclared(name, kind):
            choices = (f"var {choice}" for choice in message.choices)
            return " ".join((f"option name {name} type {kind}", *_given(message, OPTION_FIELDS), *choices))
        case Response(value):
            return f"response {value}"
        case _:
            return _WORDS[type(message)]


def _given(message: Go | Info | OptionDeclared, fields: Mapping[str, str]) -> Iterator[str]:
    """The fields that are not None, each after its word."""
    for word, name in fields.items():
        value = getattr(message, name)
        if value is not None:
            yield f"{word} {value}".rstrip()
