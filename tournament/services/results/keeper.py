"""The record keeper: the only writer of results.

It reads the inbox, also reports of attempts that have ended meanwhile. A result is stored once, for the
game's current attempt, under the ladder's lock, together with its record, its logs and the change of ratings;
its report leaves the inbox in the same transaction. Every other report is counted and ignored. No content of
a report makes a function here raise.
"""

from __future__ import annotations

import datetime
import logging
import time
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from django.db import DataError, IntegrityError, InterfaceError, OperationalError, transaction
from django.utils import timezone

from engines.records import Termination, clean_text
from engines.visible import visible
from tournament import models
from tournament.models import Attempt, BotVersion, Game, InboxReport, Job, Tournament
from tournament.queues import ANY_GAME, announce, game_topic, ladder_topic, tournament_topic
from tournament.services.results.effects import Arrival
from tournament.services.results.records import WrongReport, read_record
from tournament.services.results.storing import MAX_WORKER, store_all, store_logs
from tournament.services.work.attempts import end_attempt, halt_after_failures
from tournament.services.work.judging import find_worker, judge
from workers.jobs import GameReport, name_of
from workers.logs import FIELDS, log_ids
from workers.messages import decode

AT_ONCE = 50
"""Reports that are stored together."""
NOT_STORED = "the report cannot be stored"
"""So begins the evidence of such a void."""

_LOOKED_AT = (
    *("job__worker", "sent_at", "ended_at", "end", "evidence"),
    *(f"game__{name}" for name in ("key", "number", "tournament_id", "ladder_id", "white_id", "black_id")),
    *(f"game__pairing__{name}" for name in ("round", "opening", "fen", "seed")),
)
"""Fields of an attempt that identify its report and make its game's record."""

log = logging.getLogger("tournament.keeper")


@dataclass(frozen=True, slots=True)
class Recorded:
    """Stored; ``sequence`` is the game's completion sequence in its ladder."""

    game: int
    sequence: int


@dataclass(frozen=True, slots=True)
class Voided:
    """No result: the game waits to be played again, or was halted. ``evidence`` is a sentence."""

    evidence: str


@dataclass(frozen=True, slots=True)
class IgnoredReport:
    """Without effect: ``foreign`` (no such attempt of this worker), ``repeat`` or ``late``."""

    reason: str


def record_inbox(seconds: float) -> bool:
    """Handle reports in the order in which they came, for about so long; returns whether any are left.

    It may be killed and repeated at any time.
    """
    until = time.monotonic() + seconds
    while rows := list(InboxReport.objects.order_by("pk")[:AT_ONCE]):
        _record_rows(rows)
        if time.monotonic() >= until:
            return InboxReport.objects.exists()
    return False


def _record_rows(rows: Sequence[InboxReport]) -> None:
    """Handle these reports and take them out of the inbox, whatever they hold."""
    left = {row.pk for row in rows}
    try:
        ends = record_all([decode(GameReport, row.content) for row in rows])
        left -= {row.pk for row, end in zip(rows, ends, strict=True) if isinstance(end, Recorded)}
    except (OperationalError, InterfaceError):
        raise  # the database cannot be used
    except Exception as error:
        if len(rows) > 1:
            for row in rows:
                _record_rows([row])
            return
        log.exception("the report of attempt %s cannot be stored", rows[0].attempt_id)
        _give_up(rows[0], f"{NOT_STORED} ({type(error).__name__})")
    if left:
        InboxReport.objects.filter(pk__in=left).delete()


def _give_up(row: InboxReport, why: str) -> None:
    """End the attempt of a report that cannot be stored."""
    attempt = Attempt.objects.select_related("game").get(pk=row.attempt_id)
    end_attempt(attempt, Attempt.End.VOID, timezone.now(), evidence=why)
    halt_after_failures(attempt.game, why)


def record(report: GameReport) -> Recorded | Voided | IgnoredReport:
    """Store a game's report; may be repeated. The report is not trusted before it is verified."""
    return record_all([report])[0]


def record_all(reports: Sequence[GameReport]) -> list[Recorded | Voided | IgnoredReport]:
    """Store reports in their order; returns the outcome of each.

    Results are stored together; if the database refuses one of them, each is stored alone.
    """
    now = timezone.now()
    attempts = _find_attempts(reports)
    answers: dict[int, Recorded | Voided | IgnoredReport] = {}
    arrivals: dict[uuid.UUID, tuple[int, Arrival]] = {}
    voids: list[tuple[int, Attempt, str]] = []
    for number, (attempt, report) in enumerate(zip(attempts, reports, strict=True)):
        if isinstance(attempt, IgnoredReport):
            answers[number] = attempt
        elif attempt.pk in arrivals:
            continue  # a repeat: handled once the first is stored
        elif attempt.ended_at is not None:
            voids.append((number, attempt, attempt.evidence))
        elif isinstance(looked_at := _look_at(attempt, report), Arrival):
            arrivals[attempt.pk] = number, looked_at
        else:
            voids.append((number, attempt, looked_at))
    stored, refused = _store([arrival for _, arrival in arrivals.values()], now)
    for number, arrival in arrivals.values():
        if arrival.attempt.pk in refused:
            voids.append((number, arrival.attempt, NOT_STORED))
            continue
        sequence = stored.get(arrival.game.pk)
        answers[number] = _ignore("late") if sequence is None else Recorded(arrival.game.pk, sequence)
    _log_ends(attempts, answers)
    for number, attempt, evidence in voids:  # after the results: they speak for a worker that has both
        with log_ids(job=str(attempt.job_id), game=attempt.game.key):
            answers[number] = _void(attempt, reports[number], evidence, now)
    _announce([attempt.game for attempt in attempts if isinstance(attempt, Attempt)])
    return [answers[number] if number in answers else record(report) for number, report in enumerate(reports)]


def _announce(games: Sequence[Game]) -> None:
    """Tell the pages that show these games, their tournaments and their ladders."""
    if games:
        topics = {ANY_GAME}
        for game in games:
            topics |= {
                game_topic(game.pk),
                tournament_topic(game.tournament_id),
                ladder_topic(game.ladder_id),
            }
        announce(*sorted(topics))


def _log_ends(
    attempts: Sequence[Attempt | IgnoredReport], answers: Mapping[int, Recorded | Voided | IgnoredReport]
) -> None:
    """Write a line for each job with recorded games."""
    recorded: dict[Job, list[Attempt]] = {}
    for number, attempt in enumerate(attempts):
        if isinstance(attempt, Attempt) and attempt.job and isinstance(answers.get(number), Recorded):
            recorded.setdefault(attempt.job, []).append(attempt)
    for job, ended in recorded.items():
        games = [attempt.game.key for attempt in ended]
        told = {"job": str(job), "worker": job.worker, "games": games}
        log.info("%d games of job %s are recorded", len(games), job, extra={FIELDS: told})


# Finding a report's attempt


def _find_attempts(reports: Sequence[GameReport]) -> list[Attempt | IgnoredReport]:
    """The open attempt that each report names, with everything needed to record its game."""
    named = [_attempt_id(report.attempt) for report in reports]
    known = (
        Attempt.objects.select_related("game__pairing", "job").only(*_LOOKED_AT).in_bulk(filter(None, named))
    )
    _attach([attempt.game for attempt in known.values()])
    found = [known.get(pk) if pk else None for pk in named]
    return [_open_attempt(attempt, report) for attempt, report in zip(found, reports, strict=True)]


def _attach(games: Sequence[Game]) -> None:
    """Set the players and tournaments of games, which games mostly share."""
    players = {pk for game in games for pk in (game.white_id, game.black_id)}
    versions = BotVersion.objects.select_related("bot").in_bulk(players)
    tournaments = Tournament.objects.defer("book").in_bulk({game.tournament_id for game in games})
    for game in games:
        game.white, game.black = versions[game.white_id], versions[game.black_id]
        game.tournament = tournaments[game.tournament_id]


def _attempt_id(text: str) -> uuid.UUID | None:
    try:
        return uuid.UUID(text)
    except ValueError:
        return None


def _open_attempt(attempt: Attempt | None, report: GameReport) -> Attempt | IgnoredReport:
    """The attempt, if it is open or unfinished and was taken by the worker that the report names."""
    job = attempt.job if attempt is not None else None
    if (
        attempt is None
        or attempt.game.key != report.key
        or job is None
        or job.worker != name_of(report.worker)
    ):
        return _ignore("foreign")
    if attempt.ended_at is not None and not _is_unfinished(attempt):
        return _ignore("repeat" if attempt.end == Attempt.End.RECORDED else "late")
    return attempt


def _is_unfinished(attempt: Attempt) -> bool:
    """Whether the keeper was killed after it had ended the attempt as void, before it judged the worker."""
    return attempt.end == Attempt.End.VOID and InboxReport.objects.filter(attempt=attempt.pk).exists()


def count_ignored(reason: str) -> None:
    """Count a report that has no effect."""
    with transaction.atomic():
        models.Ignored.objects.count_more(reason)


def _ignore(reason: str) -> IgnoredReport:
    count_ignored(reason)
    return IgnoredReport(reason)


# Handling a report's content


def _look_at(attempt: Attempt, report: GameReport) -> Arrival | str:
    """Verify a report: a result that may be stored, or the reason why there is none, in one sentence."""
    if report.termination == Termination.VOID:
        return clean_text(report.evidence or "void without evidence")
    try:
        form = attempt.game.tournament.format
        record, text = read_record(attempt.game, report, form.why_unrated(attempt.game))
    except WrongReport as error:
        log.error("the report of %s by %s is wrong: %s", report.key, report.worker, error)
        return clean_text(f"the worker's report was wrong: {error.faults[0]}")
    return Arrival(attempt, report, record, text, form.effects(attempt.game))


def _void(
    attempt: Attempt, report: GameReport, evidence: str, now: datetime.datetime
) -> Voided | IgnoredReport:
    """End an attempt without a result; if its game halts, store the logs, which show authors the reason.

    Reports of a quarantined worker count against no game. Each step is a transaction of its own, because a
    quarantine concerns games of other tournaments (``services.locks``).
    """
    worker = find_worker(report.worker)
    counts = worker is None or not worker.is_quarantined
    hopeless = counts and attempt.game.tournament.format.is_hopeless(evidence)
    name = visible(report.worker, MAX_WORKER)
    is_given = end_attempt(attempt, Attempt.End.VOID, now, evidence=evidence, counts=counts, worker=name)
    if not is_given and not _is_unfinished(attempt):
        return _ignore("late")
    if worker is not None:
        judge(worker, now)  # may discount this void from its game
    with transaction.atomic():
        if halt_after_failures(attempt.game, evidence, hopeless=hopeless):
            store_logs([(attempt.game, report)], now)
    return Voided(evidence)


def _store(arrivals: Sequence[Arrival], now: datetime.datetime) -> tuple[dict[int, int], set[uuid.UUID]]:
    """Store results; returns completion sequences by game, and the attempts whose result is refused.

    A result that cannot be stored stops no other.
    """
    if not arrivals:
        return {}, set()
    try:
        return store_all(arrivals, now), set()
    except (DataError, IntegrityError):
        log.exception("%d results cannot be stored together", len(arrivals))
    if len(arrivals) == 1:
        return {}, {arrivals[0].attempt.pk}
    stored: dict[int, int] = {}
    refused: set[uuid.UUID] = set()
    for arrival in arrivals:
        one, none = _store([arrival], now)
        stored |= one
        refused |= none
    return stored, refused
