"""The record keeper: the only writer of results.

Reports may come twice, late, or from nobody who was asked. A result is stored once, for the
game's current attempt, under the ladder's lock, together with its record, its logs and what it does to the
ratings; everything else is acknowledged, counted and ignored. Nothing that a message can hold raises.
"""

from __future__ import annotations

import datetime
import logging
import uuid
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import TypeVar

from django.db import DataError, IntegrityError, transaction
from django.utils import timezone

from engines.records import Termination, clean_text
from engines.timecontrol import MAX_LIMIT
from engines.visible import visible
from tournament import models
from tournament.models import Attempt, BotVersion, Game, LiveGame, Tournament
from tournament.services.attempts import give_back, halt_after_voids
from tournament.services.records import WrongReport, read_record
from tournament.services.storing import MAX_WORKER, Arrival, may_be_rated, store_all, store_logs
from tournament.services.sweep import LEASE
from tournament.services.workers import find_worker, judge
from workers.jobs import GameReport, JobError, JsonValue, Progress, Release
from workers.referee import BOTH_UNABLE

MAX_TOKEN, MAX_COMMENT, MAX_LIVE_MOVES = 100, 1000, 20_000
"""Of a game under way, as its worker tells it."""

_LOOKED_AT = (
    *("job", "ended_at", "end"),
    *(f"game__{name}" for name in ("key", "number", "tournament_id", "ladder_id", "white_id", "black_id")),
    *(f"game__pairing__{name}" for name in ("round", "opening", "fen", "seed")),
)
"""Of an attempt: what says whose message it is and what its game's record will say."""

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
class Ignored:
    """Without effect: ``foreign`` (no such attempt), ``repeat`` or ``late``."""

    reason: str


@dataclass(frozen=True, slots=True)
class Void:
    """A report without a result; ``evidence`` says why, in one sentence."""

    attempt: Attempt
    report: GameReport
    evidence: str


def read(kind: type[Message], message: object) -> Message | None:
    """A message as its value; one that cannot be read is logged, counted and None."""
    try:
        return kind.from_json(message)
    except JobError as error:
        log.warning("a message cannot be read: %s", error)
        _ignore("unreadable")
        return None


def record(report: GameReport) -> Recorded | GivenBack | Ignored:
    """Store a game's report; may be repeated, and comes from a stranger until proven otherwise."""
    return record_all([report])[0]


def record_all(reports: Sequence[GameReport]) -> list[Recorded | GivenBack | Ignored]:
    """Store the reports of a message in their order; returns what became of each.

    Results are stored together; where the database takes offence at one of them, each alone.
    """
    now = timezone.now()
    attempts = _find_attempts(reports)
    _renew({attempt.job for attempt in attempts if isinstance(attempt, Attempt)}, now)
    answers: dict[int, Recorded | GivenBack | Ignored] = {}
    arrivals: dict[uuid.UUID, tuple[int, Arrival]] = {}
    voids: list[tuple[int, Void]] = []
    for number, (attempt, report) in enumerate(zip(attempts, reports, strict=True)):
        if isinstance(attempt, Ignored):
            answers[number] = attempt
        elif attempt.pk in arrivals:
            continue  # said twice in one message: looked at again once the first is stored
        elif isinstance(looked_at := _look_at(attempt, report), Arrival):
            arrivals[attempt.pk] = number, looked_at
        else:
            voids.append((number, looked_at))
    stored = _store([arrival for _, arrival in arrivals.values()], now)
    for number, arrival in arrivals.values():
        sequence = stored.get(arrival.game.pk)
        answers[number] = _ignore("late") if sequence is None else Recorded(arrival.game.pk, sequence)
    for number, void in voids:  # after the results, which speak for the worker that has both
        answers[number] = _give_back(void, now)
    return [answers[number] if number in answers else record(report) for number, report in enumerate(reports)]


def progress(word: Progress) -> bool:
    """Renew the lease and show the moves; False if the attempt is not, or no longer, the game's."""
    attempt = _find_attempt(word)
    if isinstance(attempt, Ignored):
        return False
    now = timezone.now()
    with transaction.atomic():
        if not _renew([attempt.job], now):
            return False
        started = Attempt.objects.filter(pk=attempt.pk, started_at__isnull=True)
        started.update(started_at=now, worker=visible(word.worker, MAX_WORKER))
        shown = {
            "moves": _shown_moves(word),
            "white_ms": _clock(word.white_ms),
            "black_ms": _clock(word.black_ms),
            "updated_at": now,
        }
        LiveGame.objects.update_or_create(game_id=attempt.game_id, defaults=shown)
    return True


def release(word: Release) -> GivenBack | Ignored:
    """A worker that stops gives a game back: it waits again, and nothing is held against anybody."""
    attempt = _find_attempt(word)
    if isinstance(attempt, Ignored):
        return attempt
    if give_back(attempt, Attempt.End.RELEASED, timezone.now()):
        return GivenBack("")
    return _ignore("late")


# Whose message it is


def _find_attempt(word: Progress | Release) -> Attempt | Ignored:
    return _find_attempts([word])[0]


def _find_attempts(words: Sequence[GameReport | Progress | Release]) -> list[Attempt | Ignored]:
    """The open attempt that each message speaks of, with all that its game needs to be recorded."""
    named = [_attempt_id(word.attempt) for word in words]
    known = Attempt.objects.select_related("game__pairing").only(*_LOOKED_AT).in_bulk(filter(None, named))
    _attach([attempt.game for attempt in known.values()])
    found = [known.get(pk) if pk else None for pk in named]
    return [_open_attempt(attempt, word.key) for attempt, word in zip(found, words, strict=True)]


def _attach(games: Sequence[Game]) -> None:
    """Give games their players and tournaments: a few, which all of a message's games share."""
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


def _open_attempt(attempt: Attempt | None, key: str) -> Attempt | Ignored:
    if attempt is None or attempt.game.key != key:
        return _ignore("foreign")
    if attempt.ended_at is not None:
        return _ignore("repeat" if attempt.end == Attempt.End.RECORDED else "late")
    return attempt


def _ignore(reason: str) -> Ignored:
    with transaction.atomic():
        models.Ignored.objects.count_one(reason, timezone.now())
    return Ignored(reason)


def _renew(jobs: Collection[uuid.UUID], now: datetime.datetime) -> int:
    """A word about one game is a word about all games of its job, which wait for it."""
    mates = Attempt.objects.filter(job__in=jobs, ended_at__isnull=True)
    return mates.update(lease_until=now + LEASE)


# What it says


def _look_at(attempt: Attempt, report: GameReport) -> Arrival | Void:
    """A result that may be stored; anything else is no result."""
    if report.termination == Termination.VOID:
        return Void(attempt, report, clean_text(report.evidence or "void without evidence"))
    try:
        record, text = read_record(attempt.game, report, rated=may_be_rated(attempt.game))
    except WrongReport as error:
        log.error("the report of %s by %s is wrong: %s", report.key, report.worker, error)
        return Void(attempt, report, clean_text(f"the worker's report was wrong: {error.faults[0]}"))
    return Arrival(attempt, report, record, text)


@transaction.atomic
def _give_back(void: Void, now: datetime.datetime) -> GivenBack | Ignored:
    """No result; if nobody will try again, what the engines said is all that tells their authors why.

    What a quarantined worker says is held against no game.
    """
    attempt, report, evidence = void.attempt, void.report, void.evidence
    Attempt.objects.filter(pk=attempt.pk).update(worker=visible(report.worker, MAX_WORKER))
    worker = find_worker(report.worker)
    counts = worker is None or not worker.is_quarantined
    # Two bots are tried again, as the machine may have stood still; a version beside itself is not.
    is_validation = attempt.game.tournament.kind == Tournament.Kind.VALIDATION
    hopeless = counts and is_validation and evidence.startswith(BOTH_UNABLE)
    if not give_back(attempt, Attempt.End.VOID, now, evidence=evidence, counts=counts):
        return _ignore("late")
    if worker is not None:
        judge(worker, now)  # which may take the void off its game again
    if halt_after_voids(attempt.game, evidence, hopeless=hopeless):
        store_logs([(attempt.game, report)])
    return GivenBack(evidence)


def _store(arrivals: Sequence[Arrival], now: datetime.datetime) -> dict[int, int]:
    """Completion sequences by game; one that cannot be stored costs no other its result."""
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
    """A clock as far as a column holds it."""
    return None if shown_ms is None else min(max(shown_ms, -MAX_LIMIT), MAX_LIMIT)


def _shown_moves(word: Progress) -> list[list[str]]:
    """What a live page shows before the game's report is verified."""
    moves = word.moves[:MAX_LIVE_MOVES]
    return [[visible(token, MAX_TOKEN), visible(comment, MAX_COMMENT)] for token, comment in moves]
