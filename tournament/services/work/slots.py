"""How many games the site's workers play at once, from their latest heartbeats."""

from __future__ import annotations

from collections.abc import Iterable

from django.conf import settings

from tournament import queues
from tournament.models import Worker


def slots_of(workers: Iterable[Worker]) -> int:
    """Slots of the workers that get jobs, without the slots that cannot play."""
    given = [worker for worker in workers if not (worker.is_quarantined or worker.set_aside)]
    return sum(max(0, worker.slots - worker.held) for worker in given)


def slots_at_work(queue: str = queues.GAMES) -> int:
    """Slots of all workers of a queue that are up."""
    return slots_of(Worker.objects.up().filter(queue=queue))


def slots_expected() -> int:
    """Slots for games; if no worker runs, the configured number, for estimates of what is to come."""
    return slots_at_work() or settings.SLOTS
