"""The workers' time: charges it to owners of tournaments and searches, and says who has used how much today.

An owner may use so many hours of slots a day; validations have a limit of their own.

A game, check or search counts on the day (UTC) on which it ends; while it runs it counts today, with all its
time so far. One whose worker went silent counts until its lease ended, so that nobody is charged for the
hours in which the site was down.
"""

from __future__ import annotations

import datetime
from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from django.conf import settings
from django.db.models import Count, F, Max, Min, Q

from tournament import access
from tournament.formats import FORMATS, kinds
from tournament.models import Attempt, BotSearch, Exam, SlotUse, User
from workers.jobs import Work

SITE = 0
"""The owner of ladders and of the tournaments without an owner."""
HOUR = 3600.0


class PlayedTime(NamedTuple):
    """Seconds of a slot used by a tournament of this kind and owner; None is the site."""

    kind: str
    owner: int | None
    seconds: float


def charge(
    seconds: Mapping[int | None, float], now: datetime.datetime, *, is_validation: bool = False
) -> None:
    """Add seconds of slots to owners' accounts; the last step of the transaction that ends the attempts.

    The keys are users' ids; None is the site.
    """
    _charge({(owner, is_validation): used for owner, used in seconds.items()}, now)


def charge_games(times: Iterable[PlayedTime], now: datetime.datetime) -> None:
    """Charge the time of games to the owners of their tournaments, like ``charge``."""
    seconds: dict[tuple[int | None, bool], float] = defaultdict(float)
    for kind, owner, used in times:
        seconds[owner, FORMATS[kind].work is Work.CHECKS] += used
    _charge(seconds, now)


def played_seconds(
    began: datetime.datetime, lease_until: datetime.datetime | None, now: datetime.datetime
) -> float:
    """Seconds since a game began, at most until its lease ended."""
    until = now if lease_until is None else min(now, lease_until)
    return max(0.0, (until - began).total_seconds())


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
    for user, seconds in _running(owner, now, is_validation=is_validation):
        used[user or SITE] += max(least, seconds)
    return {user: seconds for user, seconds in used.items() if seconds > 0}


def hours_a_day(*, is_validation: bool = False) -> float:
    """The limit of an account that is not staff; 0 is no limit."""
    return float(settings.VALIDATION_HOURS if is_validation else settings.SLOT_HOURS)


def exhausted(now: datetime.datetime, *, is_validation: bool = False) -> set[int]:
    """Users who have used up today's hours of tournaments, or of validations; never staff."""
    most = hours_a_day(is_validation=is_validation) * HOUR
    if not most:
        return set()
    used = used_by_owner(now, is_validation=is_validation)
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


def _charge(seconds: Mapping[tuple[int | None, bool], float], now: datetime.datetime) -> None:
    # In the order of the owners, as all transactions do: see ``locks``.
    for owner, is_validation in sorted(seconds, key=lambda account: (account[0] or SITE, account[1])):
        used = seconds[owner, is_validation]
        if used > 0:
            column = _column(is_validation)
            row, _ = SlotUse.objects.get_or_create(owner_id=owner, day=now.date())
            SlotUse.objects.filter(pk=row.pk).update(**{column: F(column) + used})


def _column(is_validation: bool) -> str:
    return "validation_seconds" if is_validation else "seconds"


def _work(is_validation: bool) -> Work:
    return Work.CHECKS if is_validation else Work.GAMES


def _running(
    owner: User | None, now: datetime.datetime, *, is_validation: bool
) -> Iterable[tuple[int | None, float]]:
    """The owner and the seconds so far of what slots have, and of jobs that are not recorded."""
    yield from _running_games(owner, now, is_validation=is_validation)
    searches = BotSearch.objects.exclude(assigned="").filter(owner__isnull=False)
    checks = Exam.objects.filter(ended_at__isnull=True).exclude(assigned="")
    others: Any = checks if is_validation else searches
    path = "version__bot__owner" if is_validation else "owner"
    mine = others if owner is None else others.filter(**{path: owner})
    for user, sent_at, lease_until in mine.order_by().values_list(path, "sent_at", "lease_until"):
        yield user, played_seconds(sent_at or now, lease_until, now)


def _running_games(
    owner: User | None, now: datetime.datetime, *, is_validation: bool
) -> Iterable[tuple[int | None, float]]:
    """The time of jobs since they were taken or last charged, until their last report if all is reported."""
    is_open, is_held = Q(ended_at__isnull=True), Q(ended_at__isnull=True, reported_at__isnull=True)
    unended = Attempt.objects.filter(is_open, of_work(_work(is_validation), "game__tournament__"))
    if owner is not None:
        unended = unended.filter(game__tournament__owner=owner)
    # A query of its own: without statistics PostgreSQL would read all attempts for each job.
    jobs = Attempt.objects.filter(job__in=set(unended.order_by().values_list("job", flat=True))).order_by()
    rows = jobs.values_list("job", "game__tournament__owner").annotate(
        taken=Min("sent_at"),
        charged=Max("ended_at"),
        held=Count("pk", filter=is_held),
        reported=Max("reported_at", filter=is_open),
        lease=Min("lease_until", filter=is_held),
    )
    for _, user, taken, charged, held, reported, lease in rows:
        yield user, played_seconds(max(taken, charged or taken), lease if held else reported, now)


def of_work(work: Work, path: str = "") -> Q:
    """A filter for tournaments, or for rows with one at ``path``, whose games are this kind of work."""
    return Q(**{f"{path}kind__in": kinds(lambda one: one.work is work)})
