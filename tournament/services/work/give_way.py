"""Takes a slot from an owner for another who waits.

A slot is taken from an owner when somebody has waited for half a minute, all slots have been held for as
long, and a game runs past twice the time that it was expected to take. The game waits again, its time is
charged, and it counts against no bot. No game is ended twice like this: from then on it is expected to take
long, so it gets a slot only when others stay free. A site with one slot ends no game: it takes those back
that the slot has not begun.
"""

from __future__ import annotations

import datetime
import logging
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from django.conf import settings
from django.db import transaction

from tournament.models import Attempt, Game, PreemptedGame
from tournament.services.locks import lock_tournaments
from tournament.services.work.durations import slots_by_worker
from tournament.services.work.fair_share import (
    MOST_WAIT_SECONDS,
    OpenJob,
    Shares,
    find_open_jobs,
    find_shares,
    note_active,
    note_waits,
    waiting_tournaments,
)
from tournament.services.work.next_batch import has_short_batch
from tournament.services.work.stopping import release
from workers.jobs import Work

PAST_EXPECTED = 2.0
"""A game may take so many times what it was expected to take before it makes way for others."""

log = logging.getLogger("tournament.give_way")


@dataclass(frozen=True, slots=True)
class _Waiting:
    """An owner with games to play, of which none is played; the highest priority of them."""

    owner: int
    priority: int


def give_way(now: datetime.datetime) -> int:
    """Note who waits for a slot, and take one from somebody else if it is time; returns how many games."""
    work = Work.GAMES
    note_active(work, now)
    slots, jobs = slots_by_worker(work), find_open_jobs(work, now)
    shares = find_shares(jobs, sum(slots.values()))
    served = {job.owner for job in jobs}
    priorities: dict[int, int] = {}
    for priority, owner, _ in waiting_tournaments(work, now):
        if owner not in served:
            priorities.setdefault(owner, priority)
    note_waits(priorities, shares, now)
    waiting = [
        _Waiting(owner, priority)
        for owner, priority in sorted(priorities.items(), key=lambda each: -each[1])
        if (now - shares.waits_since.get(owner, now)).total_seconds() > MOST_WAIT_SECONDS
    ]
    if not waiting or not _are_all_slots_held(slots, jobs):
        return 0
    for one in waiting:
        candidates = _candidates(one, jobs, shares)
        if sum(slots.values()) == 1:
            if candidates and (given := _return_unbegun(candidates[0], now)):
                return given
            continue
        endable = _endable(candidates, jobs, sum(slots.values()))
        # A long batch needs one of the slots that long jobs may have.
        needed = 1 if has_short_batch(work, one.owner, now) else max(1, 1 - shares.long_left)
        if len(endable) >= needed:
            return _end_jobs(endable[:needed], now)
    return 0


def _are_all_slots_held(slots: Mapping[str, int], jobs: Sequence[OpenJob]) -> bool:
    held = Counter(job.worker for job in jobs if job.has_held)
    return bool(slots) and all(held[worker] >= number for worker, number in slots.items())


def _candidates(waiting: _Waiting, jobs: Sequence[OpenJob], shares: Shares) -> list[OpenJob]:
    """Jobs that the waiting owner comes before: the most served owner's first, and of those the youngest."""
    used = shares.used
    behind = [
        job
        for job in jobs
        if job.has_held and (-job.priority, used[job.owner]) > (-waiting.priority, used[waiting.owner])
    ]
    return sorted(behind, key=lambda job: (job.priority, -used[job.owner], job.elapsed))


def _endable(candidates: Sequence[OpenJob], jobs: Sequence[OpenJob], slots: int) -> list[OpenJob]:
    """Those whose game takes too long, then as many others as slots were lost since they began."""
    again = set(
        Attempt.objects.filter(
            job__in=[job.job for job in candidates],
            ended_at=None,
            game__in=PreemptedGame.objects.values("game"),
        ).values_list("job", flat=True)
    )
    longer = [
        job
        for job in candidates
        if not job.was_expected_to_hold
        and job.job not in again
        and job.game_elapsed > PAST_EXPECTED * job.left / job.games
    ]
    others = [job for job in candidates if job.was_expected_to_hold]
    allowed = max(1, slots - settings.FREE_SLOTS)
    too_many = sum(job.was_expected_to_hold for job in jobs) - allowed
    return longer + others[: max(0, too_many)]


@transaction.atomic
def _end_jobs(jobs: Sequence[OpenJob], now: datetime.datetime) -> int:
    """Stop these jobs: their games wait again, those that were being played as games that take long."""
    lock_tournaments({job.tournament for job in jobs})
    attempts = Attempt.objects.filter(job__in=[job.job for job in jobs], ended_at=None, reported_at=None)
    for game, began in attempts.filter(started_at__isnull=False).values_list("game_id", "started_at"):
        assert began is not None
        seconds = {"seconds": (now - began).total_seconds()}
        PreemptedGame.objects.update_or_create(game_id=game, defaults=seconds)
    ended = release(attempts, now)
    is_open = [Game.State.WAITING, Game.State.CLAIMED]
    PreemptedGame.objects.exclude(game__state__in=is_open).delete()
    for job in jobs:
        log.warning(
            "job %s of owner %d is ended after %.0f s for an owner who waits", job.job, job.owner, job.elapsed
        )
    return ended


@transaction.atomic
def _return_unbegun(job: OpenJob, now: datetime.datetime) -> int:
    """Have the games of a job wait again that are not begun; the slot goes on with the one that is."""
    lock_tournaments([job.tournament])
    mine = Attempt.objects.filter(job=job.job, ended_at=None, reported_at=None)
    if not mine.filter(started_at__isnull=False).exists():
        return 0  # between two games: which one is begun next is not known yet
    return release(mine.filter(started_at=None), now)
