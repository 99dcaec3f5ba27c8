"""Visits: when a logged-in user was last here, so that the home page shows what is new since then."""

from __future__ import annotations

import datetime

from tournament.models import User

VISIT_ENDS = datetime.timedelta(minutes=30)
"""The time after the last page that ends a visit; a later page begins a new one."""
NOTED_EVERY = datetime.timedelta(minutes=5)
LONGEST = datetime.timedelta(days=30)
"""What happened earlier is not shown as new."""


def note_visit(user: User, now: datetime.datetime) -> None:
    """Note that the user sees a page; at most one statement every ``NOTED_EVERY``."""
    if now - user.seen_at < NOTED_EVERY:
        return
    changed = {"seen_at": now}
    if _is_away(user, now):
        changed["left_at"] = user.seen_at
    # The condition: of two pages at once the first begins the visit.
    User.objects.filter(pk=user.pk, seen_at=user.seen_at).update(**changed)


def away_since(user: User, now: datetime.datetime) -> datetime.datetime:
    """The end of the user's last visit, whether or not the present one is noted yet."""
    left = user.seen_at if _is_away(user, now) else user.left_at
    return max(left or user.date_joined, now - LONGEST)


def _is_away(user: User, now: datetime.datetime) -> bool:
    return now - user.seen_at > VISIT_ENDS
