"""The values of a record, as they stand in a file; ``engines.records.verify`` checks them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import NamedTuple, Self

from engines.protocol.messages import Info, Score
from engines.rules.base import Result

ROSTER = ("Event", "Site", "Date", "Round", "White", "Black", "Result")
HEADERS = (
    *ROSTER,
    "Game",
    "RulesVersion",
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
"""The known headers in the order in which they are written; other headers follow."""

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

HEADER_NAME = r"[A-Za-z0-9_+#=:-]{1,255}"
"""A regular expression: the name of a header, as PGN allows it."""

MAX_TOKEN = 40
"""The longest move in characters; the longest move of our games has 13."""
MAX_PV = 12

TOKEN = rf"[A-Za-z][A-Za-z0-9+\-:_#=]{{0,{MAX_TOKEN - 1}}}"
"""A regular expression: could be a move."""
_TOKEN = re.compile(TOKEN)
_TOKENS = re.compile(rf"(?:{TOKEN} )*")
_PV_TOKEN = re.compile(r"[A-Za-z0-9+\-:_#=]+")


def is_token(text: str) -> bool:
    """Whether ``text`` could be a move: all games share one alphabet."""
    return _TOKEN.fullmatch(text) is not None


def are_tokens(texts: Sequence[str]) -> bool:
    """Whether all ``texts`` are tokens; three times as fast as checking them one by one."""
    line = "".join(f"{text} " for text in texts)
    return _TOKENS.fullmatch(line) is not None and line.count(" ") == len(texts)


class _NoteParts(NamedTuple):
    score: Score | None
    depth: int | None
    ms: int | None
    nodes: int | None
    cpu_ms: int | None
    pv: tuple[str, ...]


class MoveNote(_NoteParts):
    """What is known about the search for a move; every part may be missing.

    ``ms`` is the measured time, ``cpu_ms`` the processor time. ``pv`` is cut to ``MAX_PV`` tokens, and before
    the first word that cannot be a move. A tuple, because each move has a note, and a frozen dataclass takes
    four times as long to make.
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
        if len(token) > MAX_TOKEN or _PV_TOKEN.fullmatch(token) is None:
            return pv[:length]
    return pv[:MAX_PV]


EMPTY_NOTE = MoveNote()


def note_from_info(info: Info, ms: int | None = None, cpu_ms: int | None = None) -> MoveNote:
    """A note from an engine's last ``info`` and the measured times; negative numbers are left out.

    None as ``ms`` takes the engine's own time.
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
    """A note with times only. Cached: equal times give the same object."""
    return MoveNote(ms=ms, cpu_ms=cpu_ms)


def _not_negative(number: int | None) -> int | None:
    return None if number is None or number < 0 else number


@dataclass(init=False, slots=True)
class RecordMove:
    """One ply. ``book``: the move was given by the opening, and has no note. An empty note becomes None.

    ``line`` is its line in a file, for error messages; 0 if it was not read from one. Do not change a move;
    the class is not frozen because that would take longer, as with ``MoveNote``.
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
    """The place of a record in a file: the file's name, the first line, and the number of the game from 1."""

    name: str
    line: int
    number: int

    def at(self, line: int = 0) -> str:
        """The beginning of an error message: ``games.pgn:120: game 3``."""
        return f"{self.name}:{line or self.line}: game {self.number}"


@dataclass(frozen=True, slots=True)
class Record:
    """A record of one game; ``headers`` are in the order of the file, each name once."""

    headers: tuple[tuple[str, str], ...]
    moves: tuple[RecordMove, ...]
    result: Result
    source: Source | None = field(default=None, compare=False, repr=False)
    _values: dict[str, str] = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_values", dict(reversed(self.headers)))  # the first of two counts

    def header(self, name: str, default: str = "") -> str:
        return self._values.get(name, default)

    def has(self, name: str) -> bool:
        return name in self._values


class RecordError(ValueError):
    """A record that cannot be written or read; the text is a sentence that begins with the place."""
