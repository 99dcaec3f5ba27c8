"""The state of the site itself: the clocks of the record keeper and of the door, the inbox, counts, keys."""

from __future__ import annotations

from typing import ClassVar

from django.db import models

from tournament.models.compressed import CompressedTextField


class Keeper(models.Model):
    """The record keeper's own state: one row."""

    seen_at = models.DateTimeField()
    """When it last looked at the inbox and at what is due."""


class Door(models.Model):
    """Since when workers can reach the site: one row, written by every HTTP process every few seconds."""

    open_since = models.DateTimeField()
    """Start of the time without a gap; no lease is ended within one lease after it."""
    seen_at = models.DateTimeField()


class InboxReport(models.Model):
    """The report of a finished game that the record keeper has not handled yet.

    Written in the transaction that marks its attempt as reported, and deleted in the one that stores the
    result.
    """

    attempt = models.OneToOneField("Attempt", on_delete=models.CASCADE, related_name="inbox_report")
    content: models.Field[str, str] = CompressedTextField()
    """A ``workers.jobs.GameReport`` as JSON."""
    received_at = models.DateTimeField()

    def __str__(self) -> str:
        return f"report of {self.attempt_id}"


class IgnoredQuerySet(models.QuerySet["Ignored"]):
    def count_more(self, reason: str, number: int = 1) -> None:
        """Add to the messages ignored for ``reason``; part of the caller's transaction."""
        self.get_or_create(reason=reason)
        self.filter(reason=reason).update(count=models.F("count") + number)


class Ignored(models.Model):
    """How many messages from workers were acknowledged without effect, by reason."""

    reason = models.CharField(max_length=40, primary_key=True)
    count = models.BigIntegerField(default=0)

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
        ANSWER = "answer", "answer"
        """A request that the site answered with an error of its own, by its status."""
        DELIVERY = "delivery", "delivery"
        """An attempt to deliver an event to a webhook, by its end."""

    kind = models.CharField(max_length=10, choices=Kind.choices)
    label = models.CharField(max_length=60)
    count = models.BigIntegerField(default=0)

    class Meta:
        constraints: ClassVar = [models.UniqueConstraint(fields=["kind", "label"], name="event_count_once")]

    def __str__(self) -> str:
        return f"{self.kind} {self.label}: {self.count}"


class SigningKey(models.Model):
    """A public key with which the site signs what it publishes; see ``services.signing``."""

    public = models.CharField(max_length=200, unique=True)
    """As OpenSSH writes it, without a comment."""
    since = models.DateTimeField()
    until = models.DateTimeField(null=True, blank=True)
    """The end of its validity; none for the present key."""

    def __str__(self) -> str:
        return self.public
