"""Compliance checks as work: which one a slot takes next, and how one waits again.

What a check finds is stored by ``uploads.validation``.
"""

from __future__ import annotations

import datetime
import uuid
from collections import Counter
from collections.abc import Sequence

from django.conf import settings
from django.db import transaction

from tournament.models import Attempt, BotVersion, Exam, Worker
from tournament.services.fair_share import SITE, charge, exhausted, of_work, played_seconds, used_by_owner
from tournament.services.locks import lock, lock_row
from workers.jobs import Ask, ComplianceJob, Work


def claim_check(ask: Ask, worker: Worker, now: datetime.datetime) -> Exam | None:
    """Give a slot the check that is next; None if none waits, or another slot was quicker.

    Owners take turns: first the one with the fewest running checks and validation games, then the one whose
    bots have used the least time today. Checks of owners whose time is used up wait for tomorrow.
    """
    waiting = _waiting(now)
    return _claim(waiting, ask, worker, now) if waiting else None


def leaves_a_slot(ask: Ask, worker: Worker) -> bool:
    """Whether another slot of the worker has no check or validation game, or it has no other slot.

    Checks take minutes, and people's searches shall not wait for them. The caller has locked the worker.
    """
    if Work.ANALYSIS not in ask.takes or worker.slots - worker.held < 2:
        return True
    taken = Attempt.objects.filter(assigned=worker.name, ended_at__isnull=True, reported_at__isnull=True)
    checks = Exam.objects.filter(assigned=worker.name, ended_at__isnull=True)
    slots = {slot for rows in (taken, checks) for slot in rows.order_by().values_list("slot", flat=True)}
    return len(slots | {ask.slot}) < worker.slots - worker.held


@transaction.atomic
def _claim(waiting: Sequence[Exam], ask: Ask, worker: Worker, now: datetime.datetime) -> Exam | None:
    lock(Worker.objects.filter(pk=worker.pk).only("pk"))
    if not leaves_a_slot(ask, worker):
        return None
    for exam in waiting:
        taken = {
            "assigned": worker.name,
            "slot": ask.slot,
            "ask": uuid.UUID(ask.ask),
            "sent_at": now,
            "heard_at": None,
            "lease_until": now + datetime.timedelta(seconds=settings.LEASE_SECONDS),
        }
        still = Exam.objects.filter(pk=exam.pk, assigned="", ended_at__isnull=True)
        if still.update(**taken):
            for name, value in taken.items():
                setattr(exam, name, value)
            return exam
    return None


def check_job(exam: Exam) -> ComplianceJob:
    """The check as its worker gets it."""
    return ComplianceJob(str(exam.pk), exam.version.engine_spec(), tuple(exam.version.games), exam.seconds)


@transaction.atomic
def return_check(exam: Exam, now: datetime.datetime) -> bool:
    """End an open check that its slot does not run; its version waits for another. May be repeated."""
    locked = lock(Exam.objects.filter(pk=exam.pk, ended_at__isnull=True).exclude(assigned=""))
    if not locked:
        return False
    (mine,) = locked
    version = lock_row(BotVersion.objects.select_related("bot"), mine.version_id)
    Exam.objects.filter(pk=mine.pk).update(ended_at=now, end=Exam.End.RETURNED)
    if version.state == BotVersion.State.VALIDATING:
        Exam.objects.create(version=version, sent_at=now)
    seconds = played_seconds(mine.sent_at, mine.lease_until, now)
    charge({version.bot.owner_id: seconds}, now, is_validation=True)
    return True


def _waiting(now: datetime.datetime) -> list[Exam]:
    """The checks that wait, the next one first."""
    open_checks = Exam.objects.filter(ended_at__isnull=True)
    checks = list(open_checks.filter(assigned="").select_related("version__bot").order_by("sent_at"))
    if not checks:
        return []
    over = exhausted(now, is_validation=True)
    used = used_by_owner(now, is_validation=True)
    running = Counter(
        owner or SITE
        for owner in open_checks.exclude(assigned="").values_list("version__bot__owner", flat=True)
    )
    games = Attempt.objects.filter(
        of_work(Work.CHECKS, "game__tournament__"), ended_at__isnull=True, reported_at__isnull=True
    )
    jobs = set(games.order_by().values_list("game__tournament__owner", "job"))
    running.update(owner or SITE for owner, _ in jobs)

    def rank(exam: Exam) -> tuple[int, float, datetime.datetime]:
        owner = exam.version.bot.owner_id or SITE
        return running[owner], used.get(owner, 0.0), exam.sent_at

    return sorted((exam for exam in checks if exam.version.bot.owner_id not in over), key=rank)
