"""Takes back what is queued and not begun: its games and checks wait again, and its queue is emptied.

It counts against no game and no worker. If a worker takes a job at the same moment, its reports are ignored.
"""

from __future__ import annotations

import datetime
from collections.abc import Iterable

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from tournament import queues
from tournament.models import Attempt, Exam, Game, Tournament, Worker
from workers.service.messaging.signing import own_queue


def take_back_stranded() -> int:
    """Take back what is queued for workers that get no jobs now; returns how many games wait again."""
    given = Worker.objects.given_jobs().values("name")
    games = _queued().exclude(assigned__in=given).values_list("assigned", flat=True)
    checks = _queued_checks().exclude(assigned__in=given).values_list("assigned", flat=True)
    names = {*games.distinct(), *checks.distinct()}
    return take_back_from(names) if names else 0


def take_back_from(workers: Iterable[str]) -> int:
    """Take back what is queued for these workers; returns how many games wait again."""
    names = sorted(workers)
    for name in names:
        for kind in (queues.GAMES, queues.VALIDATION):
            queues.clear_queue(own_queue(kind, name))
    _queued_checks().filter(assigned__in=names).update(assigned="")
    return release_queued(_queued().filter(assigned__in=names), timezone.now())


@transaction.atomic
def release_queued(queued: QuerySet[Attempt], now: datetime.datetime) -> int:
    """End these attempts, which no worker has begun; returns how many games wait again."""
    tournaments = set(queued.values_list("game__tournament", flat=True))
    # Every change of a game's attempt takes its tournament's lock.
    list(Tournament.objects.select_for_update().filter(pk__in=tournaments).order_by("pk"))
    attempts = list(queued.filter(game__tournament__in=tournaments).values_list("id", flat=True))
    Attempt.objects.filter(pk__in=attempts).update(ended_at=now, end=Attempt.End.RELEASED)
    mine = Game.objects.filter(attempt__in=attempts, state=Game.State.CLAIMED)
    return mine.update(state=Game.State.WAITING, attempt=None)


def _queued() -> QuerySet[Attempt]:
    return Attempt.objects.filter(ended_at__isnull=True, lease_until__isnull=True)


def _queued_checks() -> QuerySet[Exam]:
    return Exam.objects.filter(ended_at__isnull=True, heard_at__isnull=True).exclude(assigned="")
