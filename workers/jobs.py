"""What travels between the site and its workers: jobs out; reports, progress and releases back.

Values only. Each is a frozen dataclass that becomes a JSON object and comes
back equal: ``X.from_json(x.to_json()) == x``. Nothing here knows of a queue, a
process or a database.
"""

from __future__ import annotations

import dataclasses
import enum
import itertools
import types
import typing
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Self

from engines.rules.base import Reason, Result

JsonObject = dict[str, Any]

BOOK = "book"
"""The comment of a given move: one that the opening chose, not an engine."""


class JobError(ValueError):
    """A JSON value that is not what its reader was promised; names the field."""


class JsonValue:
    """A dataclass that travels as a JSON object of its fields."""

    def to_json(self) -> JsonObject:
        return {name: _plain(getattr(self, name)) for name in _shape_of(type(self)).readers}

    @classmethod
    def from_json(cls, value: object) -> Self:
        """Read what ``to_json`` wrote; a field that has a default may be missing.

        Raises ``JobError`` for unknown and missing fields, wrong types and
        values out of range.
        """
        where = cls.__name__
        if not isinstance(value, Mapping):
            raise JobError(f"{where} must be an object, not {_kind_name(value)}")
        shape = _shape_of(cls)
        readers = shape.readers
        for name in value:
            if name not in readers:
                raise JobError(f"{where} has an unknown field {name!r}")
        missing = [name for name in shape.required if name not in value]
        if missing:
            raise JobError(f"{where} lacks {', '.join(missing)}")
        return cls(**{name: readers[name](item, f"{where}.{name}") for name, item in value.items()})


@dataclass(frozen=True, slots=True)
class EngineSpec(JsonValue):
    """One engine as a worker needs it.

    ``bundle`` is the SHA-256 of the zip to fetch (lower-case hex); ``directory`` is a
    folder of this machine instead, for engines run by their own author. With neither,
    the command runs in an empty folder. ``time_control`` is its own, where it has another
    than the job's. ``trusted``: whoever gives out the job answers for it, so it may run where
    there is no sandbox.
    """

    name: str
    version: str
    command: tuple[str, ...]
    bundle: str | None = None
    directory: str | None = None
    options: tuple[tuple[str, str], ...] = ()
    time_control: str | None = None
    trusted: bool = False

    def __post_init__(self) -> None:
        if not self.command:
            raise JobError("EngineSpec.command must not be empty")
        if self.bundle is not None and not is_sha256(self.bundle):
            raise JobError(f"EngineSpec.bundle must be a SHA-256 in lower-case hex, not {self.bundle!r}")


@dataclass(frozen=True, slots=True)
class DrawRule(JsonValue):
    """A draw from move ``move_number`` on: both engines' last ``moves`` scores were within ``score`` of 0.

    Moves are of both players together, scores in hundredths.
    """

    move_number: int
    moves: int
    score: int


@dataclass(frozen=True, slots=True)
class ResignRule(JsonValue):
    """A loss: an engine's last ``moves`` scores were ``-score`` or less, the other's ``score`` or more."""

    moves: int
    score: int


@dataclass(frozen=True, slots=True)
class JobGame(JsonValue):
    """One game of a job.

    ``key`` is ``tournament/round/pairing/number``; ``white`` the index of White's engine.
    """

    key: str
    attempt: str
    white: int

    def __post_init__(self) -> None:
        if self.white not in (0, 1):
            raise JobError(f"JobGame.white must be 0 or 1, not {self.white}")


@dataclass(frozen=True, slots=True)
class GameJob(JsonValue):
    """Some games between the same two engines, played in order by the same two processes.

    ``opening`` are moves from the start (``fen``, or the game's initial position) that are
    given, not chosen. ``ply_limit`` None is the game's default. Games end early by ``draw`` and ``resign``.
    """

    job: str
    game: str
    engines: tuple[EngineSpec, EngineSpec]
    games: tuple[JobGame, ...]
    time_control: str
    opening: tuple[str, ...] = ()
    fen: str | None = None
    ply_limit: int | None = None
    seed: int = 0
    margin_ms: int = 50
    draw: DrawRule | None = None
    resign: ResignRule | None = None

    def __post_init__(self) -> None:
        if self.margin_ms < 0:
            raise JobError(f"GameJob.margin_ms must not be negative, not {self.margin_ms}")


@dataclass(frozen=True, slots=True)
class SideLog(JsonValue):
    """What one engine said and was told in one game, for its author's eyes alone; both bounded.

    ``stderr`` is its standard error; ``lines`` the lines exchanged with it (``>`` to it,
    ``<`` from it), each with its time in seconds since the game's start.
    """

    stderr: str = ""
    lines: str = ""


@dataclass(frozen=True, slots=True)
class GameReport(JsonValue):
    """One game played, or void (result ``*``, termination ``void``: to be played again).

    ``moves`` pairs each token with its comment as in records: ``"book"`` for a given
    move, ``""`` for none. ``started`` and ``finished`` are UTC, ISO 8601. ``walls`` and ``speed``
    are of the worker, as ``workers.conditions`` has them.
    """

    key: str
    attempt: str
    worker: str
    result: Result
    termination: str
    reason: Reason
    fault: str
    evidence: str
    white_score: int | None
    black_score: int | None
    moves: tuple[tuple[str, str], ...]
    started: str
    finished: str
    white: SideLog
    black: SideLog
    walls: str = ""
    speed: str = ""


@dataclass(frozen=True, slots=True)
class Progress(JsonValue):
    """A game under way: its moves so far and both clocks (None: no clock).

    It is also the heartbeat of the game's lease.
    """

    key: str
    attempt: str
    worker: str
    moves: tuple[tuple[str, str], ...]
    white_ms: int | None
    black_ms: int | None


@dataclass(frozen=True, slots=True)
class Release(JsonValue):
    """A game given back by a worker that was told to stop: no void, to be given out again at once."""

    key: str
    attempt: str
    worker: str


def is_sha256(text: str) -> bool:
    """Whether this is a SHA-256 as bundles are named: 64 lower-case hex digits."""
    return len(text) == 64 and set(text) <= set("0123456789abcdef")


def _plain(value: object) -> object:
    if type(value) is str:
        return value
    if type(value) is tuple:
        return [item if type(item) is str else _plain(item) for item in value]  # most are text
    if isinstance(value, JsonValue):
        return value.to_json()
    return str(value) if isinstance(value, enum.Enum) else value


Reader = Callable[[object, str], object]
"""From a JSON value and the place where it stands to what it means; raises ``JobError``."""


@dataclass(frozen=True, slots=True)
class _Shape:
    """What a class travels as: a reader for each field, in order, and the fields that must be there."""

    readers: Mapping[str, Reader]
    required: tuple[str, ...]


_SHAPES: dict[Any, _Shape] = {}


def _shape_of(cls: Any) -> _Shape:
    """Made once for each class: what is declared is slow to look at."""
    if cls not in _SHAPES:
        kinds, fields = typing.get_type_hints(cls), dataclasses.fields(cls)
        _SHAPES[cls] = _Shape(
            {field.name: _reader(kinds[field.name]) for field in fields},
            tuple(field.name for field in fields if field.default is dataclasses.MISSING),
        )
    return _SHAPES[cls]


def _reader(kind: Any) -> Reader:
    """For the declared type ``kind``: text, number, None, tuple, enum or another value."""
    origin = typing.get_origin(kind)
    if origin is tuple:
        return _tuple_reader(typing.get_args(kind))
    if origin in (types.UnionType, typing.Union):
        read = _reader(typing.get_args(kind)[0])
        return lambda value, where: None if value is None else read(value, where)
    if issubclass(kind, JsonValue):
        return lambda value, where: kind.from_json(value)
    if issubclass(kind, enum.Enum):
        return lambda value, where: _read_enum(kind, value, where)
    return _read_text if kind is str else lambda value, where: _read_plain(kind, value, where)


def _tuple_reader(kinds: tuple[Any, ...]) -> Reader:
    readers = tuple(_reader(kind) for kind in kinds if kind is not Ellipsis)
    is_open = kinds[-1] is Ellipsis
    is_pairs = is_open and kinds[0] == tuple[str, str]

    def read(value: object, where: str) -> tuple[object, ...]:
        if is_pairs and (pairs := _read_plain_pairs(value)) is not None:
            return pairs
        if not isinstance(value, list | tuple):
            raise JobError(f"{where} must be a list, not {_kind_name(value)}")
        each = readers * len(value) if is_open else readers
        if len(each) != len(value):
            raise JobError(f"{where} must have {len(each)} items, not {len(value)}")
        try:
            return tuple([one(item, where) for one, item in zip(each, value, strict=True)])
        except JobError:  # only now is it worth counting which
            for i, (one, item) in enumerate(zip(each, value, strict=True)):
                one(item, f"{where}[{i}]")
            raise

    return read


def _read_plain_pairs(value: object) -> tuple[tuple[object, ...], ...] | None:
    """A list of pairs of ASCII texts, as a game's moves mostly are; None for anything else.

    They are looked at all at once: one by one they are most of what it takes to read a report.
    """
    if type(value) is not list or not set(map(type, value)) <= {list} or not set(map(len, value)) <= {2}:
        return None
    texts = list(itertools.chain.from_iterable(value))
    if not set(map(type, texts)) <= {str} or not "".join(texts).isascii():
        return None
    return tuple(map(tuple, value))


def _read_enum(kind: type[enum.Enum], value: object, where: str) -> enum.Enum:
    try:
        return kind(value)
    except ValueError:
        known = ", ".join(repr(member.value) for member in kind)
        raise JobError(f"{where} must be one of {known}, not {value!r}") from None


def _read_text(value: object, where: str) -> object:
    """Most of a report are short texts of one byte a character."""
    return value if type(value) is str and value.isascii() else _read_plain(str, value, where)


def _read_plain(kind: type, value: object, where: str) -> object:
    if type(value) is not kind:
        raise JobError(f"{where} must be {_KIND_NAMES[kind]}, not {_kind_name(value)}")
    if isinstance(value, str) and not _is_encodable(value):
        raise JobError(f"{where} holds a lone surrogate, which no text does")
    return value


def _is_encodable(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


_KIND_NAMES = {str: "text", int: "a whole number", bool: "true or false"}


def _kind_name(value: object) -> str:
    return "null" if value is None else _KIND_NAMES.get(type(value), type(value).__name__)
