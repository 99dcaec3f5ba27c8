"""Charges the workers' time to the owners of tournaments.

A separate module, because every service that ends an attempt charges its time.
"""

from __future__ import annotations

import datetime
from collections.abc import Mapping

from django.conf import settings
from django.db.models import F

from tournament.models import OwnerShare, SlotUse, User

SITE = 0
"""The owner of ladders and of the tournaments without an owner, as ``OwnerShare.owner``."""
HOUR = 3600.0


def charge(seconds: Mapping[int | None, float], now: datetime.datetime) -> None:
    """Add seconds of slots to owners' accounts; part of the transaction that ends the attempts.

    The keys are users' ids; None is the site.
    """
    for owner, used in seconds.items():
        if used <= 0:
            continue
        OwnerShare.objects.get_or_create(owner=owner or SITE)
        OwnerShare.objects.filter(owner=owner or SITE).update(served=F("served") + used)
        if owner is not None:
            SlotUse.objects.get_or_create(owner_id=owner, day=now.date())
            SlotUse.objects.filter(owner_id=owner, day=now.date()).update(seconds=F("seconds") + used)


def used_today(owner: User, now: datetime.datetime) -> float:
    """Hours of slots that a user's tournaments have used today (UTC)."""
    use = SlotUse.objects.filter(owner=owner, day=now.date()).first()
    return use.seconds / HOUR if use else 0.0


def used_by_owner(now: datetime.datetime) -> dict[int | None, float]:
    """Seconds of slots used today, by user; users who have used none are missing."""
    return dict(SlotUse.objects.filter(day=now.date()).values_list("owner", "seconds"))


def exhausted(now: datetime.datetime) -> set[int]:
    """Users who have used up today's hours; staff has no limit, and 0 in the settings is none."""
    if not settings.SLOT_HOURS:
        return set()
    used = SlotUse.objects.filter(day=now.date(), seconds__gte=settings.SLOT_HOURS * HOUR)
    return set(used.exclude(owner__is_staff=True).values_list("owner", flat=True))
