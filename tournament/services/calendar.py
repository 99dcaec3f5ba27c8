"""Everything due by time or by results: entries, starts, rounds, ladder pairs, version tests, leases.

The record keeper runs ``tend`` every second and ``sweep`` every five; a later run does what was missed, and
nothing is done twice.
"""

from __future__ import annotations

import datetime
import logging
from contextlib import suppress

from django.db import transaction
from django.utils import timezone

from tournament.models import Tournament
from tournament.services.ladders.matchmaking import tend_ladders
from tournament.services.schedule.advancing import take_steps
from tournament.services.schedule.entries import close_entries
from tournament.services.schedule.limits import LimitError, check_running
from tournament.services.schedule.pairings import make_games
from tournament.services.schedule.publishing import tell_waiting
from tournament.services.schedule.rounds import advance_all
from tournament.services.schedule.tournaments import TournamentError, cancel, start
from tournament.services.schedule.walkovers import end_games_of_withdrawn
from tournament.services.version_tests.progress import tend_tests
from tournament.services.work.leases import expire
from tournament.services.work.workers import sweep_workers

log = logging.getLogger("tournament.calendar")


def tend(now: datetime.datetime | None = None) -> int:
    """Do everything that is due; returns the number of steps taken."""
    now = now or timezone.now()
    steps = _close_due(now) + _start_due(now) + advance_all() + _make_games()
    end_games_of_withdrawn()
    steps += tend_tests()
    return steps + tend_ladders(now)  # last: ladder games use the workers that are still idle


def sweep(now: datetime.datetime | None = None) -> int:
    """End the expired leases of games and of compliance checks and searches; returns how many. Repeatable."""
    now = now or timezone.now()
    sweep_workers(now)
    return expire(now)


def _close_due(now: datetime.datetime) -> int:
    due = Tournament.objects.announced().filter(entry_until__lte=now, entry_closed=False)
    return take_steps(due.order_by("id"), lambda pk: close_entries(Tournament.objects.get(pk=pk), now))


def _start_due(now: datetime.datetime) -> int:
    due = Tournament.objects.announced().filter(starts_at__lte=now).order_by("starts_at", "id")
    return take_steps(due, lambda pk: _start_or_give_up(Tournament.objects.get(pk=pk)))


def _start_or_give_up(tournament: Tournament) -> bool:
    """Start it, or cancel it if it can never start; False if it waits for a limit of its owner's account."""
    try:
        check_running(tournament)  # without the locks of a start: it may wait for days
        start(tournament)
    except LimitError as error:
        return _wait(tournament, str(error).partition(": ")[2])
    except TournamentError as error:
        log.warning("tournament %s is cancelled at its start: %s", tournament.slug, error)
        _give_up(tournament, f"it could not start: {str(error).partition(': ')[2]}")
    return True


def _wait(tournament: Tournament, why: str) -> bool:
    """Leave it announced with the reason, and notify its owner once; returns False."""
    reason = f"its start waits: {why}"
    if tournament.state_reason != reason:
        with transaction.atomic():
            waiting = Tournament.objects.announced().filter(pk=tournament.pk)
            if waiting.update(state_reason=reason) and tournament.owner is not None:
                tell_waiting(tournament, why)
    return False


def _make_games() -> bool:
    """Make some games of the schedule with the fewest left: the record keeper does nothing else meanwhile."""
    for tournament in Tournament.objects.filter(games_to_make__gt=0).order_by("games_to_make", "id"):
        try:
            return make_games(tournament)
        except TournamentError as error:
            _give_up(tournament, f"its games could not be made: {str(error).partition(': ')[2]}")
        except Exception:
            log.exception("the games of tournament %s cannot be made", tournament.slug)
    return False


def _give_up(tournament: Tournament, why: str) -> None:
    with suppress(TournamentError):  # somebody started or cancelled it at the same time
        cancel(tournament, why)
