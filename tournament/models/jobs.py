"""What slots have: each job is games of one tournament, a compliance check, or positions of a search."""

from __future__ import annotations

import datetime
import uuid
from typing import ClassVar

from django.conf import settings
from django.db import models

from workers.jobs import Work


class JobQuerySet(models.QuerySet["Job"]):
    def held(self) -> JobQuerySet:
        """Jobs that slots have."""
        return self.filter(ended_at__isnull=True)

    def of_worker(self, name: str) -> JobQuerySet:
        return self.held().filter(worker=name)


class Job(models.Model):
    """What a slot takes with one ask: attempts, a check or a search refer to it. It ends once.

    It ends with the last report, or earlier if the slot has nothing of it any more; then its time is charged.
    """

    class End(models.TextChoices):
        OPEN = "", "open"
        DONE = "done", "done"
        LOST = "lost", "lost"
        """Its lease expired."""
        RELEASED = "released", "released"
        """Its slot holds it no more, or its worker is gone or gets no work; counts against nobody."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4)
    ask = models.UUIDField()
    """The request that took it; the same request gets the same batch again."""
    worker = models.CharField(max_length=120)
    """The name of the worker that took it; only that worker may report."""
    slot = models.PositiveIntegerField()
    """The slot of that worker; it plays the games one after another."""
    kind = models.CharField(max_length=10, choices=[(str(one), str(one)) for one in Work])
    """The kind of work; validation games are checks."""
    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    """Who is charged; null: the site, also for visitors without accounts."""
    version = models.ForeignKey("BotVersion", null=True, on_delete=models.CASCADE, related_name="+")
    """The version that is checked or searches; null for games."""
    taken_at = models.DateTimeField()
    lease_until = models.DateTimeField()
    ends_by = models.DateTimeField()
    """No lease is renewed beyond this time: the job cannot take longer."""
    ended_at = models.DateTimeField(null=True, blank=True)
    end = models.CharField(max_length=10, choices=End.choices, blank=True, default="")

    objects = JobQuerySet.as_manager()

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["worker", "ask"], condition=models.Q(ended_at=None), name="job_once_an_ask"
            ),
            models.CheckConstraint(
                condition=models.Q(end="", ended_at=None) | (~models.Q(end="") & ~models.Q(ended_at=None)),
                name="job_ended_with_end",
            ),
        ]
        indexes: ClassVar = [
            models.Index(fields=["lease_until"], condition=models.Q(ended_at=None), name="job_held"),
            models.Index(fields=["worker", "-ended_at"], condition=models.Q(end="lost"), name="job_lost"),
            models.Index(fields=["taken_at"], name="job_taken"),
        ]

    def __str__(self) -> str:
        return str(self.id)

    def seconds(self, now: datetime.datetime) -> float:
        """For how long its slot has had it, at most until its lease ended."""
        return max(0.0, (min(now, self.lease_until) - self.taken_at).total_seconds())
