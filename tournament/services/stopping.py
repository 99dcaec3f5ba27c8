"""Ends jobs and games that slots hold; the answer to the next post of the slot says stop."""

from __future__ import annotations

import datetime
import uuid
from collections.abc import Iterable

from django.db import transaction
from django.db.models import F, QuerySet

from tournament.models import Attempt, BotVersion, Exam, Game, Job, LiveGame
from tournament.services.fair_share import charge
from tournament.services.locks import in_order, lock, lock_row, lock_tournaments


@transaction.atomic
def end_jobs(jobs: QuerySet[Job], end: Job.End, now: datetime.datetime) -> list[Job]:
    """End those of these jobs that slots have, and charge their time; returns them.

    What the slots had is the caller's; a search waits again by that alone.
    """
    held = lock(jobs.filter(ended_at__isnull=True))
    Job.objects.filter(pk__in=[job.pk for job in held]).update(ended_at=now, end=end)
    charge(held, now)
    return held


@transaction.atomic
def release(jobs: QuerySet[Job], now: datetime.datetime, end: Job.End = Job.End.RELEASED) -> list[Job]:
    """Have wait again what slots no longer have; returns these jobs. May be repeated.

    Games whose reports wait to be recorded stay as they are. What is released counts against nobody, and of a
    lost job only its games count it: the caller judges the worker. Lost checks are ended by the caller.
    """
    held = jobs.filter(ended_at__isnull=True).order_by().values_list("pk", flat=True)
    unreported = Attempt.objects.filter(job__in=list(held), ended_at__isnull=True, reported_at__isnull=True)
    lock_tournaments(set(unreported.order_by().values_list("game__tournament", flat=True)))
    ended = end_jobs(jobs, end, now)
    keys = [job.pk for job in ended]
    end_attempts(Attempt.objects.filter(job__in=keys), Attempt.End(str(end)), now)
    if end == Job.End.RELEASED:
        for exam in lock(Exam.objects.filter(job__in=keys, ended_at__isnull=True)):
            _return_check(exam, now)
    return ended


@transaction.atomic
def end_attempts(
    attempts: QuerySet[Attempt],
    end: Attempt.End,
    now: datetime.datetime,
    *,
    counts: bool = True,
    **columns: str,
) -> int:
    """End open attempts without a result; returns how many. Games wait again, jobs without others end.

    The caller holds the locks of their tournaments; ``columns`` are stored with the end. Unless they are
    cancelled or void, attempts whose reports wait to be recorded stay as they are. Voids and losses count
    against the games; voids that are the worker's fault do not (``counts=False``).
    """
    unended = attempts.filter(ended_at__isnull=True).order_by()
    if end not in {Attempt.End.CANCELLED, Attempt.End.VOID}:
        unended = unended.filter(reported_at__isnull=True)
    rows = list(unended.values_list("pk", "game", "job"))
    if not rows:
        return 0
    jobs = {job for *_, job in rows if job}
    lock(Job.objects.filter(pk__in=jobs).only("pk"))
    games = Game.objects.filter(pk__in=[game for _, game, _ in rows])
    games.filter(state=Game.State.CLAIMED).update(state=Game.State.WAITING, attempt=None)
    if end == Attempt.End.LOST:
        games.update(lost=F("lost") + 1)
    elif end == Attempt.End.VOID and counts:
        games.update(voids=F("voids") + 1)
    ended = in_order(Attempt.objects.filter(pk__in=[pk for pk, *_ in rows]))
    ended.update(ended_at=now, end=end, **columns)
    LiveGame.objects.filter(game__in=games.values("pk")).delete()
    end_played(jobs, now)
    return len(rows)


def end_played(jobs: Iterable[uuid.UUID | None], now: datetime.datetime) -> None:
    """End those of these jobs of games of which nothing is left to play; part of the caller's transaction."""
    left = Attempt.objects.filter(job__in=jobs, ended_at__isnull=True, reported_at__isnull=True)
    played = set(filter(None, jobs)) - set(left.values_list("job", flat=True))
    end_jobs(Job.objects.filter(pk__in=list(played)), Job.End.DONE, now)


def _return_check(exam: Exam, now: datetime.datetime) -> None:
    """End a check that its slot does not run; its version waits for another."""
    version = lock_row(BotVersion.objects.all(), exam.version_id)
    Exam.objects.filter(pk=exam.pk).update(ended_at=now, end=Exam.End.RETURNED)
    if version.state == BotVersion.State.VALIDATING:
        Exam.objects.create(version=version, sent_at=now)
