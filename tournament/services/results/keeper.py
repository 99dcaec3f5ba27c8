"""The record keeper: the only writer of results.

Reports may come twice, late, or without a request. A result is stored once, for the game's current
attempt, under the ladder's lock, together with its record, its logs and the change of ratings; every other
report is acknowledged, counted and ignored. No content of a message makes a function here raise.
"""

from __future__ import annotations

import datetime
import logging
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from django.db import DataError, IntegrityError, transaction
from django.utils import timezone

from engines.records import Termination, clean_text
from engines.timecontrol import MAX_LIMIT
from engines.visible import visible
from tournament import models
from tournament.models import Attempt, BotVersion, Game, LiveGame, Tournament
from tournament.services.dispatch.attempts import give_back, halt_after_voids
from tournament.services.dispatch.leases import renew
from tournament.services.dispatch.workers import find_worker, judge, stop_again
from tournament.services.results.records import WrongReport, read_record
from tournament.services.results.storing import MAX_WORKER, Arrival, may_be_rated, store_all, store_logs
from workers.jobs import BOTH_UNABLE, GameReport, JobError, JsonValue, Progress, Release
from workers.logs import FIELDS, log_ids
from workers.service.messaging.heartbeat import name_of

MAX_TOKEN, MAX_COMMENT, MAX_LIVE_MOVES = 100, 1000, 20_000
"""Limits for the progress of a game, in characters and moves."""

_LOOKED_AT = (
    *("job", "assigned", "sent_at", "ended_at", "end"),
    *(f"game__{name}" for name in ("key", "number", "tournament_id", "ladder_id", "white_id", "black_id")),
    *(f"game__pairing__{name}" for name in ("round", "opening", "fen", "seed")),
)
"""Fields of an attempt that identify its message and make its game's record."""

log = logging.getLogger("tournament.keeper")

Message = TypeVar("Message", bound=JsonValue)


@dataclass(frozen=True, slots=True)
class Recorded:
    """Stored; ``sequence`` is the game's completion sequence in its ladder."""

    game: int
    sequence: int


@dataclass(frozen=True, slots=True)
class GivenBack:
    """No result: the game waits to be played again, or was halted."""

    evidence: str


@dataclass(frozen=True, slots=True)
class IgnoredReport:
    """Without effect: ``foreign`` (no such attempt of this worker), ``repeat`` or ``late``."""

    reason: str


@dataclass(frozen=True, slots=True)
class VoidedGame:
    """A report without a result; ``evidence`` holds the reason, in one sentence."""

    attempt: Attempt
    report: GameReport
    evidence: str


def read(kind: type[Message], message: object) -> Message | None:
    """Parse a message; an unreadable one is logged and counted, and None is returned."""
    try:
        return kind.from_json(message)
    except JobError as error:
        log.warning("a message cannot be read: %s", error)
        _ignore("unreadable")
        return None


def record(report: GameReport) -> Recorded | GivenBack | IgnoredReport:
    """Store a game's report; may be repeated. The report is not trusted before it is verified."""
    return record_all([report])[0]


def record_all(reports: Sequence[GameReport]) -> list[Recorded | GivenBack | IgnoredReport]:
    """Store the reports of one message in their order; returns the outcome of each.

    Results are stored together; if the database refuses one of them, each is stored alone.
    """
    now = timezone.now()
    attempts = _find_attempts(reports)
    renew({attempt.job for attempt in attempts if isinstance(attempt, Attempt)}, now)
    answers: dict[int, Recorded | GivenBack | IgnoredReport] = {}
    arrivals: dict[uuid.UUID, tuple[int, Arrival]] = {}
    voids: list[tuple[int, VoidedGame]] = []
    for number, (attempt, report) in enumerate(zip(attempts, reports, strict=True)):
        if isinstance(attempt, IgnoredReport):
            answers[number] = attempt
        elif attempt.pk in arrivals:
            continue  # a repeat in the same message: handled once the first is stored
        elif isinstance(looked_at := _look_at(attempt, report), Arrival):
            arrivals[attempt.pk] = number, looked_at
        else:
            voids.append((number, looked_at))
    stored = _store([arrival for _, arrival in arrivals.values()], now)
    for number, arrival in arrivals.values():
        sequence = stored.get(arrival.game.pk)
        answers[number] = _ignore("late") if sequence is None else Recorded(arrival.game.pk, sequence)
    _log_ends(attempts, answers)
    for number, void in voids:  # after the results, which count in favour of a worker that has both
        with log_ids(job=str(void.attempt.job), game=void.attempt.game.key):
            answers[number] = _give_back(void, now)
    return [answers[number] if number in answers else record(report) for number, report in enumerate(reports)]


def _log_ends(
    attempts: Sequence[Attempt | IgnoredReport], answers: Mapping[int, Recorded | GivenBack | IgnoredReport]
) -> None:
    """Write a line for each job with recorded games."""
    recorded: dict[uuid.UUID, list[Attempt]] = {}
    for number, attempt in enumerate(attempts):
        if isinstance(attempt, Attempt) and isinstance(answers.get(number), Recorded):
            recorded.setdefault(attempt.job, []).append(attempt)
    for job, ended in recorded.items():
        games = [attempt.game.key for attempt in ended]
        told = {"job": str(job), "worker": ended[0].assigned, "games": games}
        log.info("%d games of job %s are recorded", len(games), job, extra={FIELDS: told})


def progress(message: Progress) -> bool:
    """Renew the lease and show the moves; False if the attempt is not the game's current one.

    If the attempt has ended, because the tournament was paused or the lease was lost, its worker must stop.
    """
    attempt = _find_attempt(message)
    if isinstance(attempt, IgnoredReport):
        if attempt.reason == "late" and (pk := _attempt_id(message.attempt)):
            stop_again(message.worker, Attempt.objects.get(pk=pk))
        return False
    now = timezone.now()
    with transaction.atomic():
        if not renew([attempt.job], now):
            return False
        started = Attempt.objects.filter(pk=attempt.pk, started_at__isnull=True)
        started.update(started_at=now, worker=visible(message.worker, MAX_WORKER))
        shown = {
            "moves": _shown_moves(message),
            "white_ms": _clock(message.white_ms),
            "black_ms": _clock(message.black_ms),
            "updated_at": now,
        }
        LiveGame.objects.update_or_create(game_id=attempt.game_id, defaults=shown)
    return True


def release(message: Release) -> GivenBack | IgnoredReport:
    """Make a game wait again that a stopping worker gives back; counts against no game and no worker."""
    attempt = _find_attempt(message)
    if isinstance(attempt, IgnoredReport):
        return attempt
    if give_back(attempt, Attempt.End.RELEASED, timezone.now()):
        return GivenBack("")
    return _ignore("late")


# Finding a message's attempt


def _find_attempt(message: Progress | Release) -> Attempt | IgnoredReport:
    return _find_attempts([message])[0]


def _find_attempts(messages: Sequence[GameReport | Progress | Release]) -> list[Attempt | IgnoredReport]:
    """The open attempt that each message names, with everything needed to record its game."""
    named = [_attempt_id(message.attempt) for message in messages]
    known = Attempt.objects.select_related("game__pairing").only(*_LOOKED_AT).in_bulk(filter(None, named))
    _attach([attempt.game for attempt in known.values()])
    found = [known.get(pk) if pk else None for pk in named]
    return [_open_attempt(attempt, message) for attempt, message in zip(found, messages, strict=True)]


def _attach(games: Sequence[Game]) -> None:
    """Set the players and tournaments of games, which the games of one message mostly share."""
    players = {pk for game in games for pk in (game.white_id, game.black_id)}
    versions = BotVersion.objects.select_related("bot").in_bulk(players)
    tournaments = Tournament.objects.in_bulk({game.tournament_id for game in games})
    for game in games:
        game.white, game.black = versions[game.white_id], versions[game.black_id]
        game.tournament = tournaments[game.tournament_id]


def _attempt_id(text: str) -> uuid.UUID | None:
    try:
        return uuid.UUID(text)
    except ValueError:
        return None


def _open_attempt(
    attempt: Attempt | None, message: GameReport | Progress | Release
) -> Attempt | IgnoredReport:
    """The attempt, if it is open and was sent to the worker that the message names."""
    if attempt is None or attempt.game.key != message.key or attempt.assigned != name_of(message.worker):
        return _ignore("foreign")
    if attempt.ended_at is not None:
        return _ignore("repeat" if attempt.end == Attempt.End.RECORDED else "late")
    return attempt


def count_ignored(reason: str, number: int = 1) -> None:
    """Count messages that have no effect."""
    with transaction.atomic():
        models.Ignored.objects.count_more(reason, timezone.now(), number)


def _ignore(reason: str) -> IgnoredReport:
    count_ignored(reason)
    return IgnoredReport(reason)


# Handling a message's content


def _look_at(attempt: Attempt, report: GameReport) -> Arrival | VoidedGame:
    """Verify a report: a result that may be stored, or the reason why there is none."""
    if report.termination == Termination.VOID:
        return VoidedGame(attempt, report, clean_text(report.evidence or "void without evidence"))
    try:
        record, text = read_record(attempt.game, report, rated=may_be_rated(attempt.game))
    except WrongReport as error:
        log.error("the report of %s by %s is wrong: %s", report.key, report.worker, error)
        return VoidedGame(attempt, report, clean_text(f"the worker's report was wrong: {error.faults[0]}"))
    return Arrival(attempt, report, record, text)


def _give_back(void: VoidedGame, now: datetime.datetime) -> GivenBack | IgnoredReport:
    """Give a game back without a result; if it halts, store the logs, which show the authors the reason.

    Reports of a quarantined worker count against no game. Each step is a transaction of its own, because a
    quarantine concerns games of other tournaments (``services.locks``).
    """
    attempt, report, evidence = void.attempt, void.report, void.evidence
    worker = find_worker(report.worker)
    counts = worker is None or not worker.is_quarantined
    # Two different bots are tried again, because the machine may have stalled; a validation is not.
    is_validation = attempt.game.tournament.kind == Tournament.Kind.VALIDATION
    hopeless = counts and is_validation and evidence.startswith(BOTH_UNABLE)
    name = visible(report.worker, MAX_WORKER)
    if not give_back(attempt, Attempt.End.VOID, now, evidence=evidence, counts=counts, worker=name):
        return _ignore("late")
    if worker is not None:
        judge(worker, now)  # may discount this void from its game
    with transaction.atomic():
        if halt_after_voids(attempt.game, evidence, hopeless=hopeless):
            store_logs([(attempt.game, report)], now)
    return GivenBack(evidence)


def _store(arrivals: Sequence[Arrival], now: datetime.datetime) -> dict[int, int]:
    """Store results; returns completion sequences by game. A result that cannot be stored stops no other."""
    if not arrivals:
        return {}
    try:
        return store_all(arrivals, now)
    except (DataError, IntegrityError):
        if len(arrivals) == 1:
            raise
        log.exception("%d results cannot be stored together, each is stored alone", len(arrivals))
    stored: dict[int, int] = {}
    for arrival in arrivals:
        try:
            stored |= store_all([arrival], now)
        except (DataError, IntegrityError):
            log.exception("the result of %s cannot be stored", arrival.game.key)
    return stored


def _clock(shown_ms: int | None) -> int | None:
    """A clock limited to the range of its column."""
    return None if shown_ms is None else min(max(shown_ms, -MAX_LIMIT), MAX_LIMIT)


def _shown_moves(message: Progress) -> list[list[str]]:
    """The moves for the live page, cleaned and bounded: they are not verified yet."""
    moves = message.moves[:MAX_LIVE_MOVES]
    return [[visible(token, MAX_TOKEN), visible(comment, MAX_COMMENT)] for token, comment in moves]
