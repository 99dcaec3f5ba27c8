"""Ends jobs and games that slots hold; the answer to the next post of the slot says stop."""

from __future__ import annotations

import datetime

from django.db import transaction
from django.db.models import F, QuerySet

from tournament.models import Attempt, BotVersion, ComplianceCheck, EventCount, Game, Job, LiveGame, Worker
from tournament.services.bots.verdicts import put_off
from tournament.services.event_counts import count_event
from tournament.services.fair_share import charge
from tournament.services.locks import hold, in_order, lock, lock_row, lock_tournaments
from workers.jobs import Work

MAX_TRIES = 3
"""Lost or failed checks of one version before an operator has to look at it."""
SILENT = "no word from its worker within a lease"
"""The evidence of a lost attempt or check."""


@transaction.atomic(savepoint=False)
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

    Games whose reports wait to be recorded stay as they are. What is released counts against nobody; what is
    lost counts against its games and checks, and the caller judges the worker.
    """
    held = jobs.filter(ended_at__isnull=True).order_by().values_list("pk", flat=True)
    unreported = Attempt.objects.filter(job__in=list(held), ended_at__isnull=True, reported_at__isnull=True)
    lock_tournaments(set(unreported.order_by().values_list("game__tournament", flat=True)))
    ended = end_jobs(jobs, end, now)
    keys = [job.pk for job in ended]
    end_attempts(Attempt.objects.filter(job__in=keys), Attempt.End(str(end)), now)
    was_lost = end == Job.End.LOST
    check_end, why = (ComplianceCheck.End.LOST, SILENT) if was_lost else (ComplianceCheck.End.RETURNED, "")
    for check in lock(ComplianceCheck.objects.filter(job__in=keys, ended_at__isnull=True)):
        return_check(check, check_end, now, why)
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
    rows = list(unended.values_list("pk", "game", "job", "job__kind"))
    if not rows:
        return 0
    if end != Attempt.End.CANCELLED:
        count_event(EventCount.Kind.ATTEMPT, end, sum(kind != Work.OWN for *_, kind in rows))
    jobs = {job for _, _, job, _ in rows if job}
    hold(Job.objects.filter(pk__in=jobs))
    games = Game.objects.filter(pk__in=[game for _, game, *_ in rows])
    games.filter(state=Game.State.CLAIMED).update(state=Game.State.WAITING, attempt=None)
    if end == Attempt.End.LOST:
        games.update(lost=F("lost") + 1)
    elif end == Attempt.End.VOID and counts:
        games.update(voids=F("voids") + 1)
    ended = in_order(Attempt.objects.filter(pk__in=[pk for pk, *_ in rows]))
    ended.update(ended_at=now, end=end, **columns)
    LiveGame.objects.filter(game__in=games.values("pk")).delete()
    left = Attempt.objects.filter(job__in=jobs, ended_at__isnull=True, reported_at__isnull=True)
    if played := jobs - set(left.values_list("job", flat=True)):
        end_jobs(Job.objects.filter(pk__in=played), Job.End.DONE, now)
    return len(rows)


def return_check(check: ComplianceCheck, end: ComplianceCheck.End, now: datetime.datetime, why: str) -> None:
    """End an open check that found nothing; its version waits for another, or after too many for staff.

    Part of the caller's transaction, which has locked the check.
    """
    version = lock_row(BotVersion.objects.all(), check.version_id)
    ComplianceCheck.objects.filter(pk=check.pk).update(ended_at=now, end=end, why=why)
    if version.state != BotVersion.State.VALIDATING:
        return
    failed = [] if end == ComplianceCheck.End.RETURNED else _failed(version)
    if len(failed) < MAX_TRIES or Worker.objects.has_another(failed, Work.CHECKS):
        ComplianceCheck.objects.create(version=version, sent_at=now)
    else:
        put_off(version, f"it could not be checked in {MAX_TRIES} attempts, the last: {why}")


def _failed(version: BotVersion) -> list[str]:
    """The workers of those of the latest checks that failed or were lost.

    Checks that a stopping worker returned do not count, nor those of workers in quarantine.
    """
    ended = version.checks.exclude(end__in=[ComplianceCheck.End.OPEN, ComplianceCheck.End.RETURNED])
    quarantined = Worker.objects.filter(quarantined_at__isnull=False)
    latest = ended.exclude(job__worker__in=quarantined.values("name")).order_by("-sent_at")[:MAX_TRIES]
    failed = [
        check
        for check in latest.select_related("job")
        if check.end in {ComplianceCheck.End.FAILED, ComplianceCheck.End.LOST}
    ]
    return [check.job.worker if check.job else "" for check in failed]
