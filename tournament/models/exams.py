"""Examinations: a bundle unpacked and checked in a worker before its version may play."""

from __future__ import annotations

import uuid
from typing import Any, ClassVar

from django.db import models

from workers.examination import Found


class Exam(models.Model):
    """One try at examining a version: queued, heard of, ended once."""

    class End(models.TextChoices):
        OPEN = "", "open"
        DONE = "done", "done"
        REFUSED = "refused", "refused"
        """The bundle itself is no good; ``why`` says how."""
        FAILED = "failed", "failed"
        """For no fault of the bot's; ``why`` says how."""
        RETURNED = "returned", "returned"
        """Its worker was told to stop."""
        LOST = "lost", "lost"
        """Nothing was heard of it for a lease."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4)
    version = models.ForeignKey("BotVersion", on_delete=models.CASCADE, related_name="exams")
    sent_at = models.DateTimeField()
    heard_at = models.DateTimeField(null=True, blank=True)
    """The worker's last word; null while it is queued."""
    ended_at = models.DateTimeField(null=True, blank=True)
    end = models.CharField(max_length=10, choices=End.choices, blank=True, default="")
    why = models.TextField(blank=True)
    worker = models.CharField(max_length=120, blank=True)
    unpacked = models.BooleanField(default=False)
    engine = models.CharField(max_length=100, blank=True)
    """What the engine calls itself."""
    found: models.JSONField[Any, Any] = models.JSONField(default=list)
    """The findings so far, each as ``workers.examination.Found`` travels."""

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["version"], condition=models.Q(ended_at__isnull=True), name="exam_open_once_a_version"
            ),
            models.CheckConstraint(
                condition=models.Q(end="", ended_at__isnull=True)
                | (~models.Q(end="") & models.Q(ended_at__isnull=False)),
                name="exam_ended_with_end",
            ),
        ]
        indexes: ClassVar = [models.Index(fields=["version", "-sent_at"], name="exam_of_version")]

    def __str__(self) -> str:
        return str(self.id)

    @property
    def findings(self) -> list[Found]:
        return [Found.from_json(found) for found in self.found]
