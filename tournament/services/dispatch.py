"""The dispatcher: keeps a small buffer of parcels ahead of the workers.

The database is the queue of record. What is in the broker is a copy of a few of its rows, so that
cancelling and priorities are SQL and take effect within a buffer's length.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from tournament import broker
from tournament.models import Attempt, Game, Keeper, Tournament
from tournament.services.parcels import Parcel, claim, cut_parcels
from tournament.services.slots import slots_expected

PARCELS_AHEAD_A_SLOT = 4
"""Enough that a slot with the shortest games finds its next parcel waiting; the one it plays counts."""
VALIDATION_PARCELS_AHEAD = 10
"""Of validations, which have a queue and workers of their own; a version plays on five ladders at most."""
CLAIMED_AT_ONCE = 16
"""Parcels in a transaction: a result that is to be stored waits for it."""


def buffer_parcels() -> int:
    """How many parcels of tournaments may be on their way or being played at once."""
    return PARCELS_AHEAD_A_SLOT * slots_expected()


def top_up() -> int:
    """Fill the buffer if half of it is used up; cheap enough to be asked after every report."""
    return fill_buffer() if _messages(broker.GAMES) * 2 <= buffer_parcels() else 0


def fill_buffer() -> int:
    """Claim waiting games and send them; returns how many games. May be called at any time.

    Running tournaments by priority, equals in turn, a parcel each; validations have a queue of their own.
    """
    if Keeper.objects.filter(recalls=True).exists():
        recall()
    return _fill(broker.VALIDATION, VALIDATION_PARCELS_AHEAD) + _fill(broker.GAMES, buffer_parcels())


def queue_of(kind: str) -> str:
    """Where the games of a tournament of this kind are played."""
    return broker.VALIDATION if kind == Tournament.Kind.VALIDATION else broker.GAMES


def of_queue(queue: str, path: str) -> Q:
    """A filter: what has a tournament of that queue at the end of ``path``."""
    validations = Q(**{f"{path}__kind": Tournament.Kind.VALIDATION})
    return validations if queue == broker.VALIDATION else ~validations


def _fill(queue: str, most: int) -> int:
    claimed, room = 0, most - _messages(queue)
    parcels = list(islice(_next_parcels(queue, room), room)) if room > 0 else []
    for begin in range(0, len(parcels), CLAIMED_AT_ONCE):
        claimed += claim(parcels[begin : begin + CLAIMED_AT_ONCE], queue)
    return claimed


@transaction.atomic
def recall() -> int:
    """Take back the parcels that no worker has begun; returns how many games then wait again.

    Nothing is held against anybody. A parcel that a worker takes at this very moment is played in vain.
    """
    now = timezone.now()
    Keeper.objects.update(recalls=False)
    broker.clear_games()
    ours = of_queue(broker.GAMES, "game__tournament")
    queued = Attempt.objects.filter(ours, ended_at__isnull=True, lease_until__isnull=True)
    tournaments = set(queued.values_list("game__tournament", flat=True))
    # Whoever changes a game's attempt holds its tournament's lock.
    list(Tournament.objects.select_for_update().filter(pk__in=tournaments).order_by("pk"))
    attempts = list(queued.filter(game__tournament__in=tournaments).values_list("id", flat=True))
    Attempt.objects.filter(pk__in=attempts).update(ended_at=now, end=Attempt.End.RELEASED)
    mine = Game.objects.filter(attempt__in=attempts, state=Game.State.CLAIMED)
    return mine.update(state=Game.State.WAITING, attempt=None)


def _messages(queue: str) -> int:
    """How many messages are on their way or being played."""
    attempts = Attempt.objects.filter(of_queue(queue, "game__tournament"), ended_at__isnull=True)
    return attempts.values("job").distinct().count()


def _next_parcels(queue: str, most: int) -> Iterator[Parcel]:
    """The running tournaments' parcels by priority; those of equal rank take turns."""
    running = Tournament.objects.running().order_by("started_at", "id")
    ranks: dict[int, list[Iterator[Parcel]]] = {}
    for pk, kind, priority, time_control in running.values_list("id", "kind", "priority", "time_control"):
        if queue_of(kind) == queue:
            ranks.setdefault(priority, []).append(cut_parcels(pk, time_control, most))
    for rank in sorted(ranks, reverse=True):
        waiting = ranks[rank]
        while waiting:
            for parcels in list(waiting):
                if parcel := next(parcels, None):
                    yield parcel
                else:
                    waiting.remove(parcels)
