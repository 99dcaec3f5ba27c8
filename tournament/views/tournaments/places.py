"""Who is where in a tournament: the order of its lines, and whom its page names at the top."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from engines.rules.registry import GAMES
from tournament.arithmetic.standings import StandingsRow
from tournament.formats import TournamentFormat
from tournament.models import BotVersion, Tournament
from tournament.services.schedule.tables import StandingsTable
from tournament.views.tournaments.meetings import format_points


@dataclass(frozen=True, slots=True)
class LadderWinners:
    """Whom the top of a finished tournament's page names on one ladder."""

    ladder: str
    title: str
    versions: list[BotVersion]
    note: str = ""


def ranked_rows(
    form: TournamentFormat, table: StandingsTable
) -> tuple[StandingsRow | None, list[tuple[int, StandingsRow]]]:
    """The challenger of a gauntlet, None in other formats; and the other lines with their ranks, in order."""
    rows = list(table.crosstable.rows)
    if not (form.has_challenger and rows):
        return None, [(row.rank, row) for row in rows]
    first = next(iter(table.versions))
    challenger = next(row for row in rows if row.player == first)
    return challenger, [
        (row.rank - (row.rank > challenger.rank), row) for row in rows if row is not challenger
    ]


def winners(tournament: Tournament, tables: Sequence[StandingsTable]) -> list[LadderWinners]:
    """The winners by ladder; empty unless the tournament is finished."""
    if tournament.state != Tournament.State.FINISHED or not tournament.format.has_places:
        return []
    shown = [table for table in tables if table.ladder in GAMES and table.crosstable.games]
    return [named for table in shown if (named := _named(tournament.format, table)) is not None]


def _named(form: TournamentFormat, table: StandingsTable) -> LadderWinners | None:
    challenger, opponents = ranked_rows(form, table)
    if challenger is not None:
        return _challenger(table, challenger, len(opponents))
    return _winner_of_the_final(table) if form.has_bracket else _first_places(table)


def _first_places(table: StandingsTable) -> LadderWinners:
    first = [table.versions[row.player] for row in table.crosstable.rows if row.rank == 1]
    title = "Champion" if len(first) == 1 else "Shared first place"
    points = format_points(table.crosstable.rows[0].points)
    return LadderWinners(GAMES[table.ladder].name, title, first, f"{points} points")


def _winner_of_the_final(table: StandingsTable) -> LadderWinners | None:
    if not table.bracket or (final := table.bracket[-1][0]).winner is None:
        return None
    note = "better seed in a level final" if final.by_last_resort else ""
    return LadderWinners(GAMES[table.ladder].name, "Champion", [table.seeded(final.winner)], note)


def _challenger(table: StandingsTable, challenger: StandingsRow, opponents: int) -> LadderWinners:
    score = challenger.score
    note = (
        f"{format_points(challenger.points)} of {score.games + score.given_up} points against"
        f" {opponents} opponent{'' if opponents == 1 else 's'}"
    )
    return LadderWinners(GAMES[table.ladder].name, "Challenger", [table.versions[challenger.player]], note)
