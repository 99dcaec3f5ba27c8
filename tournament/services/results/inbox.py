"""What slots post about their games: reports go to the inbox of the record keeper, moves to `live_games`.

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

from tournament.models import Attempt, Ignored, InboxReport, Job, Worker
from tournament.models.compressed import compress_text
from tournament.services.bulk import insert_rows
from tournament.services.locks import hold, lock
from tournament.services.stopping import end_jobs
from tournament.services.work.attempts import end_attempt
from tournament.services.work.leases import renew
from tournament.services.work.live_games import show_moves
from tournament.services.work.messages import send_record
from tournament.services.work.workers import release_all
from workers.jobs import GameReport, Post, PostAnswer, name_of

MAX_WAITING = 10_000
"""Reports in the inbox; while there are more, no slot gets work."""


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
    known, pace = 0, 0
    if (progress := post.progress) is not None:
        slot = f"{worker.name}/{post.slot}"
        known, pace = show_moves(progress, mine.get(progress.attempt), slot, now)
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
