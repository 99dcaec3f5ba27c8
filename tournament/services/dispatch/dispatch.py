"""The dispatcher: keeps a small buffer of batches queued ahead of the workers, each in a worker's own queue.

The database holds the queue. The broker holds copies of a few of its rows, so that cancellations and
priorities are SQL and take effect as soon as the buffer is played.
"""

from __future__ import annotations

import datetime
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from itertools import chain

from django.db.models import Exists, OuterRef, Q, QuerySet, Subquery
from django.utils import timezone

from tournament import queues
from tournament.models import Attempt, Game, Keeper, Tournament, Worker
from tournament.models.tournaments import UNLISTED
from tournament.services.dispatch.batches import (
    MOST_WAIT_SECONDS,
    GameBatch,
    claim,
    cut_batches,
    first_pairs,
)
from tournament.services.dispatch.open_jobs import OpenJob, find_open_jobs
from tournament.services.dispatch.preemption import (
    WaitingOwner,
    end_jobs,
    find_jobs_to_end,
    preempted_seconds,
    return_unbegun,
    waiting_owners,
)
from tournament.services.dispatch.recalls import release_queued
from tournament.services.dispatch.rooms import BATCHES_AHEAD_A_SLOT, Room, assign, find_rooms, has_place
from tournament.services.dispatch.slots import slots_at_work
from tournament.services.dispatch.turns import (
    SlotShares,
    admit_owners,
    dismiss_owners,
    note_waits,
    slot_shares,
)
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
    sent = _send(_look(queues.VALIDATION))
    demand = _look(queues.GAMES)
    if demand.rooms and _make_way(demand):
        demand = _look(queues.GAMES)
    return sent + _send(demand)


def of_queue(queue: str, path: str) -> Q:
    """A filter for rows whose tournament, at the end of ``path``, uses that queue."""
    validations = Q(**{f"{path}__kind": Tournament.Kind.VALIDATION})
    return validations if queue == queues.VALIDATION else ~validations


def look_at_rooms(queue: str) -> tuple[list[Room], list[OpenJob]]:
    """The room of each worker of a queue, and the jobs of that queue."""
    jobs = find_open_jobs(_open_attempts(queue), timezone.now())
    return find_rooms(queue, jobs), jobs


@dataclass(frozen=True, slots=True)
class _Waiting:
    """A running tournament with games that wait."""

    tournament: int
    time_control: str
    first: int
    """The first of these games."""


@dataclass(frozen=True, slots=True)
class _Demand:
    """The games that wait for the workers of a queue, and what these workers hold."""

    queue: str
    now: datetime.datetime
    jobs: list[OpenJob]
    rooms: list[Room]
    shares: SlotShares
    ranks: dict[int, dict[int, list[_Waiting]]]
    """By priority and owner, in the order of their starts."""


def _look(queue: str) -> _Demand:
    """Read what waits and what is open; notes which owners have games to play."""
    now = timezone.now()
    rooms, jobs = look_at_rooms(queue)
    shares = slot_shares(jobs, sum(room.slots for room in rooms))
    if not rooms:
        return _Demand(queue, now, jobs, rooms, shares, {})
    ranks = _waiting_by_owner(queue, now)
    dismiss_owners()
    for rank, owners in ranks.items():
        admit_owners(owners.keys(), shares, {job.owner for job in jobs if job.priority == rank})
    return _Demand(queue, now, jobs, rooms, shares, ranks)


def _send(demand: _Demand) -> int:
    """Claim and send as many batches as the workers have places for; returns how many games."""
    if not any(room.left > 0 for room in demand.rooms):
        return 0
    assigned = assign(_next_batches(demand), demand.rooms)
    begins = range(0, len(assigned), CLAIMED_AT_ONCE)
    return sum(claim(assigned[begin : begin + CLAIMED_AT_ONCE], demand.queue) for begin in begins)


def _make_way(demand: _Demand) -> bool:
    """End what holds all slots while another owner waits (``preemption``); whether anything was ended.

    Queued batches are taken back first, or the slots would play these next.
    """
    wanted: dict[int, int] = {}
    for rank in sorted(demand.ranks):
        wanted |= dict.fromkeys(demand.ranks[rank], rank)
    waiting = waiting_owners(wanted, demand.jobs)
    note_waits([one.owner for one in waiting], demand.shares, demand.now)
    ended = find_jobs_to_end(
        waiting, demand.jobs, demand.rooms, demand.shares, demand.now, partial(_has_short_batch, demand)
    )
    if not ended:
        return False
    recall()
    if sum(room.slots for room in demand.rooms) == 1:
        return_unbegun(ended[0])
    else:
        end_jobs(ended, demand.now)
    return True


def _has_short_batch(demand: _Demand, one: WaitingOwner) -> bool:
    """Whether a batch of the owner may have a slot that is kept free of long ones."""
    queued = (job for job in demand.jobs if job.owner == one.owner and not job.was_expected_to_hold)
    tournaments = demand.ranks.get(one.priority, {}).get(one.owner, ())
    known = preempted_seconds()
    first = (next(cut_batches(each.tournament, each.time_control, known), None) for each in tournaments)
    waiting = (batch for batch in first if batch and batch.seconds <= MOST_WAIT_SECONDS)
    return next(queued, None) is not None or next(waiting, None) is not None


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


def _next_batches(demand: _Demand) -> Iterator[GameBatch]:
    """Batches of the running tournaments by priority; within one priority the owners share the slots."""
    preempted = preempted_seconds()
    owners = chain.from_iterable(rank.values() for rank in demand.ranks.values())
    firsts = first_pairs([each.first for each in chain.from_iterable(owners)])

    def cut(each: _Waiting) -> Iterator[GameBatch]:
        return cut_batches(each.tournament, each.time_control, preempted, firsts.get(each.tournament))

    for rank in sorted(demand.ranks, reverse=True):
        waiting = {
            owner: [cut(each) for each in tournaments] for owner, tournaments in demand.ranks[rank].items()
        }
        yield from demand.shares.take_turns(waiting, lambda batch: has_place(batch, demand.rooms, demand.now))


def _waiting_by_owner(queue: str, now: datetime.datetime) -> dict[int, dict[int, list[_Waiting]]]:
    """The running tournaments with games that wait, by priority and owner, in the order of their starts."""
    waiting = Game.objects.filter(tournament=OuterRef("pk"), state=Game.State.WAITING).order_by("id")
    without = exhausted(now, is_validation=queue == queues.VALIDATION)
    kinds = Q(kind=Tournament.Kind.VALIDATION)
    running = Tournament.objects.running().filter(kinds if queue == queues.VALIDATION else ~kinds)
    running = running.exclude(owner__in=without).order_by("started_at", "id")
    first_game = Subquery(waiting.values("id")[:1])
    rows = running.values_list("id", "time_control", first_game, "priority", "owner")
    ranks: dict[int, dict[int, list[_Waiting]]] = {}
    for pk, time_control, first, priority, owner in rows:
        if first is not None:
            owners = ranks.setdefault(priority, {})
            owners.setdefault(owner or SITE, []).append(_Waiting(pk, time_control, first))
    return ranks
