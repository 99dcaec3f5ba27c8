"""A record as values: what a game's file says, before anybody asks whether it is true."""

from __future__ import annotations

import enum
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import NamedTuple, Self

from engines.protocol.messages import Info
from engines.protocol.score import Score
from engines.rules.base import Result, Side

ROSTER = ("Event", "Site", "Date", "Round", "White", "Black", "Result")
HEADERS = (
    *ROSTER,
    "Game",
    "Termination",
    "Reason",
    "Fault",
    "PlyCount",
    "PlyLimit",
    "TimeControl",
    "WhiteVersion",
    "BlackVersion",
    "GameId",
    "FEN",
    "SetUp",
    "OpeningPlies",
    "WhiteScore",
    "BlackScore",
    "Evidence",
)
"""The headers that mean something, in the order they are written; others follow them."""

REQUIRED = (
    *ROSTER,
    "Game",
    "Termination",
    "Fault",
    "PlyCount",
    "TimeControl",
    "WhiteVersion",
    "BlackVersion",
    "GameId",
)

MAX_TOKEN = 40
"""Characters of a move; the longest of our games has thirteen."""
MAX_PV = 12

_TOKEN = re.compile(rf"[A-Za-z][A-Za-z0-9+\-:_#=]{{0,{MAX_TOKEN - 1}}}")
_TOKENS = re.compile(rf"(?:{_TOKEN.pattern} )*")
_PV_TOKEN = re.compile(r"[A-Za-z0-9+\-:_#=]+")


class Termination(enum.StrEnum):
    """Why a game stopped, apart from who won it and whose fault it was."""

    RULES = "rules"
    REPETITION = "repetition"
    PLY_LIMIT = "ply limit"
    ILLEGAL_MOVE = "illegal move"
    UNSOLICITED = "unsolicited answer"
    RESIGNATION = "resignation"
    TIME = "time forfeit"
    STALL = "stall"
    CRASH = "crash"
    FLOOD = "flood"
    MEMORY = "memory limit"
    PROCESS = "process limit"
    CPU = "cpu limit"
    FILE = "file limit"
    ADJUDICATION = "adjudication"
    VOID = "void"

    @property
    def is_forfeit(self) -> bool:
        """Whether one engine lost by its own fault; counts like any other loss."""
        return self not in _NO_FORFEIT


_NO_FORFEIT = frozenset(
    {
        Termination.RULES,
        Termination.REPETITION,
        Termination.PLY_LIMIT,
        Termination.RESIGNATION,
        Termination.ADJUDICATION,
        Termination.VOID,
    }
)


class Fault(enum.StrEnum):
    """Whose fault the end was: a player's in a forfeit, our own in a void."""

    WHITE = "white"
    BLACK = "black"
    NONE = "none"
    INFRASTRUCTURE = "infrastructure"

    @staticmethod
    def of(side: Side) -> Fault:
        return Fault.WHITE if side is Side.WHITE else Fault.BLACK


def is_token(text: str) -> bool:
    """Whether ``text`` is spelled as a move could be, in the alphabet all games share."""
    return _TOKEN.fullmatch(text) is not None


def are_tokens(texts: Sequence[str]) -> bool:
    """Whether all of them are; a game's moves at once cost a third of what they cost one by one."""
    line = "".join(f"{text} " for text in texts)
    return _TOKENS.fullmatch(line) is not None and line.count(" ") == len(texts)


def _is_pv_token(text: str) -> bool:
    return len(text) <= MAX_TOKEN and _PV_TOKEN.fullmatch(text) is not None


class _NoteParts(NamedTuple):
    score: Score | None
    depth: int | None
    ms: int | None
    nodes: int | None
    cpu_ms: int | None
    pv: tuple[str, ...]


class MoveNote(_NoteParts):
    """What is known of one search; every part may be missing.

    ``ms`` is the time as measured, ``cpu_ms`` the processor time. ``pv`` is cut here:
    to ``MAX_PV`` tokens, and at the first that is none of the moves' alphabet.
    A tuple, because one is made for every move: a frozen dataclass takes four times as long.
    """

    __slots__ = ()

    def __new__(
        cls,
        score: Score | None = None,
        depth: int | None = None,
        ms: int | None = None,
        nodes: int | None = None,
        cpu_ms: int | None = None,
        pv: tuple[str, ...] = (),
    ) -> Self:
        counts = {"depth": depth, "ms": ms, "nodes": nodes, "cpu_ms": cpu_ms}
        for name, number in counts.items():
            if number is not None and number < 0:
                raise ValueError(f"a move's {name} cannot be negative, as {number} is")
        return super().__new__(cls, score, depth, ms, nodes, cpu_ms, _cut_pv(pv) if pv else pv)


def _cut_pv(pv: tuple[str, ...]) -> tuple[str, ...]:
    for length, token in enumerate(pv[:MAX_PV]):
        if not _is_pv_token(token):
            return pv[:length]
    return pv[:MAX_PV]


EMPTY_NOTE = MoveNote()


def note_from_info(info: Info, ms: int | None = None, cpu_ms: int | None = None) -> MoveNote:
    """What an engine said, as far as it makes sense, beside the times that were measured.

    Without ``ms`` the engine's own time is taken.
    """
    return MoveNote(
        score=info.score,
        depth=_not_negative(info.depth),
        ms=_not_negative(info.time_ms) if ms is None else ms,
        nodes=_not_negative(info.nodes),
        cpu_ms=cpu_ms,
        pv=info.pv,
    )


@lru_cache(maxsize=1024)
def note_of_time(ms: int, cpu_ms: int | None = None) -> MoveNote:
    """The note of a search of which nothing else is known; the same one for all that took as long."""
    return MoveNote(ms=ms, cpu_ms=cpu_ms)


def _not_negative(number: int | None) -> int | None:
    return None if number is None or number < 0 else number


@dataclass(init=False, slots=True)
class RecordMove:
    """One ply. ``book`` is a given one, which has no note; an empty note is none.

    ``line`` is where it was read, for complaints, and 0 if it was not. Not to be changed, and not
    frozen only because one is made for every move, as of ``MoveNote``.
    """

    token: str
    note: MoveNote | None
    book: bool
    line: int = field(compare=False, repr=False)

    def __init__(self, token: str, note: MoveNote | None = None, book: bool = False, line: int = 0) -> None:
        self.token = token
        self.note = None if note == EMPTY_NOTE else note
        self.book = book
        self.line = line


@dataclass(frozen=True, slots=True)
class Source:
    """Where a record was read: the file, its first line there, and its number in it from 1."""

    name: str
    line: int
    number: int

    def at(self, line: int = 0) -> str:
        """``games.pgn:120: game 3``, to begin a complaint with."""
        return f"{self.name}:{line or self.line}: game {self.number}"


@dataclass(frozen=True, slots=True)
class Record:
    """One game as written down; ``headers`` in the order of the file, names not twice."""

    headers: tuple[tuple[str, str], ...]
    moves: tuple[RecordMove, ...]
    result: Result
    source: Source | None = field(default=None, compare=False, repr=False)
    _values: dict[str, str] = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_values", dict(reversed(self.headers)))  # of two the first counts

    def header(self, name: str, default: str = "") -> str:
        return self._values.get(name, default)

    def has(self, name: str) -> bool:
        return name in self._values


class RecordError(ValueError):
    """A record that cannot be written or read; the text is one sentence with the place in front.

    Of the attributes those that are not known are empty: ``ply`` counts from 1,
    ``field`` is the header or part of the record, ``position`` that before the ply.
    """

    def __init__(
        self,
        why: str,
        *,
        source: Source | None = None,
        line: int = 0,
        ply: int = 0,
        field: str = "",
        word: str = "",
        position: str = "",
    ) -> None:
        place = [source.at(line)] if source else []
        if ply:
            place.append(f"ply {ply}")
        after = f" (in position {position!r})" if position else ""
        super().__init__(": ".join((*place, why + after)))
        self.source = source
        self.line = line
        self.ply = ply
        self.field = field
        self.word = word
        self.position = position
