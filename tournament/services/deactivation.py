"""Stops what a deactivated account has begun: its tournaments, version tests, validations and searches."""

from __future__ import annotations

import datetime
from contextlib import suppress

from tournament.formats.base import TournamentError
from tournament.models import BotSearch, BotVersion, Tournament, User
from tournament.services.fair_share import of_work
from tournament.services.schedule.tournaments import cancel, pause
from tournament.services.uploads.stopping import stop_validation
from tournament.services.version_tests.progress import stop_test
from tournament.services.work.searches import end_searches
from workers.jobs import Work

REASON = "the account of its owner was deactivated"
State = Tournament.State


def stop_work_of(user: User, now: datetime.datetime) -> None:
    """Pause the user's running tournaments, cancel announced ones, stop version tests, validations, searches.

    Each in a transaction of its own; may be repeated. Valid versions stay on their ladders and in the
    tournaments of others until staff withdraws them.
    """
    pending = [BotVersion.State.WAITING, BotVersion.State.VALIDATING]
    for version in BotVersion.objects.filter(bot__owner=user, state__in=pending):
        stop_validation(version, REASON, now)
    end_searches(BotSearch.objects.filter(owner=user), f"Ended, since {REASON}.", now)
    own = Tournament.objects.filter(owner=user).filter(of_work(Work.GAMES))
    for tournament in own.filter(state__in=[State.RUNNING, State.ANNOUNCED]):
        with suppress(TournamentError):  # it has ended meanwhile
            _stop(tournament)


def _stop(tournament: Tournament) -> None:
    if tournament.format.is_sequential:
        stop_test(tournament, REASON)
    elif tournament.state == State.RUNNING:
        pause(tournament)
    else:
        cancel(tournament, REASON)
