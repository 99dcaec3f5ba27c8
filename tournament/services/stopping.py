"""Ends games that workers hold: their attempts end at once, and the workers are told to stop the engines.

A separate module, because the schedule stops games and the dispatcher is above the schedule.
"""

from __future__ import annotations

import datetime
import uuid
from collections.abc import Collection
from functools import partial

from django.db import transaction
from django.db.models import QuerySet

from tournament import queues
from tournament.models import Attempt, Game, LiveGame, Worker
from tournament.services.shares import charge
from workers.service.messaging.commands import make_command


@transaction.atomic
def end_attempts(attempts: QuerySet[Attempt], end: Attempt.End, now: datetime.datetime) -> None:
    """End open attempts without a result and have their workers stop; their games wait again.

    The caller holds the locks of their tournaments. Other games of the same jobs wait again as well.
    """
    jobs = set(attempts.filter(ended_at__isnull=True).values_list("job", flat=True))
    ended = Attempt.objects.filter(job__in=jobs, ended_at__isnull=True)
    games = list(ended.values_list("game_id", flat=True))
    for attempt in ended.filter(started_at__isnull=False).select_related("game__tournament"):
        assert attempt.started_at is not None
        charge({attempt.game.tournament.owner_id: (now - attempt.started_at).total_seconds()}, now)
    ended.update(ended_at=now, end=end)
    LiveGame.objects.filter(game__in=games).delete()
    claimed = Game.objects.filter(pk__in=games, state=Game.State.CLAIMED)
    claimed.update(state=Game.State.WAITING, attempt=None)
    stop_jobs(jobs)


def stop_jobs(jobs: Collection[uuid.UUID]) -> None:
    """Have all workers stop these jobs once the transaction is committed: any of them may have taken one.

    A worker that misses the command gets it again after its next progress message (``stop_again``).
    """
    if jobs:
        stop = tuple(map(str, jobs))
        for name in Worker.objects.up().values_list("name", flat=True):
            transaction.on_commit(partial(queues.send_command, make_command(name, stop=stop)))
