"""Takes games back that slots hold. Nothing is sent: the answer to a slot's next post says what it must stop."""

from __future__ import annotations

import datetime
from collections.abc import Sequence

from django.db import transaction
from django.db.models import QuerySet

from tournament.models import Attempt, Exam, Game, LiveGame
from tournament.services.locks import in_order, lock_tournaments
from tournament.services.work.checks import return_check
from tournament.services.work.fair_share import PlayedTime, charge_games, played_seconds


@transaction.atomic
def end_attempts(attempts: QuerySet[Attempt], end: Attempt.End, now: datetime.datetime) -> int:
    """End open attempts without a result; their games wait again. Returns how many games.

    The caller holds the locks of their tournaments. Other games of the same jobs wait again as well; those
    that were reported are left to the record keeper.
    """
    jobs = set(attempts.filter(ended_at=None).values_list("job", flat=True))
    return _end(Attempt.objects.filter(job__in=jobs), end, now)


@transaction.atomic
def release(attempts: QuerySet[Attempt], now: datetime.datetime) -> int:
    """Have the games of these open attempts wait again; as ``end_attempts``, but other games go on."""
    return _end(attempts, Attempt.End.RELEASED, now)


def _end(attempts: QuerySet[Attempt], end: Attempt.End, now: datetime.datetime) -> int:
    ended = attempts.filter(ended_at=None, reported_at=None).order_by()
    games = list(ended.values_list("game_id", flat=True))
    begun = ended.filter(started_at__isnull=False)
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
    return len(games)


def give_back_unheld(worker: str, slot: int, holds: Sequence[str], now: datetime.datetime) -> int:
    """Have the games and checks wait again that a slot has taken and does not hold; counts against nobody.

    Returns how many games.
    """
    checks = Exam.objects.filter(assigned=worker, slot=slot, ended_at=None).exclude(pk__in=holds)
    for check in checks:
        return_check(check, now)
    mine = Attempt.objects.filter(assigned=worker, slot=slot, ended_at=None, reported_at=None)
    left = mine.exclude(job__in=holds)
    tournaments = set(left.order_by().values_list("game__tournament", flat=True))
    if not tournaments:
        return 0
    with transaction.atomic():
        lock_tournaments(tournaments)
        return _end(left, Attempt.End.RELEASED, now)
