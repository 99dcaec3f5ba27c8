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
from tournament.models import Attempt, Exam, Game, Worker
from tournament.services.locks import in_order, lock_tournaments
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
    lock_tournaments(tournaments)
    released = dict(queued.filter(game__tournament__in=tournaments).values_list("id", "game_id"))
    mine = Game.objects.filter(pk__in=released.values(), attempt__in=released, state=Game.State.CLAIMED)
    waiting = mine.update(state=Game.State.WAITING, attempt=None)
    in_order(Attempt.objects.filter(pk__in=released)).update(ended_at=now, end=Attempt.End.RELEASED)
    return waiting


def _queued() -> QuerySet[Attempt]:
    return Attempt.objects.filter(ended_at__isnull=True, lease_until__isnull=True)


def _queued_checks() -> QuerySet[Exam]:
    return Exam.objects.filter(ended_at__isnull=True, heard_at__isnull=True).exclude(assigned="")
