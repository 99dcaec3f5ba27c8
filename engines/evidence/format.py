"""The files of an archive of evidence, a frozen dataclass for each: the site writes them, anybody reads them.

``manifest.json`` lists every other file with its SHA-256, except ``manifest.json.sig``. ``event.json`` has
the terms. The others are JSON lines in a fixed order, ``records.pgn`` and the published bundles.

A version is named ``NAME/NUMBER``, a game by its key, the header ``GameId`` of its record. Moments are
ISO 8601 in UTC. Numbers are as stored: a float has the shortest decimal that reads as the same bits.
"""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from typing import BinaryIO, Final

from engines.evidence.strict_json import FormatError, Row, read_json, write_json
from engines.rules.base import quote

FORMAT: Final = 1
"""The number of this format, ``EvidenceManifest.evidence``."""

MANIFEST: Final = "manifest.json"
SIGNATURE: Final = "manifest.json.sig"
"""The SSH signature of the bytes of ``MANIFEST``, with the namespace ``duarena``; the only file that is not
listed there."""
EVENT: Final = "event.json"
RECORDS: Final = "records.pgn"
BUNDLES: Final = "bundles/"
"""The folder of the published bundles, each named by its SHA-256 and ``.zip``."""

MAX_LINE: Final = 1024 * 1024
"""Bytes of a line of JSON."""
MAX_DOCUMENT: Final = 16 * 1024 * 1024
"""Bytes of ``MANIFEST`` and of ``EVENT``, which take up to thirty times as much memory."""


class EvidenceKind(StrEnum):
    """What an archive is about."""

    TOURNAMENT = "tournament"
    LADDER = "ladder"


@dataclass(frozen=True, slots=True)
class EvidenceFile:
    """A file of the archive."""

    sha256: str
    bytes: int


@dataclass(frozen=True, slots=True)
class EvidenceManifest:
    """``MANIFEST``."""

    evidence: int
    """``FORMAT``."""
    kind: EvidenceKind
    site: str
    """As in the header ``Site`` of its records."""
    name: str
    """The tournament in its address, or the ladder's code."""
    title: str
    revision: int
    """From 1."""
    previous: str | None
    """The SHA-256 of the manifest of the revision before; None for the first."""
    reason: str
    """Why there is a new revision."""
    at: str
    """The moment of the state that is published."""
    release: str
    """The site's."""
    files: Mapping[str, EvidenceFile]
    """All other files by path, sorted."""


@dataclass(frozen=True, slots=True)
class LadderConstants:
    """The rules of a ladder's game, and the constants of its ratings."""

    code: str
    rules_version: int
    ply_limit: int
    """The ladder's own; see ``EvidenceEvent.ply_limit``."""
    mu: float
    sigma: float
    beta: float
    tau: float
    """0 for a tournament's own ratings."""
    new_version_sigma: float
    draw_probability: float
    draw_margin: float


class EventState(StrEnum):
    """Where a tournament stands; the evidence of one is made when it is over."""

    RUNNING = "running"
    PAUSED = "paused"
    FINISHED = "finished"
    HALTED = "halted"
    """It is over, but games could not be played."""
    CANCELLED = "cancelled"


@dataclass(frozen=True, slots=True)
class EvidenceEvent:
    """The terms of a tournament, as they were at its end."""

    name: str
    """As in its address."""
    title: str
    """As in the header ``Event`` of its records."""
    format: str
    """``round-robin``, ``gauntlet``, ``swiss`` or ``knock-out``; of a ladder also ``ladder`` for the
    matchmaker's pairs, and ``version-test``."""
    state: EventState
    ladders: tuple[str, ...]
    seed: int
    pairs: int
    rounds: int
    extra_pairs: int
    opening_plies: int
    book: Mapping[str, tuple[str, ...]]
    """Openings by ladder, each as moves with spaces between them; empty if they are drawn at random."""
    time_control: str
    ply_limit: int | None
    """None: the ladder's."""
    rated: bool
    off_terms: Mapping[str, str]
    """The ladders on whose terms it is not played, each with the word of ``Unrated`` why."""
    rated_off_terms: bool
    seeds: Mapping[str, tuple[str, ...]]
    """Versions by ladder, the best seed first; empty unless its rounds are drawn one after another."""
    absent: Mapping[str, Mapping[str, tuple[str, ...]]]
    """By ladder and round, or cycle from 0, the versions without whom it was drawn."""
    criteria: tuple[str, ...]
    """The criteria of the order of its players, the first one first."""
    started: str | None
    finished: str | None


@dataclass(frozen=True, slots=True)
class EvidenceDocument:
    """``EVENT``: the ladders, and the tournament.

    Of a ladder ``events`` are all tournaments whose games are recorded on it, in the order of their names;
    what the schedule of each had beyond those games is not part of the archive, nor are its ``book``,
    ``seeds`` and ``absent``.
    """

    ladders: tuple[LadderConstants, ...]
    events: tuple[EvidenceEvent, ...]


@dataclass(frozen=True, slots=True)
class EvidenceEntry:
    """A version that takes part, in the order of entry."""

    number: int
    """In the pairing tables, from 1."""
    version: str
    ladders: tuple[str, ...]
    """Those of the tournament that it plays."""
    withdrawn: bool
    """Now."""


@dataclass(frozen=True, slots=True)
class EvidenceVersion:
    """A version that played, in the order of their names."""

    version: str
    owner: str | None
    """None for the site's samples."""
    bundle_sha256: str
    bytes: int
    published: bool
    """Whether its bundle is in the archive."""
    licence: str


class EvidenceState(StrEnum):
    """What became of a game."""

    WAITING = "waiting"
    DONE = "done"
    HALTED = "halted"
    CANCELLED = "cancelled"


@dataclass(frozen=True, slots=True)
class EvidenceGame:
    """A game of the schedule: of a tournament in its order, of a ladder in the order of ``sequence``."""

    game: str
    event: str
    """The ``name`` of the ``EvidenceEvent``."""
    ladder: str
    round: int
    pairing: int
    """The number in the round, over all ladders, from 1."""
    number: int
    """1 or 2 in the pair; in the second the colours are swapped."""
    white: str
    black: str
    seed: int
    """Of the pair: with the game's key it gives the header ``Seed`` of the record."""
    opening: str
    """Moves with spaces between them."""
    position: str
    """Where the game begins; empty for the initial position."""
    state: EvidenceState
    sequence: int | None
    """The place among the ladder's recorded games, from 1; None unless it is done."""
    fault: str
    """Of a halted game ``white`` or ``black``, who lost it without playing; empty: half a point for both."""
    reason: str
    """Why it was halted, as published."""
    annulled: bool
    rated: bool
    """Whether it counts in the ladder's ratings now."""
    worker: str
    """Who played it; empty unless it is done."""
    started: str | None
    """By the worker's clock; None unless it is done."""
    finished: str | None
    """The same."""


class AttemptEnd(StrEnum):
    """How an attempt without a result ended."""

    VOID = "void"
    LOST = "lost"


@dataclass(frozen=True, slots=True)
class EvidenceAttempt:
    """An attempt to play a game that counts nowhere, in the order of their moments."""

    game: str
    end: AttemptEnd
    reason: str
    at: str
    worker: str


class CorrectionEffect(StrEnum):
    """How a game counts otherwise than its record says; see RECORDS.md."""

    ANNULLED = "annulled"
    RATED = "rated"
    UNRATED = "unrated"


@dataclass(frozen=True, slots=True)
class EvidenceCorrection:
    """A correction as published, in the order of the schedule."""

    game: str
    effect: CorrectionEffect
    reason: str
    at: str


@dataclass(frozen=True, slots=True)
class EvidenceWorker:
    """A worker that recorded games of the schedule, in the order of their names."""

    worker: str
    release: str
    """Empty if the site does not know it any more."""
    sandbox: str
    """The same."""
    games: int


@dataclass(frozen=True, slots=True)
class EvidenceStanding:
    """A row of the standings, as ``standings.json`` of the tournament has it; by ladder, the best first."""

    ladder: str
    rank: int | None
    version: str
    points: float
    games: int
    won: int
    drawn: int
    lost: int
    not_played: int
    byes: int
    buchholz: float
    sonneborn_berger: float
    matches_won: int
    performance: int | None
    rating: float | None
    withdrawn: bool


@dataclass(frozen=True, slots=True)
class EvidenceCross:
    """A row of ``crosstable.json``, in the order of the standings."""

    ladder: str
    version: str
    opponent: str
    points: float
    games: int
    won: int
    drawn: int
    lost: int
    not_played: int


@dataclass(frozen=True, slots=True)
class EvidencePairing:
    """A row of ``pairings.json`` of a Swiss or a knock-out, from the first round on.

    The fields of a side are None until it is known.
    """

    ladder: str
    round: int
    seed: int | None
    version: str | None
    points: float | None
    opponent_seed: int | None
    opponent: str | None
    opponent_points: float | None
    winner: str | None
    """The version that won a decided match of a knock-out."""
    note: str


@dataclass(frozen=True, slots=True)
class EvidenceRating:
    """A version's rating by a tournament's games, or on a ladder; by ladder, in the order of the names."""

    ladder: str
    version: str
    mu: float
    sigma: float
    wins: int
    draws: int
    losses: int
    published: float
    """mu - 3 sigma."""


@dataclass(frozen=True, slots=True)
class EvidenceStrength:
    """An estimate in Elo with its 95 % interval: White's advantage, then the versions by their names."""

    ladder: str
    version: str | None
    """None: White's advantage."""
    elo: float
    error: float | None
    """None: unknown."""


_OF_BOTH: Final[Mapping[str, type]] = {
    "versions.jsonl": EvidenceVersion,
    "schedule.jsonl": EvidenceGame,
    "attempts.jsonl": EvidenceAttempt,
    "corrections.jsonl": EvidenceCorrection,
    "workers.jsonl": EvidenceWorker,
    "tables/ratings.jsonl": EvidenceRating,
}
TABLES: Final[Mapping[EvidenceKind, Mapping[str, type]]] = {
    EvidenceKind.TOURNAMENT: {
        "entries.jsonl": EvidenceEntry,
        **_OF_BOTH,
        "tables/standings.jsonl": EvidenceStanding,
        "tables/crosstable.jsonl": EvidenceCross,
        "tables/pairings.jsonl": EvidencePairing,
    },
    EvidenceKind.LADDER: {**_OF_BOTH, "tables/estimate.jsonl": EvidenceStrength},
}
"""The files of JSON lines of each kind of archive, which may be empty, with the type of a line."""


def format_version(bot: str, number: int) -> str:
    """``NAME/NUMBER``; a name may have ``/`` too."""
    return f"{bot}/{number}"


@lru_cache(maxsize=4096)
def parse_version(text: str) -> tuple[str, int]:
    """The bot and the number; raises ``FormatError``."""
    bot, _, number = text.rpartition("/")
    if not bot or not (number.isascii() and number.isdigit() and 0 < len(number) < 10):
        raise FormatError(f"{text!r} is not NAME/NUMBER of a version")
    return bot, int(number)


def parse_moment(text: str, name: str) -> datetime.datetime:
    """In UTC; raises ``FormatError``."""
    try:
        moment = datetime.datetime.fromisoformat(text)
        return moment.replace(tzinfo=moment.tzinfo or datetime.UTC).astimezone(datetime.UTC)
    except (ValueError, OverflowError):
        raise FormatError(f"{name} is {quote(text)}, not a moment") from None


def write_document(document: EvidenceManifest | EvidenceDocument) -> bytes:
    """The bytes of ``MANIFEST`` or ``EVENT``."""
    return write_json(document, indent=1).encode()


def read_document(kind: type[Row], content: bytes, name: str) -> Row:
    """The content of the file ``name``; raises ``FormatError`` that begins with it."""
    try:
        return read_json(kind, _decoded(content))
    except FormatError as error:
        raise FormatError(f"{name}: {error}") from None


def write_line(row: object) -> bytes:
    """A line of a file of ``TABLES``."""
    return write_json(row).encode()


def read_lines(kind: type[Row], file: BinaryIO, name: str) -> Iterator[Row]:
    """The rows of the file ``name``; raises ``FormatError`` that begins with it and the line."""
    for number, line in enumerate(_split(file), 1):
        try:
            if len(line) > MAX_LINE:
                raise FormatError(f"over {MAX_LINE} bytes")
            if not line.endswith(b"\n"):
                raise FormatError("the last line has no end")
            yield read_json(kind, _decoded(line))
        except FormatError as error:
            raise FormatError(f"{name}:{number}: {error}") from None


def _split(file: BinaryIO) -> Iterable[bytes]:
    """The lines, each with its end; one that is too long is cut after ``MAX_LINE`` + 1 bytes."""
    return iter(lambda: file.readline(MAX_LINE + 1), b"")


def _decoded(content: bytes) -> str:
    try:
        return content.decode()
    except UnicodeDecodeError as error:
        raise FormatError(f"byte {error.start} is not UTF-8") from None
