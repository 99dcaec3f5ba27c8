"""The dispatcher: keeps a small buffer of batches queued ahead of the workers.

The database holds the queue. The broker holds copies of a few of its rows, so that cancellations and
priorities are SQL and take effect as soon as the buffer is played.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from itertools import chain, islice

from django.db import transaction
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.utils import timezone

from tournament import queues
from tournament.models import Attempt, Game, Keeper, Tournament
from tournament.models.tournaments import UNLISTED
from tournament.services.dispatch.batches import GameBatch, claim, cut_batches
from tournament.services.dispatch.slots import slots_expected
from tournament.services.dispatch.turns import admit_owners, dismiss_owners, slot_shares
from tournament.services.shares import SITE, exhausted

BATCHES_AHEAD_A_SLOT = 4
"""Enough that a slot with the shortest games finds its next batch waiting; includes the batch it plays."""
VALIDATION_BATCHES_AHEAD = 10
"""For validations, which have their own queue and workers; a version plays on five ladders at most."""
CLAIMED_AT_ONCE = 16
"""Batches in one transaction: results cannot be stored while it runs."""


def buffer_batches() -> int:
    """How many batches of tournaments may be queued or played at once."""
    return BATCHES_AHEAD_A_SLOT * slots_expected()


def top_up() -> int:
    """Fill the buffer if half of it is used up; cheap enough to call after every report."""
    return fill_buffer() if _messages(queues.GAMES) * 2 <= buffer_batches() else 0


def fill_buffer() -> int:
    """Claim waiting games and send them; returns how many games. May be called at any time.

    Tournaments of higher priority come first; of equal priority, those of the owner who has used the least
    time (``turns``). Version tests come last, also those queued already. Validations have their own queue.
    """
    if Keeper.objects.filter(recalls=True).exists() or _version_tests_are_ahead():
        recall()
    return _fill(queues.VALIDATION, VALIDATION_BATCHES_AHEAD) + _fill(queues.GAMES, buffer_batches())


def queue_of(kind: str) -> str:
    """The queue for games of a tournament of this kind."""
    return queues.VALIDATION if kind == Tournament.Kind.VALIDATION else queues.GAMES


def of_queue(queue: str, path: str) -> Q:
    """A filter for rows whose tournament, at the end of ``path``, uses that queue."""
    validations = Q(**{f"{path}__kind": Tournament.Kind.VALIDATION})
    return validations if queue == queues.VALIDATION else ~validations


def _fill(queue: str, most: int) -> int:
    claimed, room = 0, most - _messages(queue)
    batches = list(islice(_next_batches(queue, room), room)) if room > 0 else []
    for begin in range(0, len(batches), CLAIMED_AT_ONCE):
        claimed += claim(batches[begin : begin + CLAIMED_AT_ONCE], queue)
    return claimed


@transaction.atomic
def recall() -> int:
    """Take back the batches that no worker has begun; returns how many games wait again.

    Does not count against a game or a worker. If a worker takes a batch at the same moment, its reports are
    ignored.
    """
    now = timezone.now()
    Keeper.objects.update(recalls=False)
    queues.clear_games()
    ours = of_queue(queues.GAMES, "game__tournament")
    queued = Attempt.objects.filter(ours, ended_at__isnull=True, lease_until__isnull=True)
    tournaments = set(queued.values_list("game__tournament", flat=True))
    # Every change of a game's attempt takes its tournament's lock.
    list(Tournament.objects.select_for_update().filter(pk__in=tournaments).order_by("pk"))
    attempts = list(queued.filter(game__tournament__in=tournaments).values_list("id", flat=True))
    Attempt.objects.filter(pk__in=attempts).update(ended_at=now, end=Attempt.End.RELEASED)
    mine = Game.objects.filter(attempt__in=attempts, state=Game.State.CLAIMED)
    return mine.update(state=Game.State.WAITING, attempt=None)


def _version_tests_are_ahead() -> bool:
    """Whether games of version tests are queued while games of others wait for the queue."""
    queued = Attempt.objects.filter(ended_at__isnull=True, lease_until__isnull=True)
    if not queued.filter(game__tournament__kind=Tournament.Kind.VERSION_TEST).exists():
        return False
    waiting = Game.objects.filter(tournament=OuterRef("pk"), state=Game.State.WAITING)
    return Tournament.objects.running().exclude(kind__in=UNLISTED).filter(Exists(waiting)).exists()


def _messages(queue: str) -> int:
    """How many messages are queued or being played."""
    return _open_attempts(queue).values("job").distinct().count()


def _open_attempts(queue: str) -> QuerySet[Attempt]:
    return Attempt.objects.filter(of_queue(queue, "game__tournament"), ended_at__isnull=True)


def _next_batches(queue: str, most: int) -> Iterator[GameBatch]:
    """Batches of the running tournaments by priority; within one priority the owners share the slots."""
    now = timezone.now()
    shares = slot_shares(_open_attempts(queue), slots_expected(), now)
    ranks = _waiting_by_owner(queue, most, exhausted(now))
    dismiss_owners()
    for rank in sorted(ranks, reverse=True):
        waiting = {owner: [*filter(None, map(_begun, cut))] for owner, cut in ranks[rank].items()}
        waiting = {owner: batches for owner, batches in waiting.items() if batches}
        admit_owners(waiting.keys(), shares)
        yield from shares.take_turns(waiting)


def _waiting_by_owner(
    queue: str, most: int, without: Collection[int]
) -> dict[int, dict[int, list[Iterator[GameBatch]]]]:
    """The batches of each running tournament, by priority and owner, in the order of their starts."""
    running = Tournament.objects.running().exclude(owner__in=without).order_by("started_at", "id")
    ranks: dict[int, dict[int, list[Iterator[GameBatch]]]] = {}
    rows = running.values_list("id", "kind", "priority", "time_control", "owner")
    for pk, kind, priority, time_control, owner in rows:
        if queue_of(kind) == queue:
            owners = ranks.setdefault(priority, {})
            owners.setdefault(owner or SITE, []).append(cut_batches(pk, time_control, most))
    return ranks


def _begun(batches: Iterator[GameBatch]) -> Iterator[GameBatch] | None:
    """The same batches; None if there are none."""
    first = next(batches, None)
    return None if first is None else chain((first,), batches)
