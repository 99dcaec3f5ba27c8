"""Which worker gets a batch: how many more each may have, and the choice between them.

A batch lies in the queue of one worker, so after a wrong choice it waits while another worker is idle.
A worker gets a few batches ahead for each slot that plays short games, none for one that plays a long game.

A long batch needs a free slot. While there is none, shorter batches of other tournaments are sent, but not
for ever: after ``OVERTAKEN_SECONDS`` one worker gets no other batch until the long one has its slot.
"""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from django.core.cache import cache
from django.db.models import Count

from tournament import queues
from tournament.models import Exam, Worker
from tournament.services.dispatch.batches import GameBatch
from tournament.services.dispatch.open_jobs import OpenJob
from tournament.services.dispatch.slots import slots_of

BATCHES_AHEAD_A_SLOT = 4
"""Enough that a slot with the shortest games finds its next batch waiting; includes the batch it plays."""
OVERTAKEN_SECONDS = 10.0
"""So long a long batch that finds no free slot is overtaken by shorter ones."""
_REMEMBERED_SECONDS = 300


@dataclass(slots=True)
class Room:
    """A worker's slots and its open jobs, the long ones among them; a compliance check is a long job."""

    worker: str
    slots: int
    jobs: int = 0
    long: int = 0
    is_reserved: bool = False
    """Whether its next free slot is kept for a long batch."""

    @property
    def left(self) -> int:
        """How many more short batches the worker may have."""
        if self.is_reserved:
            return 0
        return BATCHES_AHEAD_A_SLOT * max(0, self.slots - self.long) - (self.jobs - self.long)

    @property
    def free(self) -> int:
        """Slots for which there is no job."""
        return max(0, self.slots - self.jobs)

    def has_place_for(self, batch: GameBatch) -> bool:
        return self.free > 0 if batch.is_long else self.left > 0

    def take(self, batch: GameBatch) -> None:
        self.jobs += 1
        self.long += batch.is_long


def find_rooms(queue: str, jobs: Iterable[OpenJob]) -> list[Room]:
    """The room of each worker of this kind that gets jobs, with at least one slot that can play."""
    workers = Worker.objects.given_jobs().filter(queue=queue).order_by("name")
    rooms = {worker.name: Room(worker.name, slots_of([worker])) for worker in workers}
    for job in jobs:
        if job.worker in rooms:
            rooms[job.worker].jobs += 1
            rooms[job.worker].long += job.is_long
    if queue == queues.VALIDATION:
        checks = Exam.objects.filter(ended_at__isnull=True, assigned__in=rooms).order_by()
        for name, count in checks.values_list("assigned").annotate(Count("pk")):
            rooms[name].jobs += count
            rooms[name].long += count
    return [room for room in rooms.values() if room.slots]


def has_place(batch: GameBatch, rooms: Sequence[Room], now: datetime.datetime) -> bool:
    """Whether a worker has a place for the batch; may reserve a worker's next free slot for a long one."""
    found = any(room.has_place_for(batch) for room in rooms)
    if batch.is_long:
        _note_waiting(batch, rooms, now, found=found)
    return found


def assign(batches: Iterable[GameBatch], rooms: Sequence[Room]) -> list[tuple[GameBatch, str]]:
    """Give each batch in turn to the worker with the fewest jobs a slot; leaves out those without a place.

    Ends when no worker has a place for any batch.
    """
    assigned = []
    for batch in batches:
        room = min(
            (room for room in rooms if room.has_place_for(batch)),
            key=lambda room: room.jobs / room.slots,
            default=None,
        )
        if room is not None:
            room.take(batch)
            assigned.append((batch, room.worker))
        if not any(room.left > 0 or room.free for room in rooms):
            break
    return assigned


def _note_waiting(batch: GameBatch, rooms: Sequence[Room], now: datetime.datetime, *, found: bool) -> None:
    """Remember since when a tournament's long batch has found no free slot."""
    key = f"long-batch-waits-{batch.tournament}"
    if found:
        cache.delete(key)
        return
    since: datetime.datetime = cache.get(key, now)
    if since == now:
        cache.set(key, now, _REMEMBERED_SECONDS)
    is_overtaken = (now - since).total_seconds() >= OVERTAKEN_SECONDS
    if is_overtaken and not any(room.is_reserved for room in rooms):
        _reserve(rooms)


def _reserve(rooms: Sequence[Room]) -> None:
    """Reserve the next free slot of the worker that is likely to have one first."""
    with_short = [room for room in rooms if room.long < room.slots]
    if with_short:
        first = min(with_short, key=lambda room: (room.jobs - room.slots) / (room.slots - room.long))
        first.is_reserved = True
