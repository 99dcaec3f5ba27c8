"""Workers: what each reports about itself, and whether the site gives it jobs."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, ClassVar

from django.db import models

from workers.jobs import Work

if TYPE_CHECKING:
    from tournament.models.people import User


class WorkerQuerySet(models.QuerySet["Worker"]):
    def of_site(self) -> WorkerQuerySet:
        """Without the workers of users, which play for their owners alone."""
        return self.exclude(takes=Work.OWN)

    def up(self) -> WorkerQuerySet:
        return self.filter(state=Worker.State.UP)

    def taking(self, work: Work) -> WorkerQuerySet:
        """Workers that take this kind of work."""
        return self.filter(takes__contains=work)

    def given_jobs(self) -> WorkerQuerySet:
        """Workers that are up and get jobs."""
        return self.up().filter(barred="", quarantined_at__isnull=True)

    def has_another(self, failed: Iterable[str], work: Work) -> bool:
        """Whether only one worker has failed, and another may succeed with this work of any bot."""
        names = set(failed)
        return len(names) < 2 and self.trusted_with_uploads().taking(work).exclude(name__in=names).exists()

    def trusted_with_uploads(self) -> WorkerQuerySet:
        """Workers that are up, get jobs and run uploaded bots."""
        return self.given_jobs().filter(refusal="")


class Worker(models.Model):
    """A worker: one process with several slots. Its name stays the same over restarts.

    A request is a worker's own if it comes with ``token`` and ``name``; only ``run`` may ask for work.
    """

    class State(models.TextChoices):
        UP = "up", "up"
        STOPPED = "stopped", "stopped"
        """It was stopped and reported it, or its token was revoked."""
        LOST = "lost", "lost"
        """No heartbeat came for a while."""

    name = models.CharField(max_length=120, unique=True)
    token = models.ForeignKey("Token", null=True, on_delete=models.SET_NULL, related_name="workers")
    """The token with which it sent its last heartbeat."""
    run = models.CharField(max_length=36)
    """The id of its current start, which it makes itself."""
    host = models.CharField(max_length=120)
    """Its machine's host name; for staff."""
    takes = models.CharField(max_length=40)
    """The kinds of work that it takes (``Work``), separated by commas."""
    version = models.CharField(max_length=40)
    """Version of the worker's software."""
    slots = models.PositiveIntegerField(default=0)
    busy = models.PositiveIntegerField(default=0)
    held = models.PositiveIntegerField(default=0)
    """Slots that report that they cannot play."""
    games = models.PositiveBigIntegerField(default=0)
    """Games since its start, as the worker counts them, without void ones; only shown."""
    voids = models.PositiveBigIntegerField(default=0)
    games_an_hour = models.PositiveIntegerField(default=0)
    speed = models.CharField(max_length=20)
    """The speed of its processor, see ``workers.play.environment``."""
    level = models.CharField(max_length=1)
    """The level of its sandbox: A, B or C."""
    refusal = models.TextField(blank=True)
    """Why it does not run uploaded bots; empty if it does."""
    state = models.CharField(max_length=10, choices=State.choices, default=State.UP)
    started_at = models.DateTimeField()
    """When the first heartbeat of this run came."""
    seen_at = models.DateTimeField()
    trouble = models.TextField(blank=True)
    """Its last error, for staff; it stays here after the worker has recovered."""
    trouble_at = models.DateTimeField(null=True, blank=True)
    barred = models.TextField(blank=True)
    """Why it gets no jobs although nothing is wrong with it; empty if it gets them."""
    quarantined_at = models.DateTimeField(null=True, blank=True)
    """Set: it gets no jobs until staff releases it, even after a restart."""
    quarantine_reason = models.TextField(blank=True)
    released_at = models.DateTimeField(null=True, blank=True)
    """Failures before this time no longer count against it."""

    objects = WorkerQuerySet.as_manager()

    class Meta:
        ordering: ClassVar = ["name"]

    def __str__(self) -> str:
        return self.name

    @property
    def work(self) -> frozenset[Work]:
        """The kinds of work that it takes."""
        return frozenset(Work(kind) for kind in self.takes.split(",") if kind)

    @property
    def owner(self) -> User | None:
        """The user for whom alone it plays; None if it is one of the site's."""
        return self.token.user if self.takes == Work.OWN and self.token is not None else None

    @property
    def is_trusted_with_uploads(self) -> bool:
        """Whether it gets jobs and runs uploaded bots while it is up."""
        return not self.refusal and not self.barred and not self.is_quarantined

    @property
    def is_quarantined(self) -> bool:
        return self.quarantined_at is not None

    @property
    def condition(self) -> str:
        """Its condition in one or two words."""
        if self.is_quarantined:
            return "quarantined"
        if self.state != self.State.UP:
            return str(self.state)
        if self.barred:
            return "barred"
        if self.held and self.held >= self.slots:
            return "held"
        return "busy" if self.busy else "idle"

    @property
    def why(self) -> str:
        """Why it gets no jobs, a sentence for staff; empty if it does."""
        return self.quarantine_reason if self.is_quarantined else self.barred


class WorkerNameQuerySet(models.QuerySet["WorkerName"]):
    def ids(self, names: Iterable[str]) -> dict[str, int]:
        """The ids of these names, new ones included."""
        wanted = set(names)
        known = dict(self.filter(name__in=wanted).values_list("name", "pk"))
        return known | {name: self.get_or_create(name=name)[0].pk for name in sorted(wanted - known.keys())}


class WorkerName(models.Model):
    """The name of a worker that has recorded games; it stays when the row of the worker is deleted."""

    name = models.CharField(max_length=120, unique=True)

    objects = WorkerNameQuerySet.as_manager()

    class Meta:
        ordering: ClassVar = ["name"]

    def __str__(self) -> str:
        return self.name
