"""The jobs that workers hold, queued or begun: how long each was expected to take, and how long it has taken.

Read once for each dispatch: for the workers' room, the owners' shares, and the jobs that hold up others.
"""

from __future__ import annotations

import datetime
import uuid
from dataclasses import dataclass

from django.db.models import Count, Max, Min, QuerySet, Sum

from tournament.models import Attempt
from tournament.services.dispatch.batches import LONG_SECONDS, MOST_WAIT_SECONDS
from tournament.services.shares import SITE


@dataclass(frozen=True, slots=True)
class OpenJob:
    """A job that is not over; times are in seconds."""

    job: uuid.UUID
    worker: str
    tournament: int
    owner: int
    """The tournament's owner; ``SITE`` if it has none."""
    priority: int
    games: int
    """How many of its games are not over."""
    is_begun: bool
    expected: float
    """How long all its games were expected to take when it was sent."""
    left: float
    """How long those that are not over were expected to take."""
    elapsed: float
    """Since its first game began; 0 while it is queued."""
    game_elapsed: float
    """Since its current game began; not charged to the owner yet."""

    @property
    def used(self) -> float:
        """What it counts in its owner's share, besides what was charged.

        Of the time that it is only expected to take, half a minute counts: owners who come now start with
        what others have used, and may not inherit hours that are never played.
        """
        return max(min(self.left, MOST_WAIT_SECONDS), self.game_elapsed)

    @property
    def is_long(self) -> bool:
        """Whether no other job shall wait behind it."""
        return max(self.expected, self.elapsed) > LONG_SECONDS

    @property
    def was_expected_to_hold(self) -> bool:
        """Whether it was sent as one that holds a slot for longer than an owner shall wait."""
        return self.expected > MOST_WAIT_SECONDS

    @property
    def has_held(self) -> bool:
        """Whether it has held its slot for longer than an owner shall wait."""
        return self.elapsed > MOST_WAIT_SECONDS


def find_open_jobs(open_attempts: QuerySet[Attempt], now: datetime.datetime) -> list[OpenJob]:
    """The jobs of these attempts, which have not ended."""
    of = "game__tournament"
    rows = open_attempts.order_by().values("job", "assigned", of, f"{of}__owner", f"{of}__priority")
    found = list(
        rows.annotate(
            games=Count("pk"),
            left=Sum("expected_s"),
            playing=Min("started_at"),
            lease=Max("lease_until"),
        )
    )
    begun = Attempt.objects.filter(job__in=[row["job"] for row in found if row["lease"]]).order_by()
    whole = {
        job: (expected, first)
        for job, expected, first in begun.values_list("job").annotate(Sum("expected_s"), Min("started_at"))
    }

    def since(moment: datetime.datetime | None) -> float:
        return max(0.0, (now - moment).total_seconds()) if moment else 0.0

    jobs = []
    for row in found:
        expected, first = whole.get(row["job"], (row["left"], None))
        jobs.append(
            OpenJob(
                job=row["job"],
                worker=row["assigned"],
                tournament=row[of],
                owner=row[f"{of}__owner"] or SITE,
                priority=row[f"{of}__priority"],
                games=row["games"],
                is_begun=row["lease"] is not None,
                expected=expected,
                left=row["left"],
                elapsed=since(first),
                game_elapsed=since(row["playing"]),
            )
        )
    return jobs
