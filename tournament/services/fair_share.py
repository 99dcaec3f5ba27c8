"""The workers' time: charges it to owners of tournaments and searches, and says who has used how much today.

An owner may use so many hours of slots a day; validations have a limit of their own.

A job counts on the day (UTC) on which it ends; while a slot has it, it counts today, with all its time so
far. One whose worker went silent counts until its lease ended, so that nobody is charged for the hours in
which the site was down.
"""

from __future__ import annotations

import datetime
from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

from django.conf import settings
from django.db.models import F, Q

from tournament import access
from tournament.formats import kinds
from tournament.models import Job, SlotUse, User
from workers.jobs import Work

SITE = 0
"""The owner of ladders and of the tournaments without an owner."""
HOUR = 3600.0


def charge(jobs: Iterable[Job], now: datetime.datetime) -> None:
    """Charge the slots' time of jobs that end now to their owners; part of the caller's transaction.

    The time of a user's own workers is free.
    """
    seconds: dict[tuple[int, str], float] = defaultdict(float)
    for job in jobs:
        if job.kind == Work.OWN:
            continue
        seconds[job.owner_id or SITE, _column(job.kind == Work.CHECKS)] += job.seconds(now)
    # In the order of the owners, as all transactions do: see ``locks``.
    for (owner, column), used in sorted(seconds.items()):
        whose: dict[str, Any] = {"owner_id": owner or None, "day": now.date()}
        while not SlotUse.objects.filter(**whose).update(**{column: F(column) + used}):
            SlotUse.objects.get_or_create(**whose)


def used_today(owner: User, now: datetime.datetime, *, is_validation: bool = False) -> float:
    """Hours of slots that a user's tournaments, or validations, have used today, with what runs now."""
    return used_by_owner(now, owner=owner, is_validation=is_validation).get(owner.pk, 0.0) / HOUR


def used_by_owner(
    now: datetime.datetime, *, is_validation: bool = False, owner: User | None = None, least: float = 0.0
) -> dict[int, float]:
    """Seconds of slots used today by tournaments, or validations, of each owner or only of ``owner``.

    Owners who have used none are missing; the site is ``SITE``. What runs counts at least ``least`` each.
    """
    mine = Q() if owner is None else Q(owner=owner)
    column = _column(is_validation)
    charged = SlotUse.objects.filter(mine, day=now.date()).values_list("owner", column)
    used: dict[int, float] = defaultdict(float, {user or SITE: seconds for user, seconds in charged})
    held = Job.objects.held().filter(mine)
    kinds_used = (Work.CHECKS,) if is_validation else (Work.GAMES, Work.ANALYSIS)
    for job in held.filter(kind__in=kinds_used):
        used[job.owner_id or SITE] += max(least, job.seconds(now))
    return {user: seconds for user, seconds in used.items() if seconds > 0}


def hours_a_day(*, is_validation: bool = False) -> float:
    """The limit of an account that is not staff; 0 is no limit."""
    return float(settings.VALIDATION_HOURS if is_validation else settings.SLOT_HOURS)


def exhausted(used: Mapping[int, float], *, is_validation: bool = False) -> set[int]:
    """Users whose seconds of ``used_by_owner`` reach today's hours; never staff."""
    most = hours_a_day(is_validation=is_validation) * HOUR
    if not most:
        return set()
    over = [owner for owner, seconds in used.items() if seconds >= most]
    if not over:
        return set()
    return set(User.objects.filter(pk__in=over, is_staff=False).values_list("pk", flat=True))


def is_exhausted(owner: User, now: datetime.datetime, *, is_validation: bool = False) -> bool:
    """Whether this user is one of those whom ``exhausted`` returns."""
    most = hours_a_day(is_validation=is_validation)
    if not most or not access.has_limits(owner):
        return False
    return used_today(owner, now, is_validation=is_validation) >= most


def _column(is_validation: bool) -> str:
    return "validation_seconds" if is_validation else "seconds"


def of_work(work: Work, path: str = "") -> Q:
    """A filter for tournaments, or for rows with one at ``path``, whose games are this kind of work."""
    return Q(**{f"{path}kind__in": kinds(lambda one: one.work is work)})


def played_by(work: Work, path: str = "") -> Q:
    """A filter for the same, whose games are played by slots that take this kind of work."""
    if work is Work.OWN:
        return Q(**{f"{path}own_workers": True})
    return of_work(work, path) & Q(**{f"{path}own_workers": False})
