"""The sweep: gives back the games of workers that were not heard of for a lease.

An attempt that was queued has no lease yet: however slow the games before it, it waits. It is
lost only if its queue shows that it was taken: a job sent after it has been played for
a lease's time (a queue is first in, first out), or the queue has been empty for that long. Validations have
a queue of their own, and their examinations are watched over like their games.

No lease is ended while it is the record keeper that was away or is behind: none until it has run for
one lease after a start, and none before the reports queued at that moment are processed.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from django.conf import settings
from django.db.models import Q
from django.utils import timezone

from tournament import broker
from tournament.models import Attempt, Exam, Keeper, Worker
from tournament.services.attempts import give_back
from tournament.services.dispatch import of_queue
from tournament.services.validation import sweep_exams
from tournament.services.workers import sweep_workers

_TOURNAMENT = "game__tournament"
LEASE = timedelta(seconds=settings.LEASE_SECONDS)
"""Workers tell their progress every few seconds; several words must be missed."""


def keeper_started(now: datetime | None = None) -> None:
    """The record keeper begins: what it missed must not count against the workers."""
    now = now or timezone.now()
    fresh = {"up_since": now, "seen_at": now, "empty_since": None, "validation_empty_since": None}
    Keeper.objects.update_or_create(pk=1, defaults=fresh)
    _seen(now)  # a queue that is empty already is so from now on, not from the first sweep on


def sweep(as_of: datetime | None = None, now: datetime | None = None) -> int:
    """End the leases that ran out; returns how many. Repeatable, and soon over with nothing to do.

    Where reports wait, it queues itself behind them: that second sweep comes with ``as_of``, the moment
    of the first, and ends what had run out by then and was not renewed by what was processed since.
    """
    now = now or timezone.now()
    keeper = _seen(now)
    if now - keeper.up_since < LEASE:
        return 0
    if as_of is None:
        if broker.queue_length(broker.RECORDS) > 0:
            broker.send_sweep(now)
            return 0
        as_of = now
    sweep_workers(as_of)
    lost = list(_run_out(as_of, keeper))
    for attempt in lost:
        give_back(attempt, Attempt.End.LOST, now, evidence="no word from a worker within a lease")
    settled, empty_since = as_of - LEASE, keeper.validation_empty_since
    is_empty = empty_since is not None and empty_since <= settled
    return len(lost) + sweep_exams(settled, settled if is_empty else None, now)


def _seen(now: datetime) -> Keeper:
    """The keeper's clock, set; a gap of a lease counts as a new start, and so does a clock put back."""
    keeper, _ = Keeper.objects.get_or_create(pk=1, defaults={"up_since": now, "seen_at": now})
    if now < keeper.seen_at:
        _shorten_leases(now)
    if not timedelta(0) <= now - keeper.seen_at <= LEASE:
        keeper.up_since = now
        keeper.empty_since = keeper.validation_empty_since = None
    keeper.seen_at = now
    keeper.empty_since = _empty_since(broker.GAMES, keeper.empty_since, now)
    keeper.validation_empty_since = _empty_since(broker.VALIDATION, keeper.validation_empty_since, now)
    keeper.save(update_fields=["up_since", "seen_at", "empty_since", "validation_empty_since"])
    return keeper


def _empty_since(queue: str, before: datetime | None, now: datetime) -> datetime | None:
    return None if broker.queue_length(queue) > 0 else before or now


def _shorten_leases(now: datetime) -> None:
    """Leases given by a clock that was ahead would last as long as it was."""
    Attempt.objects.filter(ended_at__isnull=True, lease_until__gt=now + LEASE).update(lease_until=now + LEASE)
    Attempt.objects.filter(ended_at__isnull=True, sent_at__gt=now).update(sent_at=now)
    Worker.objects.filter(seen_at__gt=now).update(seen_at=now)
    Exam.objects.filter(ended_at__isnull=True, sent_at__gt=now).update(sent_at=now)
    Exam.objects.filter(ended_at__isnull=True, heard_at__gt=now).update(heard_at=now)


def _run_out(as_of: datetime, keeper: Keeper) -> list[Attempt]:
    alive = Attempt.objects.filter(ended_at__isnull=True)
    run_out = Q(lease_until__lt=as_of)
    queues = ((broker.GAMES, keeper.empty_since), (broker.VALIDATION, keeper.validation_empty_since))
    for queue, empty_since in queues:
        if (taken := _taken_before(as_of, queue, empty_since)) is not None:
            run_out |= of_queue(queue, _TOURNAMENT) & Q(lease_until__isnull=True, sent_at__lt=taken)
    return list(alive.filter(run_out).order_by("sent_at"))


def _taken_before(as_of: datetime, queue: str, empty_since: datetime | None) -> datetime | None:
    """Jobs sent before this moment are no longer in the queue since a lease at least; None: none are."""
    settled = as_of - LEASE
    attempts = Attempt.objects.filter(of_queue(queue, _TOURNAMENT))
    oldest = attempts.filter(ended_at__isnull=True, lease_until__isnull=True, sent_at__lt=settled)
    first = oldest.order_by("sent_at").first()
    if first is None:
        return None
    if empty_since is not None and empty_since <= settled:
        return settled
    later = attempts.filter(sent_at__gt=first.sent_at, started_at__lt=settled)
    return later.order_by("-sent_at").values_list("sent_at", flat=True).first()
