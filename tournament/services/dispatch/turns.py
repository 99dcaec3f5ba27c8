"""Whose batch is played next: within one priority, owners share the slots by the time that they have used.

A deficit round robin over seconds of slots: the next slot goes to the owner who has had the least, counting
running and queued jobs. Long jobs leave slots free, so that a waiting owner soon gets one.
"""

from __future__ import annotations

import datetime
from collections import defaultdict, deque
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from django.conf import settings
from django.db.models import Exists, F, OuterRef

from tournament.models import Game, OwnerShare, Tournament
from tournament.services.dispatch.batches import LONG_SECONDS, MOST_WAIT_SECONDS, GameBatch
from tournament.services.dispatch.open_jobs import OpenJob
from tournament.services.shares import SITE


@dataclass(slots=True)
class SlotShares:
    """The owners' used seconds, and how many long jobs may still be sent; changes as batches are chosen."""

    used: defaultdict[int, float]
    long_left: int
    waits_since: dict[int, datetime.datetime] = field(default_factory=dict)
    """By owner, see ``OwnerShare.waits_since``; owners who do not wait are missing."""

    def take_turns(
        self,
        waiting: Mapping[int, Sequence[Iterator[GameBatch]]],
        has_place: Callable[[GameBatch], bool] = lambda batch: True,
    ) -> Iterator[GameBatch]:
        """Batches of one priority; ``waiting`` has each owner's tournaments, which take turns.

        A long batch for which no slot is left, or no worker has a place, is not sent now, nor are further
        batches of its tournament. Ends when there is no place for a short batch.
        """
        sources = {owner: deque(tournaments) for owner, tournaments in waiting.items()}
        while sources:
            owner = min(sources, key=lambda one: (self.used[one], one))
            if not sources[owner]:
                del sources[owner]
                continue
            batch = next(sources[owner][0], None)
            if batch is None or (batch.seconds > MOST_WAIT_SECONDS and self.long_left <= 0):
                sources[owner].popleft()
            elif has_place(batch):
                sources[owner].rotate(-1)
                self.long_left -= batch.seconds > MOST_WAIT_SECONDS
                self.used[owner] += batch.seconds
                yield batch
            elif batch.seconds > LONG_SECONDS:
                sources[owner].popleft()
            else:
                return


def slot_shares(jobs: Iterable[OpenJob], slots: int) -> SlotShares:
    """The shares as of now: what was charged, and for open jobs the expected or, if longer, the real time."""
    used: defaultdict[int, float] = defaultdict(float)
    waits_since: dict[int, datetime.datetime] = {}
    for owner, served, since in OwnerShare.objects.values_list("owner", "served", "waits_since"):
        used[owner] = served
        if since is not None:
            waits_since[owner] = since
    holding = 0
    for job in jobs:
        used[job.owner] += job.used
        holding += job.was_expected_to_hold or job.has_held
    return SlotShares(used, max(1, slots - settings.FREE_SLOTS) - holding, waits_since)


def admit_owners(waiting: Collection[int], shares: SlotShares, playing: Collection[int] = ()) -> None:
    """Note who has games to play. An owner who had none until now starts with what the least served has.

    ``playing`` are owners who have jobs, and perhaps nothing that waits. If nobody had any games, all start
    alike: neither unused time nor long use is remembered.
    """
    active = set(OwnerShare.objects.filter(is_active=True).values_list("owner", flat=True))
    highest = max(shares.used.values(), default=0.0)
    level = min((shares.used[owner] for owner in active & {*waiting, *playing}), default=highest)
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
    owners = {owner or SITE for owner in playing.order_by().distinct()}
    active = set(OwnerShare.objects.filter(is_active=True).values_list("owner", flat=True))
    if gone := active - owners:
        OwnerShare.objects.filter(owner__in=gone).update(is_active=False)


def note_waits(waiting: Collection[int], shares: SlotShares, now: datetime.datetime) -> None:
    """Store since when these owners, and no others, have waited for a slot."""
    if begun := set(waiting) - shares.waits_since.keys():
        OwnerShare.objects.filter(owner__in=begun).update(waits_since=now)
        shares.waits_since |= dict.fromkeys(begun, now)
    if over := shares.waits_since.keys() - set(waiting):
        OwnerShare.objects.filter(owner__in=over).update(waits_since=None)
        for owner in over:
            del shares.waits_since[owner]
