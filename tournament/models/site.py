"""The state of the site itself: the record keeper's clock, and the messages that it received and ignored.

A separate module, because these tables belong to no player, bot or game.
"""

from __future__ import annotations

import datetime

from django.db import models


class KeeperQuerySet(models.QuerySet["Keeper"]):
    def recall_jobs(self) -> None:
        """Have the next dispatch take back the queued jobs, because other games come first now.

        Part of the transaction that changed the order. No effect before the keeper's first start, when
        nothing is queued.
        """
        self.update(recalls=True)


class Keeper(models.Model):
    """The record keeper's own state: one row."""

    up_since = models.DateTimeField()
    """Start of the time it has run without a gap of a lease; no lease is ended within one lease after it."""
    seen_at = models.DateTimeField()
    """The time of its last sweep."""
    recalls = models.BooleanField(default=False)
    """Whether the next dispatch takes back the jobs that no worker has begun."""

    objects = KeeperQuerySet.as_manager()


class IgnoredQuerySet(models.QuerySet["Ignored"]):
    def count_more(self, reason: str, now: datetime.datetime, number: int = 1) -> None:
        """Add to the messages ignored for ``reason``; part of the caller's transaction."""
        self.get_or_create(reason=reason, defaults={"last_at": now})
        self.filter(reason=reason).update(count=models.F("count") + number, last_at=now)


class Ignored(models.Model):
    """How many messages from workers were acknowledged without effect, by reason."""

    reason = models.CharField(max_length=40, primary_key=True)
    count = models.BigIntegerField(default=0)
    last_at = models.DateTimeField()

    objects = IgnoredQuerySet.as_manager()

    class Meta:
        verbose_name_plural = "ignored"

    def __str__(self) -> str:
        return f"{self.reason}: {self.count}"


class ReceivedMessage(models.Model):
    """A message that the record keeper has handled, kept for some minutes: see ``results.received``."""

    name = models.CharField(max_length=32, primary_key=True)
    """A digest of its sender and its id."""
    sent = models.BigIntegerField(db_index=True)
    """When it was sent, in seconds of the broker's clock."""

    def __str__(self) -> str:
        return self.name
