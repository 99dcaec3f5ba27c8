"""Builds a record with the headers that a game needs, from a few groups of values."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from engines.records.headers import FIRST_RULES, UNTERMINATED
from engines.records.model import Record, RecordMove
from engines.records.writer import clean_text
from engines.rules.base import Reason, Result
from engines.rules.registry import find_game
from engines.terminations import Fault, Termination

UNKNOWN = "?"
UNKNOWN_DATE = "????.??.??"


class RecordPlayers(NamedTuple):
    """The names and versions of both players."""

    white: str
    black: str
    white_version: str = ""
    black_version: str = ""


class RecordSettings(NamedTuple):
    """What a game was played under: the ladder's code, the time control, the start and the ply limit.

    None as ``fen`` is the initial position; None as ``ply_limit`` is the game's own limit.
    """

    game: str
    time_control: str
    fen: str | None = None
    ply_limit: int | None = None


class RecordOutcome(NamedTuple):
    """How a game ended. ``reason`` is only written if the rules ended the game."""

    result: Result
    termination: Termination | None
    """None: the game goes on."""
    fault: Fault
    reason: Reason = Reason.NONE
    white_score: int | None = None
    black_score: int | None = None
    evidence: str = ""


class RecordEvent(NamedTuple):
    """The event that a game belongs to, and its key there. ``date`` is ``YYYY.MM.DD``."""

    event: str = ""
    site: str = ""
    date: str = UNKNOWN_DATE
    round_name: str = ""
    game_id: str = ""


NO_EVENT = RecordEvent()


def build_record(
    moves: Iterable[RecordMove],
    *,
    players: RecordPlayers,
    settings: RecordSettings,
    outcome: RecordOutcome,
    event: RecordEvent = NO_EVENT,
    more: Iterable[tuple[str, str]] = (),
) -> Record:
    """A record with all headers that it needs; see ``build_headers``."""
    played = tuple(moves)
    given = sum(move.book for move in played)
    headers = build_headers(
        len(played), given, players=players, settings=settings, outcome=outcome, event=event, more=more
    )
    return Record(headers, played, outcome.result)


def build_headers(
    plies: int,
    given: int,
    *,
    players: RecordPlayers,
    settings: RecordSettings,
    outcome: RecordOutcome,
    event: RecordEvent = NO_EVENT,
    more: Iterable[tuple[str, str]] = (),
) -> tuple[tuple[str, str], ...]:
    """The headers of a game of ``plies``, the first ones ``given``; those with a default value are left out.

    Empty texts become ``?``. The evidence is shortened and cleaned (``clean_text``). ``more`` are further
    headers. Raises ``UnknownGame``; ``format_record`` finds all other errors.
    """
    ladder = find_game(settings.game)
    is_start = settings.fen is None or settings.fen == str(ladder.position.initial())
    is_usual_limit = settings.ply_limit in (None, ladder.ply_limit)
    headers: list[tuple[str, str | None]] = [
        ("Event", event.event or UNKNOWN),
        ("Site", event.site or UNKNOWN),
        ("Date", event.date),
        ("Round", event.round_name or UNKNOWN),
        ("White", players.white or UNKNOWN),
        ("Black", players.black or UNKNOWN),
        ("Result", str(outcome.result)),
        ("Game", settings.game),
        ("RulesVersion", None if ladder.rules_version == FIRST_RULES else str(ladder.rules_version)),
        ("Termination", str(outcome.termination or UNTERMINATED)),
        ("Reason", str(outcome.reason) if outcome.termination is Termination.RULES else None),
        ("Fault", str(outcome.fault)),
        ("PlyCount", str(plies)),
        ("PlyLimit", None if is_usual_limit else str(settings.ply_limit)),
        ("TimeControl", settings.time_control),
        ("WhiteVersion", players.white_version or UNKNOWN),
        ("BlackVersion", players.black_version or UNKNOWN),
        ("GameId", event.game_id or UNKNOWN),
        ("FEN", None if is_start else settings.fen),
        ("SetUp", None if is_start else "1"),
        ("OpeningPlies", str(given) if given else None),
        ("WhiteScore", None if outcome.white_score is None else str(outcome.white_score)),
        ("BlackScore", None if outcome.black_score is None else str(outcome.black_score)),
        ("Evidence", clean_text(outcome.evidence) or None),
    ]
    return (*((name, value) for name, value in headers if value is not None), *more)
