"""Following bots, ladders, tournaments and people: their feeds are part of the user's digest."""

from __future__ import annotations

from django.db import models

from tournament.models import Follow, User
from tournament.models.feeds import feed_of

MOST_FOLLOWED = 200
"""Of one user."""


class FollowError(ValueError):
    """What a user cannot follow: one sentence."""


def follow(user: User, subject: models.Model) -> None:
    """Follow a bot, ladder, tournament or user; may be repeated. Raises ``FollowError``."""
    if user.follows.count() >= MOST_FOLLOWED:
        raise FollowError(f"you follow {MOST_FOLLOWED} already: unfollow something first")
    Follow.objects.bulk_create([Follow(user=user, feed=feed_of(subject))], ignore_conflicts=True)


def unfollow(user: User, subject: models.Model) -> None:
    """Follow it no more; may be repeated."""
    user.follows.filter(feed=feed_of(subject)).delete()
