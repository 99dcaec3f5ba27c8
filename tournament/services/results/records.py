"""Makes the published record from a game's report, and verifies it against the schedule and the rules.

Also makes those of people's games against bots.
"""

from __future__ import annotations

import datetime
from dataclasses import replace
from functools import lru_cache

from django.conf import settings

from engines.formats.rated import Unrated
from engines.records import (
    BOOK,
    Fault,
    Record,
    RecordError,
    RecordEvent,
    RecordMove,
    RecordOutcome,
    RecordPlayers,
    RecordSettings,
    Termination,
    build_record,
    format_record,
    parse_note,
    replay_record,
)
from engines.records.seeds import seed_header
from engines.rules.base import Reason, Result
from tournament.models import Game, PersonGame
from workers.jobs import GameReport
from workers.play.environment import environment_headers

NOT_RATED = ("Rated", "no")
"""The header of an unrated game; a rebuild from records leaves the game out."""


class WrongReport(ValueError):
    """A report that contradicts the schedule or the rules; ``faults`` are sentences, at least one."""

    def __init__(self, faults: list[str]) -> None:
        super().__init__("; ".join(faults))
        self.faults = faults


def record_of(game: Game, report: GameReport, unrated: Unrated | None) -> Record:
    """The record to publish. Players, versions and limits come from the site's tables, not from the worker.

    Raises ``ValueError`` for an unknown termination or fault, or a bad time.
    """
    return build_record(
        [_move(token, comment) for token, comment in report.moves],
        players=RecordPlayers(
            game.white.bot.name, game.black.bot.name, str(game.white.number), str(game.black.number)
        ),
        settings=RecordSettings(
            game=game.ladder_id,
            time_control=game.tournament.time_control,
            fen=game.pairing.fen or None,
            ply_limit=game.tournament.ply_limit,
        ),
        outcome=RecordOutcome(
            result=report.result,
            termination=Termination(report.termination),
            fault=Fault(report.fault),
            reason=report.reason,
            white_score=report.white_score,
            black_score=report.black_score,
            evidence=report.evidence,
        ),
        event=RecordEvent(
            event=game.tournament.name,
            site=settings.SITE,
            date=parse_time(report.started).strftime("%Y.%m.%d"),
            round_name=str(game.pairing.round),
            game_id=game.key,
        ),
        more=(
            *environment_headers(report.walls, report.speed, report.clock),
            *(_not_rated(unrated) if unrated else ()),
            seed_header(game.pairing.seed, game.key),
        ),
    )


def read_record(game: Game, report: GameReport, unrated: Unrated | None) -> tuple[Record, str]:
    """The verified record, as a value and as PGN; raises ``WrongReport``."""
    try:
        record = record_of(game, report, unrated)
        parse_time(report.finished)
        text = format_record(record)  # has checked the headers
    except (ValueError, RecordError) as error:
        raise WrongReport([str(error)]) from error
    faults = [disagreement.sentence for disagreement in replay_record(record)]
    opening = tuple(move.token for move in record.moves if move.book)
    if opening != game.pairing.opening_moves:
        faults.append(f"the given moves are {' '.join(opening)!r}, not {game.pairing.opening!r}")
    if faults:
        raise WrongReport(faults)
    return record, text


def person_record(game: PersonGame) -> Record:
    """The record of a person's game against a bot, marked as unrated; one that is not over says so.

    A bot that could not go on has the termination ``crash``, and its fault as the evidence.
    """
    person, bot = (game.person_name, ""), (game.version.bot.name, str(game.version.number))
    white, black = (person, bot) if game.is_white else (bot, person)
    ends = {
        PersonGame.End.RULES: (Termination.RULES, Fault.NONE),
        PersonGame.End.RESIGNED: (Termination.RESIGNATION, Fault.NONE),
        PersonGame.End.FAILED: (Termination.CRASH, Fault.of(game.person_side.other)),
        PersonGame.End.VOID: (Termination.VOID, Fault.INFRASTRUCTURE),
        PersonGame.End.OPEN: (None, Fault.NONE),
    }
    end = PersonGame.End(game.end)
    termination, fault = ends[end]
    return build_record(
        [RecordMove(token) for token in game.moves.split()],
        players=RecordPlayers(white[0], black[0], white[1], black[1]),
        settings=RecordSettings(game.ladder_id, f"{game.ms / 1000:g}/move"),
        outcome=RecordOutcome(
            Result(game.result),
            termination,
            fault,
            Reason(game.why) if end == PersonGame.End.RULES else Reason.NONE,
            evidence="" if end == PersonGame.End.RULES else game.why,
        ),
        event=RecordEvent(
            event="A person against a bot",
            site=settings.SITE,
            date=game.started_at.strftime("%Y.%m.%d"),
            game_id=f"person/{game.pk}",
        ),
        more=(("Person", game.person_side.name.lower()), *_taken_back(game), *_not_rated(Unrated.PERSON)),
    )


def _not_rated(why: Unrated) -> tuple[tuple[str, str], ...]:
    return NOT_RATED, ("Unrated", why)


def _taken_back(game: PersonGame) -> tuple[tuple[str, str], ...]:
    """A header that says how often the person took a move back; none if never."""
    return (("TakenBack", str(game.taken_back)),) if game.taken_back else ()


def as_repeat(record: Record) -> Record:
    """The same record marked as unrated, because the game repeats another."""
    *others, seed = record.headers
    return replace(record, headers=(*others, *_not_rated(Unrated.REPEAT), seed))


def parse_time(text: str) -> datetime.datetime:
    """Parse a report's time; one without a zone is UTC. Raises ``ValueError``."""
    time = datetime.datetime.fromisoformat(text)
    try:
        return time.astimezone(datetime.UTC) if time.tzinfo else time.replace(tzinfo=datetime.UTC)
    except OverflowError:
        raise ValueError(f"{text!r} is not a valid time") from None


@lru_cache(maxsize=4096)
def _move(token: str, comment: str) -> RecordMove:
    """Cached: games of the same fast players share many moves and comments."""
    return RecordMove(token, book=True) if comment == BOOK else RecordMove(token, parse_note(comment))
