"""The record keeper: the only writer of results.

Reports may come twice, late, or from nobody who was asked. A result is stored once, for the
game's current attempt, under the ladder's lock, together with its record, its logs and what it does to the
ratings; everything else is acknowledged, counted and ignored. Nothing that a message can hold raises.
"""

from __future__ import annotations

import datetime
import logging
import uuid
from dataclasses import dataclass
from typing import TypeVar

from django.db import transaction
from django.utils import timezone

from engines.records import Termination, clean_text, format_record
from engines.rules.registry import find_game
from engines.timecontrol import MAX_LIMIT
from tournament import models
from tournament.models import Attempt, Game, GameLog, GameRecord, Ladder, LiveGame, Tournament
from tournament.ratings import fingerprint
from tournament.services.attempts import give_back
from tournament.services.finishing import count_finished
from tournament.services.ratings import player_of, rate
from tournament.services.records import find_faults, parse_time, record_of
from tournament.services.sweep import LEASE
from workers.jobs import GameReport, JobError, JsonValue, Progress, Release
from workers.referee import BOTH_UNABLE

MAX_WORKER = 120

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
    attempt = _find_attempt(report.key, report.attempt)
    if isinstance(attempt, Ignored):
        return attempt
    now = timezone.now()
    _renew(attempt, now)
    if report.termination == Termination.VOID:
        return _give_back(attempt, report.evidence or "void without evidence", report, now)
    game = _load(attempt)
    if faults := find_faults(game, report):
        log.error("the report of %s by %s is wrong: %s", game.key, report.worker, "; ".join(faults))
        return _give_back(attempt, f"the worker's report was wrong: {faults[0]}", report, now)
    return _store(attempt, game, report, now) or _ignore("late")


def progress(word: Progress) -> bool:
    """Renew the lease and show the moves; False if the attempt is not, or no longer, the game's."""
    attempt = _find_attempt(word.key, word.attempt)
    if isinstance(attempt, Ignored):
        return False
    now = timezone.now()
    with transaction.atomic():
        if not _renew(attempt, now):
            return False
        started = Attempt.objects.filter(pk=attempt.pk, started_at__isnull=True)
        started.update(started_at=now, worker=_clean(word.worker, MAX_WORKER))
        shown = {
            "moves": [[_clean(token), _clean(comment)] for token, comment in word.moves],
            "white_ms": _clock(word.white_ms),
            "black_ms": _clock(word.black_ms),
            "updated_at": now,
        }
        LiveGame.objects.update_or_create(game_id=attempt.game_id, defaults=shown)
    return True


def release(word: Release) -> GivenBack | Ignored:
    """A worker that stops gives a game back: it waits again, and nothing is held against anybody."""
    attempt = _find_attempt(word.key, word.attempt)
    if isinstance(attempt, Ignored):
        return attempt
    if give_back(attempt, Attempt.End.RELEASED, timezone.now()):
        return GivenBack("")
    return _ignore("late")


# Whose message it is


def _find_attempt(key: str, attempt_id: str) -> Attempt | Ignored:
    """The open attempt that a message speaks of."""
    try:
        uuid.UUID(attempt_id)
    except ValueError:
        return _ignore("foreign")
    attempt = Attempt.objects.select_related("game").filter(pk=attempt_id).first()
    if attempt is None or attempt.game.key != key:
        return _ignore("foreign")
    if attempt.ended_at is not None:
        return _ignore("repeat" if attempt.end == Attempt.End.RECORDED else "late")
    return attempt


def _ignore(reason: str) -> Ignored:
    with transaction.atomic():
        models.Ignored.objects.count_one(reason, timezone.now())
    return Ignored(reason)


def _renew(attempt: Attempt, now: datetime.datetime) -> int:
    """A word about one game is a word about all games of its job, which wait for it."""
    mates = Attempt.objects.filter(job=attempt.job, ended_at__isnull=True)
    return mates.update(lease_until=now + LEASE)


@transaction.atomic
def _give_back(
    attempt: Attempt, evidence: str, report: GameReport, now: datetime.datetime
) -> GivenBack | Ignored:
    """No result; if nobody will try again, what the engines said is all that tells their authors why."""
    evidence = clean_text(evidence)
    Attempt.objects.filter(pk=attempt.pk).update(worker=_clean(report.worker, MAX_WORKER))
    hopeless = evidence.startswith(BOTH_UNABLE)
    if not give_back(attempt, Attempt.End.VOID, now, evidence=evidence, hopeless=hopeless):
        return _ignore("late")
    game = Game.objects.get(pk=attempt.game_id)
    if game.state == Game.State.HALTED:
        _store_logs(game, report)
    return GivenBack(evidence)


def _load(attempt: Attempt) -> Game:
    rows = Game.objects.select_related("white__bot", "black__bot", "tournament", "pairing")
    return rows.get(pk=attempt.game_id)


# Storing


@transaction.atomic
def _store(attempt: Attempt, game: Game, report: GameReport, now: datetime.datetime) -> Recorded | None:
    """Everything a result changes, or None if the attempt ended meanwhile."""
    ladder = Ladder.objects.select_for_update().get(pk=game.ladder_id)
    Tournament.objects.select_for_update().get(pk=game.tournament_id)
    sequence = ladder.sequence + 1
    mark = _fingerprint(game, report)
    rated = _is_rated(game, mark)
    mine = Game.objects.filter(pk=game.pk, attempt=attempt.pk, state=Game.State.CLAIMED, result__isnull=True)
    stored = mine.update(
        state=Game.State.DONE,
        result=report.result,
        termination=report.termination,
        reason=report.reason,
        fault=report.fault,
        evidence=clean_text(report.evidence),
        white_score=report.white_score,
        black_score=report.black_score,
        plies=len(report.moves),
        sequence=sequence,
        rated=rated,
        fingerprint=mark,
        started_at=parse_time(report.started),
        finished_at=parse_time(report.finished),
    )
    if not stored:
        return None
    Ladder.objects.filter(pk=ladder.pk).update(sequence=sequence)
    GameRecord.objects.create(game=game, text=format_record(record_of(game, report, rated=rated)))
    _store_logs(game, report)
    _close(attempt, report, now)
    LiveGame.objects.filter(game=game).delete()
    if rated:
        rate(ladder.pk, sequence, game, report.result)
    count_finished(game.tournament_id)
    return Recorded(game.pk, sequence)


def _close(attempt: Attempt, report: GameReport, now: datetime.datetime) -> None:
    Attempt.objects.filter(pk=attempt.pk).update(
        worker=_clean(report.worker, MAX_WORKER),
        started_at=attempt.started_at or now,
        ended_at=now,
        end=Attempt.End.RECORDED,
    )


def _store_logs(game: Game, report: GameReport) -> None:
    sides = ((GameLog.Side.WHITE, report.white), (GameLog.Side.BLACK, report.black))
    GameLog.objects.bulk_create(
        GameLog(game=game, side=side, stderr=_clean(told.stderr), lines=_clean(told.lines))
        for side, told in sides
    )


def _fingerprint(game: Game, report: GameReport) -> str:
    start = game.pairing.fen or str(find_game(game.ladder_id).position.initial())
    moves = (token for token, _ in report.moves)
    return fingerprint(player_of(game.white), player_of(game.black), start, moves)


def _is_rated(game: Game, mark: str) -> bool:
    """Not rated: validations, unrated tournaments, two bots of one owner, exact repeats of a rated game."""
    tournament = game.tournament
    if not tournament.rated or tournament.kind == Tournament.Kind.VALIDATION:
        return False
    white, black = game.white.bot, game.black.bot
    if white.pk == black.pk or (white.owner_id is not None and white.owner_id == black.owner_id):
        return False
    return not Game.objects.filter(ladder_id=game.ladder_id, fingerprint=mark, rated=True).exists()


def _clock(shown_ms: int | None) -> int | None:
    """A clock as far as a column holds it."""
    return None if shown_ms is None else min(max(shown_ms, -MAX_LIMIT), MAX_LIMIT)


def _clean(text: str, limit: int | None = None) -> str:
    """Text a database can hold: PostgreSQL refuses NUL."""
    return text.replace("\0", "\ufffd")[:limit]
