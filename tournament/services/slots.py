"""How many games the site's workers play at once, by what they last told of themselves."""

from __future__ import annotations

from collections.abc import Iterable

from django.conf import settings

from tournament import broker
from tournament.models import Worker


def slots_of(workers: Iterable[Worker]) -> int:
    """Slots of those that get jobs, without the slots that found themselves unable to play."""
    given = [worker for worker in workers if not (worker.is_quarantined or worker.set_aside)]
    return sum(max(0, worker.slots - worker.held) for worker in given)


def slots_at_work() -> int:
    """Of all workers for games that are up."""
    return slots_of(Worker.objects.up().filter(queue=broker.GAMES))


def slots_expected() -> int:
    """For games; while no worker is at work those that are to come, so that they find something to do."""
    return slots_at_work() or settings.SLOTS
