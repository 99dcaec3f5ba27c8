"""The tables of a tournament's page: for each ladder the standings, the meetings and the bracket."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from engines.arithmetic.ratings import OwnTable, Standing
from engines.arithmetic.standings import GameScore, StandingsRow
from engines.formats.meetings import PlayedMeeting
from engines.formats.tables import event_table
from engines.rules.base import Result
from tournament.formats.base import StandingsTable
from tournament.models import BotVersion, Game, Tournament
from tournament.services.schedule.meetings import meetings_of, round_terms

BATCH = 1_000
"""Games that are read at once."""


def tables_of(tournament: Tournament, versions: Sequence[BotVersion]) -> list[StandingsTable]:
    """The tables of all ladders without ratings, from one query."""
    met = meetings_of(tournament)
    return [_table(tournament, code, versions, met.get(code, [])) for code in tournament.ladders]


def _table(
    tournament: Tournament,
    code: str,
    versions: Sequence[BotVersion],
    played: Sequence[PlayedMeeting],
) -> StandingsTable:
    seeded = seeded_versions(tournament, code, versions)
    rounds = round_terms(tournament, code) if tournament.seeds.get(code) else None
    table = event_table(tournament.format, list(seeded), played, rounds)
    absent = rounds.absent if rounds else {}
    return StandingsTable(code, seeded, table.crosstable, table.met, absent, table.bracket)


def seeded_versions(
    tournament: Tournament, code: str, versions: Sequence[BotVersion]
) -> dict[int, BotVersion]:
    """Those that play on this ladder by id, in the order of their seeds, or else as given."""
    by_id = {version.pk: version for version in versions if version.plays(code)}
    ids = tournament.seeds.get(code)
    return {pk: by_id[pk] for pk in ids} if ids else by_id


def tournament_table(tournament: Tournament, ladder: str) -> dict[int, Standing]:
    """A tournament's own ratings on a ladder, by version id."""
    table = OwnTable(ladder)
    for _ in add_games(table, tournament):
        pass
    return table.standings


def add_games(table: OwnTable, tournament: Tournament) -> Iterator[None]:
    """Add the games of the table's ladder that count; pauses after each ``BATCH``."""
    games = Game.objects.counted().filter(tournament=tournament, ladder_id=table.ladder).order_by("id")
    columns, last, is_left = games.values_list("id", "white_id", "black_id", "result"), 0, True
    while is_left:
        rows = list(columns.filter(id__gt=last)[:BATCH])
        for _, white, black, result in rows:
            table.add(white, black, Result(result or "*"))
        last = rows[-1][0] if rows else last
        is_left = len(rows) == BATCH
        yield


# What pages and files of tables have beside the names of players


def standing_values(table: StandingsTable, row: StandingsRow) -> dict[str, Any]:
    """A row of the standings by the names of its columns; the rating is the tournament's own."""
    games, won, drawn, lost, not_played = score_counts(row.score)
    return {
        "points": row.points,
        "games": games,
        "won": won,
        "drawn": drawn,
        "lost": lost,
        "not_played": not_played,
        "byes": row.byes,
        "buchholz": row.buchholz,
        "sonneborn_berger": row.sonneborn_berger,
        "matches_won": row.matches,
        "performance": row.performance,
        "rating": table.ratings.get(row.player),
        "withdrawn": table.versions[row.player].state == BotVersion.State.WITHDRAWN,
    }


def score_counts(score: GameScore) -> tuple[int, int, int, int, int]:
    """Games, those won, drawn and lost; games that were not played."""
    return score.games, score.wins, score.draws, score.losses, score.not_played


def crossed(tournament: Tournament, table: StandingsTable) -> Iterator[tuple[int, int, GameScore]]:
    """The score of each player against each opponent that it has met, in the order of the standings."""
    rows = [row for _, row in tournament.format.ranked_rows(table.crosstable, list(table.versions))]
    for row in rows:
        for other in rows:
            if score := row.versus.get(other.player):
                yield row.player, other.player, score
