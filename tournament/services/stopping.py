"""Ends games that workers hold: their attempts end at once, and the workers are told to stop the engines."""

from __future__ import annotations

import datetime
import uuid
from collections.abc import Mapping

from django.db import transaction
from django.db.models import QuerySet

from tournament import queues
from tournament.models import Attempt, Game, LiveGame
from tournament.services.locks import in_order
from tournament.services.shares import PlayedTime, charge_games, played_seconds
from workers.service.messaging.commands import Command


@transaction.atomic
def end_attempts(attempts: QuerySet[Attempt], end: Attempt.End, now: datetime.datetime) -> None:
    """End open attempts without a result and have their workers stop; their games wait again.

    The caller holds the locks of their tournaments. Other games of the same jobs wait again as well.
    """
    jobs = dict(attempts.filter(ended_at__isnull=True).values_list("job", "assigned"))
    ended = Attempt.objects.filter(job__in=jobs, ended_at__isnull=True)
    games = list(ended.values_list("game_id", flat=True))
    begun = ended.filter(started_at__isnull=False).order_by()
    tournament = ("game__tournament__kind", "game__tournament__owner")
    times = [
        PlayedTime(kind, owner, played_seconds(started, lease_until, now))
        for kind, owner, started, lease_until in begun.values_list(*tournament, "started_at", "lease_until")
    ]
    claimed = Game.objects.filter(pk__in=games, state=Game.State.CLAIMED)
    claimed.update(state=Game.State.WAITING, attempt=None)
    in_order(ended).update(ended_at=now, end=end)
    LiveGame.objects.filter(game__in=games).delete()
    charge_games(times, now)
    stop_jobs(jobs)


def stop_jobs(jobs: Mapping[uuid.UUID, str]) -> None:
    """Have workers stop jobs once the transaction is committed; each job comes with its worker's name.

    A worker that misses the command gets it again after its next progress message (``stop_again``).
    """
    by_worker: dict[str, list[str]] = {}
    for job, worker in jobs.items():
        by_worker.setdefault(worker, []).append(str(job))
    for worker, stop in by_worker.items():
        queues.send_on_commit(queues.send_command, Command(worker, stop=tuple(stop)))
