"""Takes a slot from an owner for another who waits.

Jobs that are expected to hold a slot for long leave slots free (``next_batch``). This is for the others:
games of bots that were fast until then. When an owner has waited for ``MOST_WAIT_SECONDS`` and all slots have
been held for as long, the owner who has been served most gives a slot up: the games that are not begun wait
again, and the current one as well if it has taken that long alone, which is more than twice the time that it
was expected to take. That counts against no game and no bot, and the time is charged.

A game is ended at most once: from then on it is expected to take its full length. So a bot that loses gains
no replay by thinking long. Games that are expected to take long are ended only if slots were lost since they
were taken. A site with one slot ends no game, and none is ended while bundles are fetched.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import Min

from tournament.models import Attempt, Game, PreemptedGame
from tournament.services.fair_share import (
    MOST_WAIT_SECONDS,
    OpenJob,
    Shares,
    admit,
    dismiss_owners,
    find_open_jobs,
    find_shares,
    note_waits,
)
from tournament.services.locks import lock_tournaments
from tournament.services.stopping import end_attempts
from tournament.services.work.durations import slots_by_worker
from tournament.services.work.next_batch import WaitingTournament, find_waiting, long_left, most_long_jobs
from workers.jobs import Work

log = logging.getLogger("tournament.give_way")


def give_way(now: datetime) -> int:
    """Note who waits for a slot, and take one from somebody if it is time; returns how many games are ended.

    Called every second.
    """
    dismiss_owners()
    waiting = find_waiting(Work.GAMES, now)
    jobs = [job for job in find_open_jobs(Work.GAMES, now) if job.games]
    played = {job.owner for job in jobs}
    shares = find_shares({(one.priority, one.owner) for one in waiting}, jobs)
    admit(shares)
    first: dict[int, WaitingTournament] = {}
    for one in sorted(waiting, key=lambda one: -one.priority):
        if one.owner not in played:
            first.setdefault(one.owner, one)
    since = note_waits(first, now)
    late = [one for one in first.values() if (now - since[one.owner]).total_seconds() > MOST_WAIT_SECONDS]
    held = _held_jobs(jobs, now) if late else []
    slots = slots_by_worker(Work.GAMES)
    if not _are_all_held(slots, held):
        return 0
    is_only = sum(slots.values()) == 1
    for one in late:
        candidates = _candidates(one, held, shares)
        needed = 1
        if not is_only:
            candidates = _endable(candidates, jobs)
            mine = (each for each in waiting if (each.owner, each.priority) == (one.owner, one.priority))
            if all(each.is_long(each.first) for each in mine):  # it needs a slot that long jobs may have
                needed = max(1, 1 - long_left(jobs, Work.GAMES))
        if len(candidates) >= needed:
            return sum(_give_up(job, now, is_only=is_only) for job in candidates[:needed])
    return 0


def _held_jobs(jobs: Sequence[OpenJob], now: datetime) -> list[OpenJob]:
    """Those that have held a slot for long since their first game began, the youngest first."""
    attempts = Attempt.objects.filter(job__in=[job.job for job in jobs], started_at__isnull=False)
    begun = dict(attempts.order_by().values_list("job").annotate(Min("started_at")))
    limit = now - timedelta(seconds=MOST_WAIT_SECONDS)
    held = [job for job in jobs if job.job in begun and begun[job.job] < limit]
    return sorted(held, key=lambda job: begun[job.job], reverse=True)


def _are_all_held(slots: Mapping[str, int], held: Sequence[OpenJob]) -> bool:
    taken = Counter(job.worker for job in held)
    return bool(slots) and all(taken[worker] >= number for worker, number in slots.items())


def _candidates(waiting: WaitingTournament, held: Sequence[OpenJob], shares: Shares) -> list[OpenJob]:
    """Jobs that the waiting owner comes before: the most served owner's first, and of those the youngest."""
    used = shares.used
    mine = -waiting.priority, used[waiting.owner]
    behind = [job for job in held if (-job.priority, used[job.owner]) > mine]
    return sorted(behind, key=lambda job: (job.priority, -used[job.owner]))


def _endable(candidates: Sequence[OpenJob], jobs: Sequence[OpenJob]) -> list[OpenJob]:
    """Those that take longer than expected, then as many others as slots were lost, none of them again."""
    longer = [job for job in candidates if not job.was_expected_to_hold]
    ended = PreemptedGame.objects.filter(game__attempts__job__in=[job.job for job in candidates])
    again = set(ended.values_list("game__attempts__job", flat=True))
    others = [job for job in candidates if job.was_expected_to_hold and job.job not in again]
    too_many = sum(job.was_expected_to_hold for job in jobs) - most_long_jobs(Work.GAMES)
    return longer + others[: max(0, too_many)]


@transaction.atomic
def _give_up(job: OpenJob, now: datetime, *, is_only: bool) -> int:
    """Have games wait again that are not begun, and a late one as well unless it is the site's only slot."""
    lock_tournaments([job.tournament])
    attempts = Attempt.objects.filter(job=job.job, ended_at__isnull=True, reported_at__isnull=True)
    playing = attempts.filter(started_at__isnull=False)
    if job.game_elapsed is None or not playing.exists():
        return 0  # between two games: which one is begun next is not known yet
    if is_only or not (job.was_expected_to_hold or job.game_elapsed > MOST_WAIT_SECONDS):
        return end_attempts(attempts.filter(started_at__isnull=True), Attempt.End.RELEASED, now)
    for game in playing.values_list("game_id", flat=True):
        PreemptedGame.objects.update_or_create(game_id=game, defaults={"seconds": job.game_elapsed})
    ended = end_attempts(attempts, Attempt.End.RELEASED, now)
    is_open = [Game.State.WAITING, Game.State.CLAIMED]
    PreemptedGame.objects.exclude(game__state__in=is_open).delete()
    told = job.job, job.owner, job.elapsed
    log.warning("job %s of owner %d is ended after %.0f s for an owner who waits", *told)
    return ended
