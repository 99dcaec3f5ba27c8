"""Which worker gets a batch: how many more each may have, and the choice between them.

A batch lies in the queue of one worker, so after a wrong choice it waits while another worker is idle.
A worker gets a few batches ahead for each slot that plays short games, none for one that plays a long game.
"""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from django.db.models import Count, Q
from django.utils import timezone

from tournament.models import Attempt, Worker
from tournament.services.dispatch.batches import LONG_SECONDS, GameBatch
from tournament.services.dispatch.slots import slots_of

BATCHES_AHEAD_A_SLOT = 4
"""Enough that a slot with the shortest games finds its next batch waiting; includes the batch it plays."""


@dataclass(slots=True)
class Room:
    """A worker's slots and its open jobs, the long ones among them."""

    worker: str
    slots: int
    jobs: int = 0
    long: int = 0

    @property
    def left(self) -> int:
        """How many more batches the worker may have."""
        return BATCHES_AHEAD_A_SLOT * max(0, self.slots - self.long) - (self.jobs - self.long)

    def has_place_for(self, batch: GameBatch) -> bool:
        return self.jobs < self.slots if is_long(batch) else self.left > 0

    def take(self, batch: GameBatch) -> None:
        self.jobs += 1
        self.long += is_long(batch)


def is_long(batch: GameBatch) -> bool:
    return batch.seconds > LONG_SECONDS


def find_rooms(queue: str) -> list[Room]:
    """The room of each worker of this kind that gets jobs, with at least one slot that can play."""
    workers = Worker.objects.given_jobs().filter(queue=queue).order_by("name")
    rooms = {worker.name: Room(worker.name, slots_of([worker])) for worker in workers}
    long = Q(is_long=True) | Q(started_at__lt=timezone.now() - datetime.timedelta(seconds=LONG_SECONDS))
    jobs = Count("job", distinct=True)
    held = Attempt.objects.filter(ended_at__isnull=True, assigned__in=rooms).values("assigned")
    for one in held.annotate(jobs=jobs, long=Count("job", distinct=True, filter=long)):
        rooms[one["assigned"]].jobs, rooms[one["assigned"]].long = one["jobs"], one["long"]
    return [room for room in rooms.values() if room.slots]


def assign(batches: Iterable[GameBatch], rooms: Sequence[Room]) -> list[tuple[GameBatch, str]]:
    """Give each batch in turn to the worker with the fewest jobs a slot.

    Ends with the first batch for which no worker has a place, so that the order of the batches is kept.
    """
    assigned = []
    for batch in batches:
        room = min(
            (room for room in rooms if room.has_place_for(batch)),
            key=lambda room: room.jobs / room.slots,
            default=None,
        )
        if room is None:
            break
        room.take(batch)
        assigned.append((batch, room.worker))
    return assigned
