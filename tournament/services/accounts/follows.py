"""Following bots, ladders, tournaments and people: their feeds are part of the user's digest."""

from __future__ import annotations

from django.db import models

from engines.rules.registry import GAMES
from tournament import access
from tournament.models import Bot, Follow, Ladder, Tournament, User
from tournament.models.feeds import feed_of, ids_of

MAX_FOLLOWED = 200
"""The most that one user follows."""


class FollowError(ValueError):
    """What a user cannot follow: one sentence."""


def follow(user: User, subject: models.Model) -> None:
    """Follow a bot, ladder, tournament or user; may be repeated. Raises ``FollowError``."""
    if user.follows.count() >= MAX_FOLLOWED:
        raise FollowError(f"you follow {MAX_FOLLOWED} already: unfollow something first")
    Follow.objects.bulk_create([Follow(user=user, feed=feed_of(subject))], ignore_conflicts=True)


def unfollow(user: User, subject: models.Model) -> None:
    """Follow it no more; may be repeated."""
    user.follows.filter(feed=feed_of(subject)).delete()


def followed(user: User) -> list[Bot | Ladder | Tournament | User]:
    """What the user follows and everybody may see, by kind."""
    feeds = list(user.follows.order_by("feed").values_list("feed", flat=True))
    return [
        *access.visible_bots(access.PUBLIC).filter(pk__in=ids_of(feeds, Bot)),
        *(Ladder(code=code) for code in ids_of(feeds, Ladder) if code in GAMES),
        *access.visible_tournaments(access.PUBLIC).filter(pk__in=ids_of(feeds, Tournament)),
        *User.objects.filter(pk__in=ids_of(feeds, User), is_active=True).order_by("username"),
    ]
