"""The tables of tournaments as pages show them: the expensive ones are stored, so that no view computes them.

The tables of a tournament that is over are stored when it ends, and those of a large one that is played by
the record keeper, every few seconds and after an annulment. Until then its pages show them as they were
stored before. The tables of small tournaments are computed on request whenever the stored ones are old.
"""

from __future__ import annotations

import datetime
import json
import time
from collections.abc import Iterator, Sequence
from dataclasses import astuple, replace
from typing import Any

from django.db.models import F, Q
from django.utils import timezone

from tournament.arithmetic.standings import Crosstable, GameScore, StandingsRow
from tournament.formats import kinds
from tournament.formats.base import StandingsTable
from tournament.models import BotVersion, Tournament, TournamentTables
from tournament.services.schedule.advancing import take_steps
from tournament.services.schedule.meetings import absent_seeds
from tournament.services.schedule.pairings import entered_versions
from tournament.services.schedule.tables import bracket_of, rated_tables, seeded_versions
from workers.pairing.results import MeetingResult

AT_ONCE = 400
"""Recorded games of a tournament up to which its pages compute the tables: takes about 10 ms."""
LEAST_WAIT = datetime.timedelta(seconds=3)
WAIT_FACTOR = 30.0
"""The keeper waits this many times the cost before it computes tables again: 3 % of its time."""
MOST_S = 2.0
"""Seconds after which one run computes no further tables; the next run continues."""
COMPARED = ("games_done", "games_total", "revision")
"""Numbers of a tournament that change whenever its tables do, except with its end, which stores them."""
State = Tournament.State
OVER = (State.FINISHED, State.CANCELLED, State.HALTED)


def shown_tables(
    tournament: Tournament, versions: Sequence[BotVersion], *, with_meetings: bool = True
) -> list[StandingsTable]:
    """The tables for a page; those of a large tournament are old, or none, while it ``awaits_tables``.

    Without the meetings, stored rows have no results against single opponents, except in a gauntlet.
    """
    stored = find_stored(tournament)
    if not _is_fresh(stored, tournament) and not awaits_tables(tournament):
        return rated_tables(tournament, versions)
    return _load(stored, tournament, versions, with_meetings=with_meetings) if stored else []


def awaits_tables(tournament: Tournament) -> bool:
    """Whether the record keeper is to store the tables because the stored ones are old or missing."""
    return tournament.games_done > AT_ONCE and not _is_fresh(find_stored(tournament), tournament)


def find_stored(tournament: Tournament) -> TournamentTables | None:
    """The stored tables, not yet parsed; None if there are none."""
    try:
        return tournament.tables
    except TournamentTables.DoesNotExist:
        return None


def store_tables(tournament: Tournament) -> list[StandingsTable]:
    """Compute and store the tables of the games recorded so far."""
    begun = time.process_time()
    tables = rated_tables(tournament, entered_versions(tournament))
    TournamentTables.objects.update_or_create(
        tournament=tournament,
        defaults={
            "games_done": tournament.games_done,
            "games_total": tournament.games_total,
            "revision": tournament.revision,
            "standings": json.dumps({table.ladder: _standings(table) for table in tables}),
            "meetings": json.dumps({table.ladder: _meetings(table) for table in tables}),
            "winners": list(dict.fromkeys(_first_places(tournament, tables))),
            "computed_at": timezone.now(),
            "cost_s": time.process_time() - begun,
        },
    )
    return tables


def _first_places(tournament: Tournament, tables: Sequence[StandingsTable]) -> Iterator[int]:
    for table in tables:
        won = tournament.format.winners(table) if table.crosstable.games else None
        yield from won.players if won else ()


def refresh_tables(now: datetime.datetime) -> int:
    """Store the tables that are missing or out of date, and due; returns how many."""
    until = time.monotonic() + MOST_S
    events = Tournament.objects.filter(kind__in=kinds(lambda one: one.has_places))
    large = Q(state__in=[State.RUNNING, State.PAUSED], games_total__gt=AT_ONCE)
    same = Q(**{f"tables__{name}": F(name) for name in COMPARED})
    old = Q(tables__isnull=True) | Q(tables__winners__isnull=True) | ~same
    due = events.filter(large | Q(state__in=OVER), old, games_done__gt=0).order_by("id")
    return take_steps(due, lambda pk: time.monotonic() < until and _store_if_due(pk, now))


def _store_if_due(pk: int, now: datetime.datetime) -> bool:
    shown = Tournament.objects.select_related("tables").defer("tables__standings", "tables__meetings")
    tournament = shown.get(pk=pk)
    stored = find_stored(tournament)
    if stored is not None and not _is_due(stored, tournament, now):
        return False
    store_tables(tournament)
    return True


def _is_due(stored: TournamentTables, tournament: Tournament, now: datetime.datetime) -> bool:
    """At once after an annulment: annulled games are shown no longer than necessary."""
    wait = max(LEAST_WAIT, WAIT_FACTOR * datetime.timedelta(seconds=stored.cost_s))
    return stored.revision != tournament.revision or stored.computed_at + wait <= now


def _is_fresh(stored: TournamentTables | None, tournament: Tournament) -> bool:
    return all(getattr(stored, name, None) == getattr(tournament, name) for name in COMPARED)


# The stored form: lists of numbers, which are parsed ten times as fast as objects with names


def _standings(table: StandingsTable) -> dict[str, Any]:
    return {
        "rows": [_row(row, table.ratings.get(row.player)) for row in table.crosstable.rows],
        "met": list(map(astuple, table.met)),
    }


def _row(row: StandingsRow, rating: float | None) -> tuple[float | None, ...]:
    """The last are wins, draws, losses and given up games: with walkovers, then without."""
    ranked, score = (row.player, row.rank, row.byes, row.bye_points, row.matches), row.score
    counted = (score.wins + score.walkovers, score.draws, score.losses + score.defaults, score.given_up)
    played = (score.wins, score.draws, score.losses, score.given_up)
    return (*ranked, row.buchholz, row.sonneborn_berger, rating, *counted, *played)


def _meetings(table: StandingsTable) -> list[tuple[int, ...]]:
    """The result of each two players who met, once, from the side of the first."""
    return [
        (row.player, opponent, *astuple(score))
        for row in table.crosstable.rows
        for opponent, score in row.versus.items()
        if row.player < opponent
    ]


def _load(
    stored: TournamentTables,
    tournament: Tournament,
    versions: Sequence[BotVersion],
    *,
    with_meetings: bool,
) -> list[StandingsTable]:
    standings = json.loads(stored.standings)
    needs_meetings = with_meetings or tournament.format.has_challenger
    meetings = json.loads(stored.meetings) if needs_meetings else {}
    return [
        _table(tournament, code, versions, standings[code], meetings.get(code, []))
        for code in tournament.ladders
        if code in standings
    ]


def _table(
    tournament: Tournament,
    code: str,
    versions: Sequence[BotVersion],
    standings: dict[str, Any],
    meetings: list[list[int]],
) -> StandingsTable:
    rows, ratings = dict[int, StandingsRow](), dict[int, float]()
    for player, rank, byes, bye_points, matches, buchholz, sonneborn, rating, *numbers in standings["rows"]:
        won, draws, lost, given_up, wins, _, losses, _ = numbers
        score = GameScore(wins, draws, losses, given_up, won - wins, lost - losses)
        row = StandingsRow(player, rank, score, {}, byes, bye_points, matches, buchholz, sonneborn)
        rows[player] = row
        if rating is not None:
            ratings[player] = rating
    for one, other, *results in meetings:
        rows[one].versus[other] = score = GameScore(*results)
        rows[other].versus[one] = score.reversed()
    met = [MeetingResult(*values) for values in standings["met"]]
    table = StandingsTable(
        code,
        seeded_versions(tournament, code, versions),
        Crosstable(tuple(rows.values())),
        met,
        absent_seeds(tournament, code),
        ratings=ratings,
    )
    return replace(table, bracket=bracket_of(tournament, code, met))
