"""Ends games that workers hold: their attempts end at once, and the workers are told to stop the engines.

A separate module, because the schedule stops games and the dispatcher is above the schedule.
"""

from __future__ import annotations

import datetime
import uuid
from collections.abc import Mapping
from functools import partial

from django.db import transaction
from django.db.models import QuerySet

from tournament import queues
from tournament.models import Attempt, Game, LiveGame
from tournament.services.shares import charge
from workers.service.messaging.commands import Command


@transaction.atomic
def end_attempts(attempts: QuerySet[Attempt], end: Attempt.End, now: datetime.datetime) -> None:
    """End open attempts without a result and have their workers stop; their games wait again.

    The caller holds the locks of their tournaments. Other games of the same jobs wait again as well.
    """
    jobs = dict(attempts.filter(ended_at__isnull=True).values_list("job", "assigned"))
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


def stop_jobs(jobs: Mapping[uuid.UUID, str]) -> None:
    """Have workers stop jobs once the transaction is committed; each job comes with its worker's name.

    A worker that misses the command gets it again after its next progress message (``stop_again``).
    """
    by_worker: dict[str, list[str]] = {}
    for job, worker in jobs.items():
        by_worker.setdefault(worker, []).append(str(job))
    for worker, stop in by_worker.items():
        transaction.on_commit(partial(queues.send_command, Command(worker, stop=tuple(stop))), robust=True)
