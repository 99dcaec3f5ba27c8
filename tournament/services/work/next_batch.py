"""Which games a free slot plays next: read it from top to bottom.

The highest priority is first; of one priority the owner who has used the least time (``fair_share``), and his
tournaments in turn. A batch is some pairs of games of one tournament, which the slot plays one after another:
pairs of two seconds together by their players' recent games, or else one pair. Pairs that take longer than
an owner shall wait leave slots free.

Nothing is queued: what is decided here is decided when a slot is free, in the transaction that takes the
games. An ask that finds nothing writes nothing.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime

from tournament.models import Attempt, Exam, Worker
from tournament.models.tournaments import GAMES_A_PAIR
from tournament.services.work.checks import claim_check, return_check
from tournament.services.work.durations import (
    WaitingPair,
)
from tournament.services.work.fair_share import (
    MOST_WAIT_SECONDS,
    Shares,
    open_jobs,
    shares_of,
)
from tournament.services.work.stopping import release
from workers.jobs import Ask, Batch, Work

START_SECONDS = 600.0
"""What a job may take besides its games, mostly to fetch and unpack its bundles."""
A_GAME_SECONDS = 60.0
"""What a game may take besides the time of its clocks."""
MOST_SECONDS = 365 * 86_400.0

log = logging.getLogger("tournament.work")


def next_batch(ask: Ask, worker: Worker, now: datetime) -> Batch | None:
    """The batch for a slot that asks; None if there is nothing for it at this time.

    The same ask gets the same batch again. What else the slot had taken, also in an earlier run, waits again
    at once unless the ask says that the slot still has it.
    """
    if (batch := _repeat_or_release(ask, worker, now)) is not None:
        return batch
    for work in ask.takes:
        for tournament in find_next(work, now):
            if (batch := _take(tournament, ask, worker, now)) is not None:
                return batch
        if work is Work.CHECKS and (check := claim_check(ask, worker, now)) is not None:
            return _batch_of_check(check)
    return None


def _repeat_or_release(ask: Ask, worker: Worker, now: datetime) -> Batch | None:
    """The batch of this ask, if it was answered before; what the slot does not hold any more is released."""
    mine = {"assigned": worker.name, "slot": ask.slot, "ended_at__isnull": True}
    attempts = Attempt.objects.filter(**mine, reported_at__isnull=True).order_by()
    checks = Exam.objects.filter(**mine)
    batch = None
    for job, asked in attempts.values_list("job", "ask").distinct():
        if str(asked) == ask.ask:
            batch = _batch_of_games(job)
        elif str(job) not in ask.holds:
            release(Attempt.objects.filter(job=job), now)
    for check in checks.select_related("version__bot"):
        if str(check.ask) == ask.ask:
            batch = _batch_of_check(check)
        elif str(check.pk) not in ask.holds:
            return_check(check, now)
    return batch


# Which tournament is next


@dataclass(frozen=True, slots=True)
class WaitingTournament:
    """A running tournament with games that wait."""

    tournament: int
    work: Work
    priority: int
    owner: int
    served: tuple[bool, datetime | None]
    """When a slot last took games of it, as a key for sorting: never is first."""
    first: WaitingPair
    expect: Callable[[WaitingPair], tuple[float, bool]]

    @property
    def is_long(self) -> bool:
        """Whether its next pair takes longer than an owner shall wait."""
        return GAMES_A_PAIR * self.expect(self.first)[0] > MOST_WAIT_SECONDS


@dataclass(frozen=True, slots=True)
class _Next(WaitingTournament):
    shares: Shares | None = None


def find_next(work: Work, now: datetime) -> Iterable[WaitingTournament]:
    """The tournaments of which a slot may take games now, the one whose turn it is first."""
    waiting = find_waiting(work, now)
    if not waiting:
        return
    jobs = open_jobs(work, now)
    shares = shares_of(((one.priority, one.owner) for one in waiting), jobs)
    long_left = most_long_jobs(work) - sum(job.is_long for job in jobs)
