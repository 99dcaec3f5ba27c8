"""Ends a running job for an owner who waits, if all slots are held by jobs that took longer than expected.

Jobs that are expected to hold a slot for long leave slots free (``turns``). This is for the others: games of
bots that were fast until then. When an owner has waited for ``MOST_WAIT_SECONDS`` and all slots have been
held for as long, the owner who has been served most gives a slot up. The ended games wait again; it counts
against no game and no bot, and the time is charged.

No game is ended again and again: a game that was ended is expected to take long from then on. So it is sent
only when slots stay free for others, and such jobs are not ended, unless slots have been lost meanwhile.

A site with one slot ends no game: the slot's job plays its current game to the end, and returns the others.
"""

from __future__ import annotations

import datetime
import logging
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from tournament.models import Attempt, Game, PreemptedGame
from tournament.services.dispatch.batches import MOST_WAIT_SECONDS
from tournament.services.dispatch.open_jobs import OpenJob
from tournament.services.dispatch.recalls import release_queued
from tournament.services.dispatch.rooms import Room
from tournament.services.dispatch.turns import SlotShares
from tournament.services.locks import lock_tournaments
from tournament.services.stopping import end_attempts

log = logging.getLogger("tournament.preemption")


@dataclass(frozen=True, slots=True)
class WaitingOwner:
    """An owner who has games to play while none of them is played."""

    owner: int
    priority: int
    """The highest of those of the owner's waiting tournaments."""


def waiting_owners(wanted: Mapping[int, int], jobs: Sequence[OpenJob]) -> list[WaitingOwner]:
    """Those whose games all wait, the highest priority first.

    ``wanted`` has the highest priority of the games that wait, by owner; queued jobs wait as well.
    """
    priorities = dict(wanted)
    for job in jobs:
        if not job.is_begun:
            priorities[job.owner] = max(job.priority, priorities.get(job.owner, job.priority))
    served = {job.owner for job in jobs if job.is_begun}
    waiting = [WaitingOwner(owner, priority) for owner, priority in priorities.items() if owner not in served]
    return sorted(waiting, key=lambda one: (-one.priority, one.owner))


def find_jobs_to_end(
    waiting: Sequence[WaitingOwner],
    jobs: Sequence[OpenJob],
    rooms: Sequence[Room],
    shares: SlotShares,
    now: datetime.datetime,
    has_short_batch: Callable[[WaitingOwner], bool],
) -> list[OpenJob]:
    """The jobs that make way for the first owner who has waited for long enough; mostly none.

    With one slot it is its job, if that has further games or others are queued behind it.
    """
    if not _are_all_slots_held(rooms, jobs):
        return []
    for one in waiting:
        since = shares.waits_since.get(one.owner, now)
        if (now - since).total_seconds() <= MOST_WAIT_SECONDS:
            continue
        candidates = _candidates(one, jobs, shares)
        if sum(room.slots for room in rooms) == 1:
            if candidates and (candidates[0].games > 1 or len(jobs) > 1):
                return candidates[:1]
            continue
        candidates = _endable(candidates, jobs, rooms)
        # A long batch needs one of the slots that long jobs may have.
        needed = 1 if has_short_batch(one) else max(1, 1 - shares.long_left)
        if len(candidates) >= needed:
            return candidates[:needed]
    return []


@transaction.atomic
def end_jobs(jobs: Sequence[OpenJob], now: datetime.datetime) -> None:
    """Stop these jobs: their games wait again, those that were being played as games that take long."""
    lock_tournaments({job.tournament for job in jobs})
    attempts = Attempt.objects.filter(job__in=[job.job for job in jobs], ended_at__isnull=True)
    playing = attempts.filter(started_at__isnull=False)
    for game, began in playing.values_list("game_id", "started_at"):
        assert began is not None
        seconds = {"seconds": (now - began).total_seconds()}
        PreemptedGame.objects.update_or_create(game_id=game, defaults=seconds)
    end_attempts(attempts, Attempt.End.RELEASED, now)
    is_open = [Game.State.WAITING, Game.State.CLAIMED]
    PreemptedGame.objects.exclude(game__state__in=is_open).delete()
    for job in jobs:
        log.warning("job %s of owner %d is ended after %.0f s for an owner who waits", *_told(job))


def return_unbegun(job: OpenJob) -> int:
    """Have the games of a job that are not begun wait again; its worker stops after the current game.

    The worker is told to stop with its first progress message about another game.
    """
    mine = Attempt.objects.filter(job=job.job, ended_at__isnull=True)
    if not mine.filter(started_at__isnull=False).exists():
        return 0  # between two games: which one is begun next is not known yet
    return release_queued(mine.filter(started_at__isnull=True), timezone.now())


def preempted_seconds() -> dict[int, float]:
    """By pairing: how long its waiting games had been played when they were ended for another owner."""
    waiting = PreemptedGame.objects.filter(game__state=Game.State.WAITING).order_by("seconds")
    return dict(waiting.values_list("game__pairing", "seconds"))


def _told(job: OpenJob) -> tuple[object, ...]:
    return job.job, job.owner, job.elapsed


def _are_all_slots_held(rooms: Sequence[Room], jobs: Sequence[OpenJob]) -> bool:
    held = Counter(job.worker for job in jobs if job.is_begun and job.has_held)
    return bool(rooms) and all(held[room.worker] >= room.slots for room in rooms)


def _candidates(waiting: WaitingOwner, jobs: Sequence[OpenJob], shares: SlotShares) -> list[OpenJob]:
    """Jobs that the waiting owner comes before: the most served owner's first, and of those the youngest."""
    used = shares.used
    behind = [
        job
        for job in jobs
        if job.is_begun
        and job.has_held
        and (-job.priority, used[job.owner]) > (-waiting.priority, used[waiting.owner])
    ]
    return sorted(behind, key=lambda job: (job.priority, -used[job.owner], job.elapsed))


def _endable(candidates: Sequence[OpenJob], jobs: Sequence[OpenJob], rooms: Sequence[Room]) -> list[OpenJob]:
    """Those that took longer than expected, then as many others as slots are missing."""
    longer = [job for job in candidates if not job.was_expected_to_hold]
    others = [job for job in candidates if job.was_expected_to_hold]
    allowed = max(1, sum(room.slots for room in rooms) - settings.FREE_SLOTS)
    too_many = sum(job.was_expected_to_hold for job in jobs) - allowed
    return longer + others[: max(0, too_many)]
