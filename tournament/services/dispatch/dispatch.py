"""The dispatcher: keeps a small buffer of batches queued ahead of the workers, each in a worker's own queue.

The database holds the queue. The broker holds copies of a few of its rows, so that cancellations and
priorities are SQL and take effect as soon as the buffer is played.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from itertools import chain, islice

from django.db.models import Exists, OuterRef, Q, QuerySet
from django.utils import timezone

from tournament import queues
from tournament.models import Attempt, Game, Keeper, Tournament, Worker
from tournament.models.tournaments import UNLISTED
from tournament.services.dispatch.batches import GameBatch, claim, cut_batches
from tournament.services.dispatch.recalls import release_queued
from tournament.services.dispatch.rooms import BATCHES_AHEAD_A_SLOT, assign, find_rooms
from tournament.services.dispatch.slots import slots_at_work
from tournament.services.dispatch.turns import admit_owners, dismiss_owners, slot_shares
from tournament.services.shares import SITE, exhausted
from workers.service.messaging.signing import own_queue

CLAIMED_AT_ONCE = 16
"""Batches in one transaction: results cannot be stored while it runs."""


def buffer_batches() -> int:
    """How many batches of tournaments may be queued or played at once; 0 while no worker is up."""
    return BATCHES_AHEAD_A_SLOT * slots_at_work()


def top_up() -> int:
    """Fill the buffer if half of it is used up; cheap enough to call after every report."""
    return fill_buffer() if _messages(queues.GAMES) * 2 <= buffer_batches() else 0


def fill_buffer() -> int:
    """Claim waiting games and send them; returns how many games. May be called at any time.

    Tournaments of higher priority come first; of equal priority, those of the owner who has used the least
    time (``turns``). Version tests come last, also those queued already. Validations have workers of their
    own. Without a worker nothing is claimed: its games wait until one registers.
    """
    if Keeper.objects.filter(recalls=True).exists() or _version_tests_are_ahead():
        recall()
    return _fill(queues.VALIDATION) + _fill(queues.GAMES)


def queue_of(kind: str) -> str:
    """The queue for games of a tournament of this kind."""
    return queues.VALIDATION if kind == Tournament.Kind.VALIDATION else queues.GAMES


def of_queue(queue: str, path: str) -> Q:
    """A filter for rows whose tournament, at the end of ``path``, uses that queue."""
    validations = Q(**{f"{path}__kind": Tournament.Kind.VALIDATION})
    return validations if queue == queues.VALIDATION else ~validations


def _fill(queue: str) -> int:
    rooms = find_rooms(queue)
    most = sum(max(0, room.left) for room in rooms)
    batches = islice(_next_batches(queue, most), most) if most else ()
    assigned = assign(batches, rooms)
    begins = range(0, len(assigned), CLAIMED_AT_ONCE)
    return sum(claim(assigned[begin : begin + CLAIMED_AT_ONCE], queue) for begin in begins)


def recall() -> int:
    """Take back the batches that no worker has begun; returns how many games wait again.

    Does not count against a game or a worker. If a worker takes a batch at the same moment, its reports are
    ignored.
    """
    Keeper.objects.update(recalls=False)
    ours = of_queue(queues.GAMES, "game__tournament")
    queued = Attempt.objects.filter(ours, ended_at__isnull=True, lease_until__isnull=True)
    # Also of workers whose attempts have ended: a cancellation leaves their messages in the queue.
    workers = Worker.objects.up().filter(queue=queues.GAMES).values_list("name", flat=True)
    for name in sorted({*workers, *queued.values_list("assigned", flat=True)}):
        queues.clear_queue(own_queue(queues.GAMES, name))
    return release_queued(queued, timezone.now())


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
    shares = slot_shares(_open_attempts(queue), slots_at_work(queue), now)
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
