"""Jobs and their leases: taken with a batch, renewed by posts, expired without news.

None is ended because the site itself was down: none before its HTTP processes have been up for one lease.
What is reported needs no lease any more.
"""

from __future__ import annotations

import logging
import threading
import uuid
from collections.abc import Callable, Iterable
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db import DatabaseError, close_old_connections, transaction
from django.db.models import QuerySet
from django.utils import timezone

from tournament.models import Attempt, BotSearch, BotVersion, ComplianceCheck, Door, Job, Keeper, Worker
from tournament.services.event_counts import store_counts
from tournament.services.locks import hold, in_order, lock
from tournament.services.stopping import SILENT, release
from tournament.services.work.attempts import halt_after_failures
from tournament.services.work.judging import judge_all
from workers.jobs import Ask, Work

LEASE = timedelta(seconds=settings.LEASE_SECONDS)
"""Slots post something every few seconds, so a lease expires only after several missed posts."""

RENEWED_BELOW = LEASE * 2 / 3
"""A lease is renewed once a third is used."""

START_SECONDS = 120.0
"""What a check or search may take besides its time limits, mostly to fetch and unpack its bundle."""

MAX_SECONDS = 365 * 86_400.0
"""No job takes longer."""

log = logging.getLogger("tournament.leases")


def take(
    ask: Ask,
    worker: Worker,
    kind: Work,
    now: datetime,
    *,
    most_s: float,
    owner: int | None,
    version: BotVersion | None = None,
) -> Job:
    """Store the job of an ask, which cannot take longer than ``most_s``; part of the caller's transaction."""
    return Job.objects.create(
        ask=uuid.UUID(ask.ask),
        worker=worker.name,
        slot=ask.slot,
        kind=kind,
        owner_id=owner,
        version=version,
        taken_at=now,
        lease_until=now + LEASE,
        ends_by=now + timedelta(seconds=min(most_s, MAX_SECONDS)),
    )


@transaction.atomic
def take_first(
    in_turn: Callable[[], Iterable[ComplianceCheck | BotSearch]],
    ask: Ask,
    worker: Worker,
    kind: Work,
    now: datetime,
    **columns: object,
) -> Job | None:
    """Store the job of an ask for the first of these checks or searches that still waits; None if none does.

    ``in_turn`` is called once repeats of the ask wait, and may end what shall not run. ``columns`` are stored
    with what is taken.
    """
    hold(Worker.objects.filter(pk=worker.pk))
    for repeated in Job.objects.of_worker(worker.name).filter(ask=ask.ask):
        return repeated
    for one in in_turn():
        still = type(one).objects.filter(pk=one.pk, job=one.job_id, ended_at__isnull=True)
        if lock(still.only("pk")):
            most, owner = START_SECONDS + one.seconds, one.owner_id
            job = take(ask, worker, kind, now, most_s=most, owner=owner, version=one.version)
            still.update(job=job, **columns)
            return job
    return None


def renew(job: Job, now: datetime) -> None:
    """Renew the lease of a job, at most to its latest end; writes nothing before a third is used."""
    if job.lease_until < now + RENEWED_BELOW:
        held = Job.objects.held().filter(pk=job.pk)
        held.update(lease_until=min(now + LEASE, job.ends_by))


def leases_may_end(now: datetime) -> bool:
    """Whether workers have been able to reach the site for the time of a lease."""
    return Door.objects.filter(open_since__lte=now - LEASE, seen_at__gte=now - LEASE).exists()


def expire(now: datetime) -> int:
    """Have wait again what slots had whose leases have expired; returns how many jobs. Repeatable.

    Those of the last lease are judged each time: whoever ended them may have been killed before that.
    """
    keeper, is_new = Keeper.objects.get_or_create(pk=1, defaults={"seen_at": now})
    if not is_new:
        if now < keeper.seen_at:
            _shorten_leases(now)
        Keeper.objects.update(seen_at=now)
    silent = Job.objects.held().filter(lease_until__lt=now)
    keys = list(silent.order_by("taken_at").values_list("pk", flat=True)) if leases_may_end(now) else []
    ended = sum(len(release(silent.filter(pk=key), now, Job.End.LOST)) for key in keys)
    lost = Job.objects.filter(end=Job.End.LOST, ended_at__gt=now - LEASE)
    judge_all(list(lost.values_list("worker", flat=True)), now)  # may discount losses from their games
    for attempt in Attempt.objects.filter(job__in=lost, end=Attempt.End.LOST).select_related("game"):
        halt_after_failures(attempt.game, SILENT)
    return ended


def door_is_open(now: datetime) -> None:
    """Note that workers can reach the site; each HTTP process calls it every few seconds.

    A gap of half a lease, or a clock set back by as much, counts as a new start.
    """
    near = Door.objects.filter(pk=1, seen_at__range=(now - LEASE / 2, now + LEASE / 2))
    if not near.update(seen_at=now):
        Door.objects.update_or_create(pk=1, defaults={"open_since": now, "seen_at": now})


def start_door_clock() -> threading.Event:
    """In a thread, call ``door_is_open`` and store counts until the process ends or the event is set."""
    stopped = threading.Event()

    def run() -> None:
        while not stopped.is_set():
            try:
                door_is_open(timezone.now())
                store_counts()
            except DatabaseError as error:
                log.warning("the database cannot be used: %s", error)
            close_old_connections()
            stopped.wait(LEASE.total_seconds() / 6)

    threading.Thread(target=run, name="door-clock", daemon=True).start()
    return stopped


def _shorten_leases(now: datetime) -> None:
    """Shorten leases from a clock that was ahead; they would last too long by the difference."""
    checks = ComplianceCheck.objects.filter(ended_at__isnull=True)
    columns: tuple[tuple[QuerySet[Any], str, datetime], ...] = (
        (Job.objects.held(), "lease_until", now + LEASE),
        (Job.objects.held(), "taken_at", now),
        (Attempt.objects.filter(ended_at__isnull=True), "sent_at", now),
        (Worker.objects.all(), "seen_at", now),
        (checks, "sent_at", now),
        (checks, "heard_at", now),
    )
    for rows, column, most in columns:
        with transaction.atomic():
            in_order(rows.filter(**{f"{column}__gt": most})).update(**{column: most})
