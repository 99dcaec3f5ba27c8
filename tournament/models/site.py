"""What the site remembers about itself."""

from __future__ import annotations

import datetime

from django.db import models


class KeeperQuerySet(models.QuerySet["Keeper"]):
    def recall_jobs(self) -> None:
        """Have the next dispatch take back what is queued: something else is to be played first.

        Part of the transaction that changed it. Before the keeper's first start nothing is queued.
        """
        self.update(recalls=True)


class Keeper(models.Model):
    """The record keeper's own clock: one row."""

    up_since = models.DateTimeField()
    """Since when it has run without a gap of a lease; no lease is ended before one lease after it."""
    seen_at = models.DateTimeField()
    """Its last sweep."""
    empty_since = models.DateTimeField(null=True)
    """Since when the queue of games has been seen empty by every sweep; null while it holds a job."""
    validation_empty_since = models.DateTimeField(null=True)
    """The same of the queue of validations."""
    recalls = models.BooleanField(default=False)
    """Whether the next dispatch is to take back the jobs that no worker has begun."""

    objects = KeeperQuerySet.as_manager()


class IgnoredQuerySet(models.QuerySet["Ignored"]):
    def count_one(self, reason: str, now: datetime.datetime) -> None:
        """One more message ignored for ``reason``; part of the caller's transaction."""
        self.get_or_create(reason=reason, defaults={"last_at": now})
        self.filter(reason=reason).update(count=models.F("count") + 1, last_at=now)


class Ignored(models.Model):
    """How many messages of workers were acknowledged without effect, by reason."""

    reason = models.CharField(max_length=40, primary_key=True)
    count = models.BigIntegerField(default=0)
    last_at = models.DateTimeField()

    objects = IgnoredQuerySet.as_manager()

    class Meta:
        verbose_name_plural = "ignored"

    def __str__(self) -> str:
        return f"{self.reason}: {self.count}"
