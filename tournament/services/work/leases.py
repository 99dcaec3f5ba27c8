"""Leases of attempts, checks and searches: granted with a batch, renewed by posts, ended without news.

None is ended because the site itself was down: none before its HTTP processes have been up for one lease.
What is reported needs no lease any more.
"""

from __future__ import annotations

import logging
import threading
import uuid
from datetime import datetime, timedelta

from django.conf import settings
from django.db import DatabaseError, close_old_connections, transaction
from django.utils import timezone

from tournament.models import Attempt, BotSearch, Door, Exam, Keeper, Worker
from tournament.services.event_counts import store_counts
from tournament.services.locks import in_order
from tournament.services.work.attempts import give_back, halt_after_failures
from tournament.services.work.judging import SILENT, judge_all

LEASE = timedelta(seconds=settings.LEASE_SECONDS)
"""Slots post something every few seconds, so a lease expires only after several missed posts."""

RENEWED_BELOW = LEASE * 2 / 3
"""A lease is renewed once a third is used."""

START = timedelta(seconds=120)
"""What a check or search may take besides its time limits, mostly to fetch and unpack its bundle."""

log = logging.getLogger("tournament.leases")


def is_over_soon(attempt: Attempt, now: datetime) -> bool:
    """Whether a post about the attempt's job renews its lease."""
    return attempt.lease_until is not None and attempt.lease_until < now + RENEWED_BELOW


def renew(job: uuid.UUID, now: datetime) -> None:
    """Renew the leases of a job's games, or of a check with this id or a search with this ask.

    Writes nothing before a third is used.

    One slot plays a job, so a post about one game covers them all. A lease ends at the latest when the clocks
    of its games, or the time limits of its check or search, have run out.
    """
    unreported = Attempt.objects.filter(job=job, ended_at__isnull=True, reported_at__isnull=True)
    soon = now + RENEWED_BELOW
    for ends_by in unreported.filter(lease_until__lt=soon).order_by().values_list("ends_by", flat=True)[:1]:
        with transaction.atomic():
            in_order(unreported).update(lease_until=min(now + LEASE, ends_by or now + LEASE))
        return
    held = {"ended_at__isnull": True, "lease_until__lt": soon}
    checks, searches = Exam.objects.filter(pk=job, **held), BotSearch.objects.filter(ask=job, **held)
    if checks.values("pk").union(searches.values("pk")).exists():
        for check in checks.select_related("version"):
            ends_by = check.sent_at + START + timedelta(seconds=check.seconds)
            checks.update(lease_until=min(now + LEASE, ends_by))
        for search in searches:
            searches.update(lease_until=lease_of_search(search, now))


def lease_of_search(search: BotSearch, now: datetime) -> datetime:
    """Until when a slot has a search that it posts about now."""
    return min(now + LEASE, (search.sent_at or now) + START + timedelta(seconds=search.seconds))


def leases_may_end(now: datetime) -> bool:
    """Whether workers have been able to reach the site for the time of a lease."""
    return Door.objects.filter(open_since__lte=now - LEASE, seen_at__gte=now - LEASE).exists()


def end_leases(now: datetime) -> int:
    """End the expired leases of games, which wait again; returns how many. Repeatable."""
    keeper, is_new = Keeper.objects.get_or_create(pk=1, defaults={"seen_at": now})
    if not is_new:
        if now < keeper.seen_at:
            _shorten_leases(now)
        Keeper.objects.update(seen_at=now)
    if not leases_may_end(now):
        return 0
    expired = Attempt.objects.filter(ended_at__isnull=True, reported_at__isnull=True, lease_until__lt=now)
    attempts = list(expired.select_related("game").order_by("sent_at"))
    lost = [attempt for attempt in attempts if give_back(attempt, Attempt.End.LOST, now, evidence=SILENT)]
    judge_all((attempt.assigned for attempt in lost), now)  # may discount these losses from their games
    for attempt in lost:
        halt_after_failures(attempt.game, SILENT)
    return len(lost)


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
    alive = Attempt.objects.filter(ended_at__isnull=True)
    with transaction.atomic():
        in_order(alive.filter(lease_until__gt=now + LEASE)).update(lease_until=now + LEASE)
    with transaction.atomic():
        in_order(alive.filter(sent_at__gt=now)).update(sent_at=now)
    Worker.objects.filter(seen_at__gt=now).update(seen_at=now)
    checks = Exam.objects.filter(ended_at__isnull=True)
    checks.filter(sent_at__gt=now).update(sent_at=now)
    checks.filter(heard_at__gt=now).update(heard_at=now)
    checks.filter(lease_until__gt=now + LEASE).update(lease_until=now + LEASE)
    searches = BotSearch.objects.exclude(assigned="")
    searches.filter(sent_at__gt=now).update(sent_at=now)
    searches.filter(lease_until__gt=now + LEASE).update(lease_until=now + LEASE)
