"""Formats messages as lines, one each, without the line end."""

from __future__ import annotations

from functools import singledispatch

from engines.protocol.messages import (
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


@singledispatch
def _format(message: object) -> str:
    raise TypeError(f"{message!r} is not a message of the protocol")


def _constant(kind: type, word: str) -> None:
    _format.register(kind, lambda message: word)


_constant(Ugi, "ugi")
_constant(IsReady, "isready")
_constant(UgiNewGame, "uginewgame")
_constant(Stop, "stop")
_constant(Quit, "quit")
_constant(UgiOk, "ugiok")
_constant(ReadyOk, "readyok")


@_format.register
def _(message: SetOption) -> str:
    name = f"setoption name {message.name}"
    return name if message.value is None else f"{name} value {message.value}"


@_format.register
def _(message: SetPosition) -> str:
    start = "startpos" if message.fen is None else f"fen {message.fen}"
    return " ".join(("position", start, *(("moves", *message.moves) if message.moves else ())))


@_format.register
def _(message: Go) -> str:
    limits = (
        ("p1time", message.p1_time_ms),
        ("p2time", message.p2_time_ms),
        ("p1inc", message.p1_inc_ms),
        ("p2inc", message.p2_inc_ms),
        ("movetime", message.movetime_ms),
        ("nodes", message.nodes),
        ("depth", message.depth),
    )
    return " ".join(("go", *(f"{word} {number}" for word, number in limits if number is not None)))


@_format.register
def _(message: GameOver) -> str:
    return f"gameover {message.winner} {message.reason}".rstrip()


@_format.register
def _(message: Query) -> str:
    return f"query {message.what}"


@_format.register
def _(message: IdName) -> str:
    return f"id name {message.name}"


@_format.register
def _(message: IdAuthor) -> str:
    return f"id author {message.author}"


@_format.register
def _(message: OptionDeclared) -> str:
    parts = [f"option name {message.name} type {message.type}"]
    if message.default is not None:
        parts.append(f"default {message.default}".rstrip())
    if message.min is not None:
        parts.append(f"min {message.min}")
    if message.max is not None:
        parts.append(f"max {message.max}")
    return " ".join((*parts, *(f"var {choice}" for choice in message.choices)))


@_format.register
def _(message: Info) -> str:
    parts = ["info"]
    for word, number in (("depth", message.depth), ("seldepth", message.seldepth)):
        if number is not None:
            parts.append(f"{word} {number}")
    if message.score is not None:
        mate = message.score.mate
        parts.append(f"score cp {message.score.centipawns}" if mate is None else f"score mate {mate}")
    for word, number in (("time", message.time_ms), ("nodes", message.nodes), ("nps", message.nps)):
        if number is not None:
            parts.append(f"{word} {number}")
    if message.pv:
        parts.append(" ".join(("pv", *message.pv)))
    if message.string:
        parts.append(f"string {message.string}")
    return " ".join(parts)


@_format.register
def _(message: BestMove) -> str:
    return f"bestmove {message.move}".rstrip()


@_format.register
def _(message: Response) -> str:
    return f"response {message.value}"
