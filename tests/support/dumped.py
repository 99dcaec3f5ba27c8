"""Ladders whose games ended in given months, and their dumps."""

from __future__ import annotations

import datetime
from collections.abc import Sequence

from tests.support.played_evidence import play_event
from tests.support.schedule import LADDER
from tournament.models import Dump, Game, Tournament
from tournament.services.dumps.making import due_months, make

OCTOBER, NOVEMBER, DECEMBER = (
    datetime.datetime(2026, month, 1, 12, tzinfo=datetime.UTC) for month in (10, 11, 12)
)
DAY = datetime.timedelta(days=1)


def play_ladder(ends: Sequence[datetime.datetime]) -> Tournament:
    """A tournament of twelve games; those in order of completion ended then, the others with the last."""
    cup = play_event("round-robin")
    set_ends(ends)
    return cup


def set_ends(ends: Sequence[datetime.datetime]) -> None:
    numbers = Game.objects.filter(ladder=LADDER).order_by("sequence").values_list("pk", flat=True)
    for place, pk in enumerate(numbers):
        Game.objects.filter(pk=pk).update(finished_at=ends[min(place, len(ends) - 1)])


def make_dumps(now: datetime.datetime = DECEMBER) -> list[Dump]:
    """Make all that is due; returns the newest revision first."""
    for _ in range(20):
        months = list(due_months(now))
        if not months:
            break
        before = Dump.objects.count()
        for month in months:
            list(make(month, now))
        if Dump.objects.count() == before and all(month.final is None for month in months):
            break
    return list(Dump.objects.all())
