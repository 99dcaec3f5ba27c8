"""Turns: they tell idle slots to ask for work, and the record keeper to look at its inbox.

A turn has no content, and one that is lost costs seconds: idle slots and the record keeper make turns of
their own every few seconds.
"""

from __future__ import annotations

import datetime

from tournament import queues
from tournament.models import BotSearch, Exam, Game, Tournament
from tournament.services.fair_share import of_work
from tournament.services.work.durations import free_slots
from workers.jobs import Work
from workers.service.turns import LOOK, QUEUES

MOST_TURNS = 1000


def look() -> None:
    """Have the record keeper look at its inbox at once."""
    queues.push_turns(LOOK)


def push_turns(now: datetime.datetime) -> int:
    """Add turns for the work that waits and the slots that are free; returns how many."""
    return sum(_push_turns(kind, queue) for kind, queue in QUEUES.items())


def _push_turns(kind: Work, queue: str) -> int:
    if (free := min(MOST_TURNS, free_slots(kind))) <= 0 or (waiting := _count_waiting(kind, free)) == 0:
        return 0
    if (queued := queues.waiting_turns(queue)) is None:
        return 0
    wanted = min(waiting, free) - queued
    if wanted > 0:
        queues.push_turns(queue, wanted, most=MOST_TURNS)
    return max(0, wanted)


def _count_waiting(kind: Work, most: int) -> int:
    """How many pairs, checks and searches wait, counted up to ``most``: at least as many as batches."""
    games = Game.objects.filter(
        of_work(kind, "tournament__"),
        state=Game.State.WAITING,
        tournament__state=Tournament.State.RUNNING,
    )
    found = games.order_by().values("pairing").distinct()[:most].count()
    others = [BotSearch.objects.all(), *([Exam.objects.all()] if kind is Work.CHECKS else [])]
    for rows in others:
        found += rows.filter(ended_at__isnull=True, assigned="").order_by()[: max(0, most - found)].count()
    return found
