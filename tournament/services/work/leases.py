"""Leases of attempts: granted, renewed, and ended when a worker sent nothing for the time of a lease.

An attempt gets its lease with the first message about its job, and each later one renews it. A sweep ends
the expired leases; their games wait again.

A queued attempt has no lease yet: it waits, however slow the games before it are. It counts as lost only
if its worker's queue shows that it was taken: a job sent after it began at least a lease's time ago (a queue
is first in, first out), or the queue has been empty for that long. What is queued for a worker that gets no
jobs any more is taken back. ``Swept`` has what ``uploads.validation`` needs to sweep compliance checks in the
same way.

No lease is ended because the record keeper itself was down or is late: none until it has run for
one lease after a start, and none before the reports queued at that moment are processed.
"""

from __future__ import annotations

import uuid
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.conf import settings
from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from tournament import queues
from tournament.models import Attempt, Exam, Keeper, Worker
from tournament.services.dispatch.attempts import give_back
from tournament.services.dispatch.recalls import take_back_stranded
from tournament.services.dispatch.workers import presume_others_lost, replace_queues, sweep_workers
from tournament.services.locks import in_order
from workers.service.messaging.signing import COMMANDS, own_queue

LEASE = timedelta(seconds=settings.LEASE_SECONDS)
"""Workers send progress every few seconds, so a lease expires only after several missed messages."""


@dataclass(frozen=True, slots=True)
class Swept:
    """``lost`` attempts were ended. A check whose last message came before ``settled`` is lost.

    The workers named in ``idle`` have taken everything that was queued for them before ``settled``.
    """

    lost: int
    settled: datetime
    idle: frozenset[str]


@transaction.atomic
def renew(jobs: Collection[uuid.UUID], now: datetime) -> int:
    """Grant or renew the leases of all games of these jobs; returns how many.

    One worker plays a job, so one message covers it.
    """
    attempts = Attempt.objects.filter(job__in=jobs, ended_at__isnull=True)
    return in_order(attempts).update(lease_until=now + LEASE)


def keeper_started(now: datetime | None = None) -> None:
    """Reset the keeper's clock at its start: messages it missed must not count against the workers."""
    now = now or timezone.now()
    Keeper.objects.update_or_create(pk=1, defaults={"up_since": now, "seen_at": now})
    Worker.objects.update(empty_since=None)
    presume_others_lost()
    _update_keeper(now)  # a queue that is empty now counts as empty from now on, not from the first sweep on


def end_leases(as_of: datetime | None, now: datetime) -> Swept | None:
    """End the expired leases; None while none may be ended. Repeatable.

    If reports wait, it queues a second sweep behind them, with ``as_of`` set to the time of the first. The
    second one ends the leases that had expired by ``as_of`` and were not renewed by the processed reports.
    """
    keeper = _update_keeper(now)
    if as_of is None:
        if queues.queue_length(queues.RECORDS) > 0:
            queues.send_sweep(now)
            return None
        as_of = now
    Keeper.objects.update(handled_until=as_of)
    if as_of - keeper.up_since < LEASE:
        return None
    sweep_workers(as_of)
    take_back_stranded()
    workers = list(Worker.objects.given_jobs())
    lost = _run_out(as_of, workers)
    for attempt in lost:
        give_back(attempt, Attempt.End.LOST, now, evidence="no word from a worker within a lease")
    settled = as_of - LEASE
    return Swept(
        len(lost), settled, frozenset(worker.name for worker in workers if _is_idle(worker, settled))
    )


def _update_keeper(now: datetime) -> Keeper:
    """Update the keeper's clock; a gap of a lease counts as a new start, and so does a clock set back."""
    keeper, _ = Keeper.objects.get_or_create(pk=1, defaults={"up_since": now, "seen_at": now})
    if now < keeper.seen_at:
        _shorten_leases(now)
    if not timedelta(0) <= now - keeper.seen_at <= LEASE:
        keeper.up_since = now
        Worker.objects.update(empty_since=None)
    keeper.seen_at = now
    keeper.save(update_fields=["up_since", "seen_at"])
    for worker in Worker.objects.up():
        try:
            _look_at_queues(worker, now)
        except queues.QueueBroken as broken:
            replace_queues(worker, str(broken), now)
    return keeper


def _look_at_queues(worker: Worker, now: datetime) -> None:
    """Note whether the worker has taken all its jobs; raises ``QueueBroken``."""
    queues.queue_length(own_queue(COMMANDS, worker.name))
    length = queues.queue_length(own_queue(worker.queue, worker.name))
    since = None if length else worker.empty_since or now
    if since != worker.empty_since:
        Worker.objects.filter(pk=worker.pk).update(empty_since=since)


def _is_idle(worker: Worker, settled: datetime) -> bool:
    """Whether the worker's queue has been empty since before that time."""
    return worker.empty_since is not None and worker.empty_since <= settled


def _shorten_leases(now: datetime) -> None:
    """Shorten leases from a clock that was ahead; they would last too long by the difference."""
    alive = Attempt.objects.filter(ended_at__isnull=True)
    with transaction.atomic():
        in_order(alive.filter(lease_until__gt=now + LEASE)).update(lease_until=now + LEASE)
    with transaction.atomic():
        in_order(alive.filter(sent_at__gt=now)).update(sent_at=now)
    Worker.objects.filter(seen_at__gt=now).update(seen_at=now)
    Exam.objects.filter(ended_at__isnull=True, sent_at__gt=now).update(sent_at=now)
    Exam.objects.filter(ended_at__isnull=True, heard_at__gt=now).update(heard_at=now)


def _run_out(as_of: datetime, workers: Sequence[Worker]) -> list[Attempt]:
    alive = Attempt.objects.filter(ended_at__isnull=True)
    run_out = Q(lease_until__lt=as_of)
    for worker in workers:
        if (taken := _taken_before(as_of, worker)) is not None:
            run_out |= Q(assigned=worker.name, lease_until__isnull=True, sent_at__lt=taken)
    return list(alive.filter(run_out).order_by("sent_at"))


def _taken_before(as_of: datetime, worker: Worker) -> datetime | None:
    """Jobs sent before this time left the worker's queue at least one lease ago; None if there are none."""
    settled = as_of - LEASE
    attempts = Attempt.objects.filter(assigned=worker.name)
    oldest = attempts.filter(ended_at__isnull=True, lease_until__isnull=True, sent_at__lt=settled)
    first = oldest.order_by("sent_at").first()
    if first is None:
        return None
    if _is_idle(worker, settled):
        return settled
    later = attempts.filter(sent_at__gt=first.sent_at, started_at__lt=settled)
    return later.order_by("-sent_at").values_list("sent_at", flat=True).first()
