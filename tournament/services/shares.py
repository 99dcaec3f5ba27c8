"""Charges the workers' time to the owners of tournaments, and limits what each owner may use a day.

Validations have a limit of their own. A game or check counts on the day (UTC) on which it ends; while it runs
it counts today, with all its time so far. One whose worker went silent counts until its lease ended, so that
nobody is charged for the hours in which the site was down.
"""

from __future__ import annotations

import datetime
from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from django.conf import settings
from django.db.models import F, Q

from tournament import access
from tournament.models import Attempt, Exam, OwnerShare, SlotUse, Tournament, User

SITE = 0
"""The owner of ladders and of the tournaments without an owner, as ``OwnerShare.owner``."""
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
        seconds[owner, kind == Tournament.Kind.VALIDATION] += used
    _charge(seconds, now)


def played_seconds(
    began: datetime.datetime, lease_until: datetime.datetime | None, now: datetime.datetime
) -> float:
    """Seconds since a game began, at most until its lease ended."""
    until = now if lease_until is None else min(now, lease_until)
    return max(0.0, (until - began).total_seconds())


def checked_seconds(
    sent_at: datetime.datetime, heard_at: datetime.datetime | None, now: datetime.datetime
) -> float:
    """Seconds since a check was sent, at most until one lease after its worker's last message."""
    lease = datetime.timedelta(seconds=settings.LEASE_SECONDS)
    return played_seconds(sent_at, (heard_at or sent_at) + lease, now)


def used_today(owner: User, now: datetime.datetime, *, is_validation: bool = False) -> float:
    """Hours of slots that a user's tournaments, or validations, have used today, with what runs now."""
    return used_by_owner(now, owner=owner, is_validation=is_validation).get(owner.pk, 0.0) / HOUR


def used_by_owner(
    now: datetime.datetime, *, is_validation: bool = False, owner: User | None = None
) -> dict[int, float]:
    """Seconds of slots used today by tournaments, or validations, of each user or only of ``owner``.

    Users who have used none are missing.
    """
    mine = Q() if owner is None else Q(owner=owner)
    column = _column(is_validation)
    charged = SlotUse.objects.filter(mine, day=now.date()).values_list("owner", column)
    used: dict[int, float] = defaultdict(float, charged)
    for user, seconds in _running(owner, now, is_validation=is_validation):
        if user is not None:
            used[user] += seconds
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
        if used <= 0:
            continue
        OwnerShare.objects.get_or_create(owner=owner or SITE)
        OwnerShare.objects.filter(owner=owner or SITE).update(served=F("served") + used)
        if owner is not None:
            column = _column(is_validation)
            SlotUse.objects.get_or_create(owner_id=owner, day=now.date())
            SlotUse.objects.filter(owner_id=owner, day=now.date()).update(**{column: F(column) + used})


def _column(is_validation: bool) -> str:
    return "validation_seconds" if is_validation else "seconds"


def _running(
    owner: User | None, now: datetime.datetime, *, is_validation: bool
) -> Iterable[tuple[int | None, float]]:
    """The owner and the seconds so far of each game, and of each check, that is running."""
    of_kind = Q(game__tournament__kind=Tournament.Kind.VALIDATION)
    games = Attempt.objects.filter(of_kind if is_validation else ~of_kind)
    games = games.filter(ended_at__isnull=True, started_at__isnull=False)
    if owner is not None:
        games = games.filter(game__tournament__owner=owner)
    for user, began, lease_until in games.order_by().values_list(
        "game__tournament__owner", "started_at", "lease_until"
    ):
        assert began is not None
        yield user, played_seconds(began, lease_until, now)
    if is_validation:
        checks = Exam.objects.filter(ended_at__isnull=True).exclude(assigned="")
        if owner is not None:
            checks = checks.filter(version__bot__owner=owner)
        for user, sent_at, heard_at in checks.order_by().values_list(
            "version__bot__owner", "sent_at", "heard_at"
        ):
            yield user, checked_seconds(sent_at, heard_at, now)
