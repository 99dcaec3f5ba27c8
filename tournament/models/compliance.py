"""Compliance checks: a worker unpacks and checks a bundle before its version may play."""

from __future__ import annotations

import uuid
from typing import Any, ClassVar

import msgspec
from django.db import models

from workers.jobs import Finding

SECONDS = 60
SECONDS_A_LADDER = 45
"""Time limits of a compliance check."""


class ComplianceCheck(models.Model):
    """One attempt to check a version: it waits, runs, and ends once."""

    class End(models.TextChoices):
        OPEN = "", "open"
        DONE = "done", "done"
        REFUSED = "refused", "refused"
        """The bundle itself is bad; ``why`` holds the reason."""
        FAILED = "failed", "failed"
        """Not the bot's fault; ``why`` holds the reason."""
        RETURNED = "returned", "returned"
        """Its slot returned it, or the site stopped it."""
        LOST = "lost", "lost"
        """No message came within a lease."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4)
    version = models.ForeignKey("BotVersion", on_delete=models.CASCADE, related_name="checks")
    sent_at = models.DateTimeField()
    """The time since when it waits, or when it was taken."""
    heard_at = models.DateTimeField(null=True, blank=True)
    """When the worker's last message came; null before the first."""
    ended_at = models.DateTimeField(null=True, blank=True)
    end = models.CharField(max_length=10, choices=End.choices, blank=True, default="")
    why = models.TextField(blank=True)
    job = models.ForeignKey("Job", null=True, on_delete=models.SET_NULL, related_name="checks")
    """Null while it waits."""
    worker = models.CharField(max_length=120, blank=True)
    unpacked = models.BooleanField(default=False)
    engine = models.CharField(max_length=100, blank=True)
    """The name that the engine reports."""
    found: models.JSONField[Any, Any] = models.JSONField(default=list)
    """The findings so far, each in the JSON form of ``workers.jobs.Finding``."""

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["version"],
                condition=models.Q(ended_at__isnull=True),
                name="check_open_once_a_version",
            ),
            models.CheckConstraint(
                condition=models.Q(end="", ended_at__isnull=True)
                | (~models.Q(end="") & models.Q(ended_at__isnull=False)),
                name="check_ended_with_end",
            ),
        ]
        indexes: ClassVar = [
            models.Index(fields=["version", "-sent_at"], name="check_of_version"),
            models.Index(fields=["-ended_at"], name="check_ended"),
        ]

    def __str__(self) -> str:
        return str(self.id)

    @property
    def owner_id(self) -> int | None:
        """Who is charged."""
        return self.version.bot.owner_id

    @property
    def seconds(self) -> int:
        """The time limit of the check."""
        return SECONDS + SECONDS_A_LADDER * len(self.version.games)

    @property
    def findings(self) -> list[Finding]:
        return msgspec.convert(self.found, list[Finding])
