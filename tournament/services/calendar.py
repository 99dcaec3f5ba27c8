"""Everything due by time or by results: entries, starts, rounds, ladder pairs, version tests, leases.

Celery beat runs it every few seconds; a later run does what was missed, and nothing is done twice.
"""

from __future__ import annotations

import datetime
import logging
from contextlib import suppress

from django.utils import timezone

from tournament.models import Tournament
from tournament.services.dispatch.leases import end_leases
from tournament.services.ladders.matchmaking import tend_ladders
from tournament.services.schedule.entries import close_entries
from tournament.services.schedule.rounds import advance_all
from tournament.services.schedule.tournaments import TournamentError, cancel, start
from tournament.services.uploads.validation import sweep_checks
from tournament.services.version_tests.progress import tend_tests

log = logging.getLogger("tournament.calendar")


def tend(now: datetime.datetime | None = None) -> int:
    """Do everything that is due; returns the number of steps taken."""
    now = now or timezone.now()
    steps = _close_due(now) + _start_due(now) + advance_all() + tend_tests()
    return steps + tend_ladders(now)  # last: ladder games use the workers that are still idle


def sweep(as_of: datetime.datetime | None = None, now: datetime.datetime | None = None) -> int:
    """End the expired leases of games and of compliance checks; returns how many. Repeatable.

    ``as_of`` is set by a sweep that waited for the reports queued before it, see ``end_leases``.
    """
    now = now or timezone.now()
    swept = end_leases(as_of, now)
    if swept is None:
        return 0
    return swept.lost + sweep_checks(swept.settled, swept.idle, now)


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
    with suppress(TournamentError):  # somebody started or cancelled it at the same time
        cancel(tournament, f"it could not start: {why}")
