"""The state of the site itself: the record keeper's clock, its counts, and the messages that it received."""

from __future__ import annotations

import datetime
from typing import ClassVar

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
    handled_until = models.DateTimeField(null=True)
    """Everything that workers sent by then has been handled; None before the first sweep."""
    recalls = models.BooleanField(default=False)
    """Whether the next dispatch takes back the jobs that no worker has begun."""

    objects = KeeperQuerySet.as_manager()

    def lag(self, now: datetime.datetime) -> datetime.timedelta:
        """How old the oldest message of a worker may be that has not been handled."""
        return now - (self.handled_until or self.seen_at)


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


class EventCount(models.Model):
    """How often something happened that is watched, since the site began; see ``services.event_counts``."""

    class Kind(models.TextChoices):
        GAME = "game", "game"
        """A recorded game, by its termination."""
        ATTEMPT = "attempt", "attempt"
        """An attempt that ended without a result, by its end."""
        ERROR = "error", "error"
        """A task of the record keeper that failed, by its name."""

    kind = models.CharField(max_length=10, choices=Kind.choices)
    label = models.CharField(max_length=60)
    count = models.BigIntegerField(default=0)

    class Meta:
        constraints: ClassVar = [models.UniqueConstraint(fields=["kind", "label"], name="event_count_once")]

    def __str__(self) -> str:
        return f"{self.kind} {self.label}: {self.count}"


class ReceivedMessage(models.Model):
    """A message that the record keeper has handled, kept for some minutes: see ``results.received``."""

    name = models.CharField(max_length=32, primary_key=True)
    """A digest of its sender and its id."""
    sent = models.BigIntegerField(db_index=True)
    """When it was sent, in seconds of the broker's clock."""

    def __str__(self) -> str:
        return self.name
