"""Workers as the site knows them: what each told of itself, and whether it is given jobs."""

from __future__ import annotations

from typing import ClassVar

from django.db import models


class WorkerQuerySet(models.QuerySet["Worker"]):
    def up(self) -> WorkerQuerySet:
        return self.filter(state=Worker.State.UP)

    def trusted_with_uploads(self) -> WorkerQuerySet:
        """Those that are up and run uploaded bots."""
        return self.up().filter(refusal="", quarantined_at__isnull=True)


class Worker(models.Model):
    """A worker by its name, which it has whenever it is started; one process with several slots."""

    class State(models.TextChoices):
        UP = "up", "up"
        STOPPED = "stopped", "stopped"
        """It was told to stop, and said so."""
        LOST = "lost", "lost"
        """Nothing was heard of it for a while."""

    name = models.CharField(max_length=120, unique=True)
    run = models.CharField(max_length=36)
    """Its present start, as the worker tells it from others."""
    host = models.CharField(max_length=120)
    """What its machine calls itself; for staff."""
    queue = models.CharField(max_length=20)
    version = models.CharField(max_length=40)
    """Of the software."""
    slots = models.PositiveIntegerField(default=0)
    busy = models.PositiveIntegerField(default=0)
    held = models.PositiveIntegerField(default=0)
    """Slots that found themselves unable to play."""
    games = models.PositiveBigIntegerField(default=0)
    """Since its start, as it counts them, without the void ones; only to be shown."""
    voids = models.PositiveBigIntegerField(default=0)
    games_an_hour = models.PositiveIntegerField(default=0)
    speed = models.CharField(max_length=20)
    """Of its processor: see ``workers.conditions``."""
    level = models.CharField(max_length=1)
    """Of its sandbox: A, B or C."""
    refusal = models.TextField(blank=True)
    """Why it does not run uploaded bots; empty: it does."""
    state = models.CharField(max_length=10, choices=State.choices, default=State.UP)
    started_at = models.DateTimeField()
    """When this run was first heard of."""
    seen_at = models.DateTimeField()
    trouble = models.TextField(blank=True)
    """Its last error, for staff; a worker that has overcome it leaves it here."""
    trouble_at = models.DateTimeField(null=True, blank=True)
    set_aside = models.TextField(blank=True)
    """Why it gets no jobs though nothing is wrong with it; empty: it gets them."""
    quarantined_at = models.DateTimeField(null=True, blank=True)
    """It gets no jobs until a person releases it, whenever it comes back."""
    quarantine_reason = models.TextField(blank=True)
    released_at = models.DateTimeField(null=True, blank=True)
    """Voids before this are no longer held against it."""

    objects = WorkerQuerySet.as_manager()

    class Meta:
        ordering: ClassVar = ["name"]

    def __str__(self) -> str:
        return self.name

    @property
    def is_quarantined(self) -> bool:
        return self.quarantined_at is not None

    @property
    def condition(self) -> str:
        """One word for how it stands."""
        if self.is_quarantined:
            return "quarantined"
        if self.state != self.State.UP:
            return str(self.state)
        if self.set_aside:
            return "set aside"
        if self.held and self.held >= self.slots:
            return "held"
        return "busy" if self.busy else "idle"

    @property
    def why(self) -> str:
        """Why it gets no jobs, a sentence for staff; empty if it does."""
        return self.quarantine_reason if self.is_quarantined else self.set_aside
