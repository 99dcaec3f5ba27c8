"""What is due by the clock or by results: entries close, tournaments start, rounds and pairs are made.

Asked every second by beat; whatever was missed is done the next time, and nothing is done twice.
"""

from __future__ import annotations

import datetime
import logging
from contextlib import suppress

from django.utils import timezone

from tournament.models import Tournament
from tournament.services.entries import close_entries
from tournament.services.matchmaking import tend_ladders
from tournament.services.rounds import advance_all
from tournament.services.tournaments import TournamentError, cancel, start

log = logging.getLogger("tournament.calendar")


def tend(now: datetime.datetime | None = None) -> int:
    """Do all that is due; returns how many steps that were."""
    now = now or timezone.now()
    steps = _close_due(now) + _start_due(now) + advance_all()
    return steps + tend_ladders(now)  # last: they take what all others leave idle


def _close_due(now: datetime.datetime) -> int:
    due = Tournament.objects.announced().filter(entry_until__lte=now, entry_closed=False)
    for tournament in due:
        close_entries(tournament, now)
    return len(due)


def _start_due(now: datetime.datetime) -> int:
    due = Tournament.objects.announced().filter(starts_at__lte=now).order_by("starts_at", "id")
    for tournament in due:
        try:
            start(tournament)
        except TournamentError as error:
            log.warning("tournament %s is cancelled at its start: %s", tournament.slug, error)
            _give_up(tournament, str(error).partition(": ")[2])
    return len(due)


def _give_up(tournament: Tournament, why: str) -> None:
    with suppress(TournamentError):  # somebody started or cancelled it at this very moment
        cancel(tournament, f"it could not start: {why}")
