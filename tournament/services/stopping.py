"""Ends games that slots hold, without a result; the answer to the next post of the slot says stop."""

from __future__ import annotations

import datetime

from django.db import transaction
from django.db.models import QuerySet

from tournament.models import Attempt, Game, LiveGame
from tournament.services.fair_share import PlayedTime, charge_games, played_seconds
from tournament.services.locks import in_order, lock_tournaments


@transaction.atomic
def release(attempts: QuerySet[Attempt], now: datetime.datetime) -> int:
    """Have games wait again that their slots do not play; counts against nobody. Returns how many.

    Games whose reports wait to be recorded stay as they are.
    """
    unreported = attempts.filter(ended_at__isnull=True, reported_at__isnull=True).order_by()
    lock_tournaments(set(unreported.values_list("game__tournament", flat=True)))
    return end_attempts(unreported, Attempt.End.RELEASED, now)


@transaction.atomic
def end_attempts(
    attempts: QuerySet[Attempt], end: Attempt.End, now: datetime.datetime, **columns: str
) -> int:
    """End open attempts without a result and charge their time; returns how many. Their games wait again.

    The caller holds the locks of their tournaments; ``columns`` are stored with the end. Unless they are
    cancelled or void, attempts whose reports wait to be recorded stay as they are.
    """
    unended = attempts.filter(ended_at__isnull=True).order_by()
    if end not in {Attempt.End.CANCELLED, Attempt.End.VOID}:
        unended = unended.filter(reported_at__isnull=True)
    charged = ("game__tournament__kind", "game__tournament__owner", "started_at", "lease_until")
    rows = list(unended.values_list("pk", "game", *charged))
    if not rows:
        return 0
    games = [game for _, game, *_ in rows]
    claimed = Game.objects.filter(pk__in=games, state=Game.State.CLAIMED)
    claimed.update(state=Game.State.WAITING, attempt=None)
    ended = in_order(Attempt.objects.filter(pk__in=[pk for pk, *_ in rows]))
    ended.update(ended_at=now, end=end, **columns)
    LiveGame.objects.filter(game__in=games).delete()
    times = [
        PlayedTime(kind, owner, played_seconds(started, lease_until, now))
        for _, _, kind, owner, started, lease_until in rows
        if started is not None
    ]
    charge_games(times, now)
    return len(rows)
