"""Messages that have idle slots ask for work, and the record keeper look at its inbox.

They have no content, and one that is lost costs a second: they are sent again while work waits.
"""

from __future__ import annotations

import time

from tournament import queues
from tournament.celery import RECORD, app
from tournament.models import BotSearch, ComplianceCheck, Game, Tournament
from tournament.services.fair_share import played_by
from tournament.services.work.durations import free_slots
from workers.jobs import Work
from workers.service.broker import KEEPER, PLAY, QUEUES

MAX_MESSAGES = 1000
PAUSE_SECONDS = 0.3
"""The pause between messages to the record keeper. Reports that come meanwhile are stored together, at the
latest a second later; with 64 slots a pause of 0.1 s costs it twice the time a game.
"""

_sent_at = float("-inf")


def send_record() -> None:
    """Have the record keeper look at its inbox at once; once in ``PAUSE_SECONDS`` of this process."""
    global _sent_at
    if time.monotonic() >= _sent_at + PAUSE_SECONDS:
        _sent_at = time.monotonic()
        queues.send(app, RECORD, KEEPER)


def send_search() -> None:
    """Have a free slot of each kind ask for work at once."""
    for queue in QUEUES.values():
        queues.send(app, PLAY, queue, most=1)


def send_plays() -> None:
    """Have as many free slots ask for work as there is work; messages that wait already count.

    They do not expire: clocks of workers may be wrong.
    """
    for kind, queue in QUEUES.items():
        if (free := min(MAX_MESSAGES, free_slots(kind))) > 0 and (wanted := _count_waiting(kind, free)):
            queues.send(app, PLAY, queue, most=wanted)


def _count_waiting(kind: Work, most: int) -> int:
    """How many pairs, checks and searches wait, counted up to ``most``: at least as many as batches."""
    games = Game.objects.filter(
        played_by(kind, "tournament__"),
        state=Game.State.WAITING,
        tournament__state=Tournament.State.RUNNING,
    )
    found = games.order_by().values("pairing").distinct()[:most].count()
    found += BotSearch.objects.waiting().order_by()[: max(0, most - found)].count()
    if kind is Work.CHECKS:
        checks = ComplianceCheck.objects.filter(job=None, ended_at__isnull=True)
        found += checks.order_by()[: max(0, most - found)].count()
    return found
