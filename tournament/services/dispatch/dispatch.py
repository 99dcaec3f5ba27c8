"""The dispatcher: keeps a small buffer of batches queued ahead of the workers, each in a worker's own queue.

The database holds the queue. The broker holds copies of a few of its rows, so that cancellations and
priorities are SQL and take effect as soon as the buffer is played.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from django.db.models import Q
from django.utils import timezone

from tournament import queues
from tournament.models import Attempt, Keeper, Tournament, Worker
from tournament.services.dispatch.batches import GameBatch, claim, cut_batches
from tournament.services.dispatch.recalls import release_queued
from tournament.services.dispatch.rooms import BATCHES_AHEAD_A_SLOT, assign, find_rooms
from tournament.services.dispatch.slots import slots_at_work
from workers.service.messaging.signing import own_queue

CLAIMED_AT_ONCE = 16
"""Batches in one transaction: results cannot be stored while it runs."""


def buffer_batches() -> int:
    """How many batches of tournaments may be queued or played at once; 0 while no worker is up."""
    return BATCHES_AHEAD_A_SLOT * slots_at_work()


def top_up() -> int:
    """Fill the buffer if half of it is used up; cheap enough to call after every report."""
    return fill_buffer() if _messages(queues.GAMES) * 2 <= buffer_batches() else 0


def fill_buffer() -> int:
    """Claim waiting games and send them; returns how many games. May be called at any time.

    Tournaments of higher priority come first; those of equal priority take turns, a batch each. Validations
    have workers of their own. Without a worker nothing is claimed: its games wait until one registers.
    """
    if Keeper.objects.filter(recalls=True).exists():
        recall()
    return _fill(queues.VALIDATION) + _fill(queues.GAMES)


def queue_of(kind: str) -> str:
    """The queue for games of a tournament of this kind."""
    return queues.VALIDATION if kind == Tournament.Kind.VALIDATION else queues.GAMES


def of_queue(queue: str, path: str) -> Q:
    """A filter for rows whose tournament, at the end of ``path``, uses that queue."""
    validations = Q(**{f"{path}__kind": Tournament.Kind.VALIDATION})
    return validations if queue == queues.VALIDATION else ~validations


def _fill(queue: str) -> int:
    rooms = find_rooms(queue)
    most = sum(max(0, room.left) for room in rooms)
    batches = islice(_next_batches(queue, most), most) if most else ()
    assigned = assign(batches, rooms)
    begins = range(0, len(assigned), CLAIMED_AT_ONCE)
    return sum(claim(assigned[begin : begin + CLAIMED_AT_ONCE], queue) for begin in begins)


def recall() -> int:
    """Take back the batches that no worker has begun; returns how many games wait again.

    Does not count against a game or a worker. If a worker takes a batch at the same moment, its reports are
    ignored.
    """
    Keeper.objects.update(recalls=False)
    ours = of_queue(queues.GAMES, "game__tournament")
    queued = Attempt.objects.filter(ours, ended_at__isnull=True, lease_until__isnull=True)
    # Also of workers whose attempts have ended: a cancellation leaves their messages in the queue.
    workers = Worker.objects.up().filter(queue=queues.GAMES).values_list("name", flat=True)
    for name in sorted({*workers, *queued.values_list("assigned", flat=True)}):
        queues.clear_queue(own_queue(queues.GAMES, name))
    return release_queued(queued, timezone.now())


def _messages(queue: str) -> int:
    """How many messages are queued or being played."""
    attempts = Attempt.objects.filter(of_queue(queue, "game__tournament"), ended_at__isnull=True)
    return attempts.values("job").distinct().count()


def _next_batches(queue: str, most: int) -> Iterator[GameBatch]:
    """Batches of the running tournaments by priority; tournaments of equal priority take turns."""
    running = Tournament.objects.running().order_by("started_at", "id")
    ranks: dict[int, list[Iterator[GameBatch]]] = {}
    for pk, kind, priority, time_control in running.values_list("id", "kind", "priority", "time_control"):
        if queue_of(kind) == queue:
            ranks.setdefault(priority, []).append(cut_batches(pk, time_control, most))
    for rank in sorted(ranks, reverse=True):
        waiting = ranks[rank]
        while waiting:
            for batches in list(waiting):
                if batch := next(batches, None):
                    yield batch
                else:
                    waiting.remove(batches)
