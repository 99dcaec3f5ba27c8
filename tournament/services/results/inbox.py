"""What slots post about their games: reports go to the inbox of the record keeper, moves to the live pages.

A post may come twice, late, or about games of others. Nothing in it is trusted: the record keeper verifies
each report before it counts.
"""

from __future__ import annotations

import datetime
import uuid
from collections import Counter
from collections.abc import Collection, Mapping

import msgspec
from django.db import transaction
from django.db.models import Q
from django.db.models.functions import Coalesce

from engines.timecontrol import MAX_LIMIT
from engines.visible import visible
from tournament.models import Attempt, Ignored, InboxReport, Job, LiveGame, Worker
from tournament.models.compressed import compress_text
from tournament.queues import ANY_GAME, announce, game_topic, pace_ms
from tournament.services.bulk import insert_rows
from tournament.services.locks import hold, lock
from tournament.services.stopping import end_jobs
from tournament.services.work.attempts import end_attempt
from tournament.services.work.leases import renew
from tournament.services.work.messages import send_record
from tournament.services.work.workers import release_all
from workers.jobs import GameReport, Post, PostAnswer, Progress, name_of

MAX_WAITING = 10_000
"""Reports in the inbox; while there are more, no slot gets work."""
SHOWN_EVERY = datetime.timedelta(seconds=1)
"""A live game is written no more often; while somebody watches it, at twice the pace asked of its slot."""
MAX_TOKEN, MAX_COMMENT, MAX_LIVE_MOVES = 100, 1000, 20_000
"""Limits for the progress of a game, in characters and moves."""


def count_reports() -> int:
    """How many reports wait for the record keeper, counted until there are too many."""
    return InboxReport.objects.order_by()[: MAX_WAITING + 1].count()


def receive(post: Post, job: uuid.UUID, worker: Worker, now: datetime.datetime) -> PostAnswer:
    """Handle what a slot of ``worker`` posts of a job, without the news of a check; may be repeated.

    Each step is a transaction of its own: a post whose answer was lost comes again.
    """
    mine = _attempts_of(job, worker)
    _store_reports(job, post.reports, mine, worker, now)
    for name in post.returned:
        if (attempt := mine.get(name)) and attempt.ended_at is None and attempt.reported_at is None:
            end_attempt(attempt, Attempt.End.RELEASED, now)
    known, pace = _show(post, mine, worker, now) if post.progress else (0, 0)
    if worker.why:
        release_all(worker, now)
        mine = _attempts_of(job, worker)
    else:
        taken = {attempt.job for attempt in mine.values() if attempt.job}
        for one in taken or Job.objects.of_worker(worker.name).filter(pk=job):
            renew(one, now)
    return PostAnswer(_what_to_stop(post, job, worker, mine), known, pace)


def _attempts_of(job: uuid.UUID, worker: Worker) -> dict[str, Attempt]:
    attempts = Attempt.objects.filter(job=job, job__worker=worker.name).select_related("game", "job")
    own = ("job", "game", "end", "started_at", "reported_at", "ended_at")
    fields = (*own, "game__key", "job__lease_until", "job__ends_by")
    return {str(attempt.pk): attempt for attempt in attempts.only(*fields)}


def _store_reports(
    job: uuid.UUID,
    reports: Collection[GameReport],
    mine: Mapping[str, Attempt],
    worker: Worker,
    now: datetime.datetime,
) -> None:
    """Put the reports of open attempts into the inbox; others are counted."""
    ignored = Counter[str]()
    wanted: dict[uuid.UUID, GameReport] = {}
    for report in reports:
        attempt = mine.get(report.attempt)
        if attempt is None or attempt.game.key != report.key or name_of(report.worker) != worker.name:
            ignored["foreign"] += 1
        elif attempt.reported_at is not None or attempt.pk in wanted:
            ignored["repeat"] += 1
        elif attempt.ended_at is not None:
            ignored["late"] += 1
        else:
            wanted[attempt.pk] = report
    if wanted:
        stored = _put_in(job, wanted, now)
        ignored["late"] += len(wanted) - stored
        send_record()
    for reason, number in ignored.items():
        if number:
            with transaction.atomic():
                Ignored.objects.count_more(reason, number)


@transaction.atomic
def _put_in(job: uuid.UUID, reports: Mapping[uuid.UUID, GameReport], now: datetime.datetime) -> int:
    """Store reports of a job and mark their attempts as reported; returns how many were still open.

    With the last one the job ends.
    """
    hold(Job.objects.filter(pk=job))
    played = Attempt.objects.filter(job=job, ended_at__isnull=True, reported_at__isnull=True)
    waiting = [attempt.pk for attempt in lock(played.only("pk"))]
    still = [pk for pk in waiting if pk in reports]
    rows = (
        {
            "attempt_id": pk,
            "content": compress_text(msgspec.json.encode(reports[pk]).decode()),
            "received_at": now,
        }
        for pk in still
    )
    insert_rows(InboxReport, rows)
    Attempt.objects.filter(pk__in=still).update(reported_at=now, started_at=Coalesce("started_at", now))
    if len(still) == len(waiting):
        end_jobs(Job.objects.filter(pk=job), Job.End.DONE, now)
    return len(still)


def _show(post: Post, mine: Mapping[str, Attempt], worker: Worker, now: datetime.datetime) -> tuple[int, int]:
    """Add the moves of a running game to its live page.

    Returns how many plies the site has, and how often the next ones are wanted (``PostAnswer``).
    """
    progress = post.progress
    assert progress is not None
    attempt = mine.get(progress.attempt)
    if attempt is None or attempt.game.key != progress.key or attempt.ended_at or attempt.reported_at:
        return 0, 0
    topic = game_topic(attempt.game_id)
    pace = pace_ms(topic)
    live = LiveGame.objects.filter(game=attempt.game_id).first()
    moves = live.moves if live else []
    is_new = attempt.started_at is None
    every = datetime.timedelta(milliseconds=pace) / 2 or SHOWN_EVERY
    if progress.from_ply > len(moves) or (live and not is_new and now - live.updated_at < every):
        return len(moves), pace
    moves = (moves + _shown_moves(progress, len(moves)))[:MAX_LIVE_MOVES]
    shown = {
        "moves": moves,
        "white_ms": _clock(progress.white_ms),
        "black_ms": _clock(progress.black_ms),
        "updated_at": now,
    }
    with transaction.atomic():
        still = Attempt.objects.filter(pk=attempt.pk, ended_at__isnull=True, reported_at__isnull=True)
        if not lock(still.only("pk")):
            return 0, 0
        if is_new:
            name = f"{worker.name}/{post.slot}"
            Attempt.objects.filter(pk=attempt.pk).update(started_at=now, worker=name)
        LiveGame.objects.bulk_create(
            [LiveGame(game_id=attempt.game_id, **shown)],
            update_conflicts=True,
            unique_fields=["game"],
            update_fields=[*shown],
        )
    announce(topic, *([ANY_GAME] if is_new else []))
    return len(moves), pace


def _what_to_stop(post: Post, job: uuid.UUID, worker: Worker, mine: Mapping[str, Attempt]) -> tuple[str, ...]:
    """What the slot must not play on: attempts that the site has ended, and everything of an unknown job."""
    if mine:
        goes_on = {Attempt.End.OPEN, Attempt.End.RECORDED, Attempt.End.VOID}
        return tuple(sorted(name for name, attempt in mine.items() if attempt.end not in goes_on))
    held = Job.objects.of_worker(worker.name).filter(pk=job)
    is_open = Q(checks__isnull=False, checks__ended_at=None) | Q(
        searches__isnull=False, searches__ended_at=None
    )
    if held.filter(is_open).exists():
        return ()
    playing = {post.progress.attempt} if post.progress else set()
    return tuple(sorted({str(job), *(report.attempt for report in post.reports), *post.returned, *playing}))


def _clock(shown_ms: int | None) -> int | None:
    """A clock limited to the range of its column."""
    return None if shown_ms is None else min(max(shown_ms, -MAX_LIMIT), MAX_LIMIT)


def _shown_moves(progress: Progress, known: int) -> list[list[str]]:
    """The moves after the first ``known`` plies, cleaned and bounded: they are not verified yet."""
    moves = progress.moves[known - progress.from_ply :][:MAX_LIVE_MOVES]
    return [[visible(token, MAX_TOKEN), visible(comment, MAX_COMMENT)] for token, comment in moves]
