"""A tournament's own ratings, and its winners for lists: stored, so that no view reads many games for them.

Ratings are no sums: a fold goes through all games in the order of the schedule. So those of a tournament that
is over are stored when it ends, and those of a large one that is played by the record keeper, every few
seconds and after an annulment; its page shows them as they were stored last. Those of small tournaments are
computed on request whenever the stored ones are old. All other columns of tables are sums, see ``meetings``.
"""

from __future__ import annotations

import datetime
import time
from collections.abc import Sequence
from dataclasses import replace

from django.db.models import F, Q
from django.utils import timezone

from tournament.formats import kinds
from tournament.formats.base import StandingsTable
from tournament.models import BotVersion, OwnRatings, Tournament
from tournament.services.schedule.advancing import take_steps
from tournament.services.schedule.pairings import entered_versions
from tournament.services.schedule.tables import tables_of, tournament_table

AT_ONCE = 400
"""Recorded games of a tournament up to which its pages compute the ratings: takes about 10 ms."""
WAIT_FACTOR = 30.0
"""The keeper waits this many times the cost before it computes ratings again: 3 % of its time."""
MAX_SECONDS = 2.0
"""Seconds after which one run computes no further ratings; the next run continues."""
State = Tournament.State


def rated_tables(tournament: Tournament, versions: Sequence[BotVersion]) -> list[StandingsTable]:
    """The tables of all ladders with the tournament's own ratings."""
    stored: OwnRatings | None = getattr(tournament, "own_ratings", None)
    is_fresh = stored and (stored.games_done, stored.revision) == (tournament.games_done, tournament.revision)
    if tournament.games_done <= AT_ONCE and not is_fresh:
        ratings = _compute(tournament)
    else:
        ratings = {code: dict(pairs) for code, pairs in stored.ratings.items()} if stored else {}
    return [replace(one, ratings=ratings.get(one.ladder, {})) for one in tables_of(tournament, versions)]


def store_ratings(tournament: Tournament) -> None:
    """Compute and store the ratings from the games recorded so far, and the winners."""
    begun = time.process_time()
    ratings = {code: list(found.items()) for code, found in _compute(tournament).items()}
    tables = tables_of(tournament, entered_versions(tournament))
    won = [tournament.format.winners(table) for table in tables if table.crosstable.games]
    cost = datetime.timedelta(seconds=time.process_time() - begun)
    OwnRatings.objects.update_or_create(
        tournament=tournament,
        defaults={
            "games_done": tournament.games_done,
            "revision": tournament.revision,
            "ratings": ratings,
            "winners": list(dict.fromkeys(player for one in won if one for player in one.players)),
            "due_at": timezone.now() + WAIT_FACTOR * cost,
        },
    )


def _compute(tournament: Tournament) -> dict[str, dict[int, float]]:
    """mu - 3 sigma by ladder and version."""
    return {
        code: {pk: one.rating.conservative for pk, one in tournament_table(tournament, code).items()}
        for code in tournament.ladders
    }


def refresh_ratings(now: datetime.datetime) -> int:
    """Store the ratings that are missing or out of date, and due; returns how many."""
    until = time.monotonic() + MAX_SECONDS
    events = Tournament.objects.filter(kind__in=kinds(lambda one: one.has_places), games_done__gt=0)
    is_over = Q(state__in=[State.FINISHED, State.CANCELLED, State.HALTED])
    large = Q(state__in=[State.RUNNING, State.PAUSED], games_total__gt=AT_ONCE)
    annulled = ~Q(own_ratings__revision=F("revision"))  # shown no longer than necessary
    due = ~Q(own_ratings__games_done=F("games_done")) & Q(own_ratings__due_at__lte=now)
    old = events.filter(is_over | large, Q(own_ratings=None) | annulled | due)

    def store(pk: int) -> bool:
        if is_early := time.monotonic() < until:
            store_ratings(Tournament.objects.get(pk=pk))
        return is_early

    return take_steps(old.order_by("id"), store)
