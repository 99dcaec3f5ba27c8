"""Whose batch is played next: within one priority, owners share the slots by the time that they have used.

A deficit round robin over seconds of slots: the next slot goes to the owner who has had the least, counting
running and queued jobs. Long jobs leave slots free, so that a waiting owner soon gets one.
"""

from __future__ import annotations

import datetime
from collections import defaultdict, deque
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from django.conf import settings
from django.db.models import Exists, F, Min, OuterRef, QuerySet, Sum

from tournament.models import Attempt, Game, OwnerShare, Tournament
from tournament.services.dispatch.batches import GameBatch
from tournament.services.shares import SITE

MOST_WAIT_SECONDS = 30.0
"""A job that is expected to take longer, or has taken longer, is a long one."""


@dataclass(slots=True)
class SlotShares:
    """The owners' used seconds, and how many long jobs may still be sent; changes as batches are chosen."""

    used: defaultdict[int, float]
    long_left: int

    def take_turns(self, waiting: Mapping[int, Sequence[Iterator[GameBatch]]]) -> Iterator[GameBatch]:
        """Batches of one priority; ``waiting`` has each owner's tournaments, which take turns.

        A long batch for which no slot is left is not sent now.
        """
        sources = {owner: deque(tournaments) for owner, tournaments in waiting.items()}
        while sources:
            owner = min(sources, key=lambda one: (self.used[one], one))
            batch = self._next(sources[owner])
            if batch is None:
                del sources[owner]
                continue
            self.used[owner] += batch.seconds
            yield batch

    def _next(self, tournaments: deque[Iterator[GameBatch]]) -> GameBatch | None:
        while tournaments:
            batch = next(tournaments[0], None)
            is_long = batch is not None and batch.seconds > MOST_WAIT_SECONDS
            if batch is None or (is_long and self.long_left <= 0):
                tournaments.popleft()
                continue
            tournaments.rotate(-1)
            self.long_left -= is_long
            return batch
        return None


def slot_shares(open_attempts: QuerySet[Attempt], slots: int, now: datetime.datetime) -> SlotShares:
    """The shares as of now: what was charged, and for open jobs the expected or, if longer, the real time."""
    used = defaultdict(float, OwnerShare.objects.values_list("owner", "served"))
    long_jobs = 0
    jobs = open_attempts.order_by().values("job", "game__tournament__owner")
    for job in jobs.annotate(began=Min("started_at"), expected=Sum("expected_s")):
        elapsed = (now - job["began"]).total_seconds() if job["began"] else 0.0
        seconds = max(job["expected"], elapsed)
        used[job["game__tournament__owner"] or SITE] += seconds
        long_jobs += seconds > MOST_WAIT_SECONDS
    allowed = max(1, slots - settings.FREE_SLOTS)
    return SlotShares(used, allowed - long_jobs)


def admit_owners(waiting: Collection[int], shares: SlotShares) -> None:
    """Note who has games to play. An owner who had none until now starts with what the least served has.

    If nobody had any, all start alike: neither unused time nor long use is remembered.
    """
    active = set(OwnerShare.objects.filter(is_active=True).values_list("owner", flat=True))
    highest = max(shares.used.values(), default=0.0)
    level = min((shares.used[owner] for owner in active & set(waiting)), default=highest)
    for owner in set(waiting) - active:
        missing = level - shares.used[owner]
        share, _ = OwnerShare.objects.get_or_create(owner=owner)
        OwnerShare.objects.filter(pk=share.pk).update(is_active=True, served=F("served") + missing)
        shares.used[owner] = level


def dismiss_owners() -> None:
    """Note which owners have no game left that waits or is played."""
    unplayed = Game.objects.filter(
        tournament=OuterRef("pk"), state__in=[Game.State.WAITING, Game.State.CLAIMED]
    )
    playing = Tournament.objects.running().filter(Exists(unplayed)).values_list("owner", flat=True)
    owners = {owner or SITE for owner in playing}
    OwnerShare.objects.filter(is_active=True).exclude(owner__in=owners).update(is_active=False)
