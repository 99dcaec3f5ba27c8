"""The tables of a tournament as CSV and JSON, with the same columns in both.

``?ladder=`` selects one ladder; without it the tables of all ladders follow each other.
"""

from __future__ import annotations

from collections.abc import Iterator

from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.http import require_safe

from tournament.arithmetic.standings import GameScore, StandingsRow
from tournament.models import BotVersion, Tournament
from tournament.services.schedule.stored_tables import shown_tables
from tournament.services.schedule.tables import StandingsTable
from tournament.views.games.downloads import attached_csv
from tournament.views.tournaments.places import ranked_rows
from tournament.views.tournaments.tournaments import find_tournament, players_of

Line = dict[str, object]

SCORE = ("games", "won", "drawn", "lost", "not_played")
STANDINGS = (
    "ladder", "rank", "bot", "version", "points", *SCORE, "byes", "buchholz", "sonneborn_berger",
    "matches_won", "performance", "rating",
)  # fmt: skip
"""``rank`` is empty for a gauntlet's challenger; ``not_played`` counts games at half a point for both."""
CROSSTABLE = ("ladder", "bot", "version", "opponent", "opponent_version", "points", *SCORE)
"""One line for each player and each opponent it has met."""


@require_safe
def standings(request: HttpRequest, slug: str, kind: str) -> HttpResponse:
    """The standings, the best first."""
    tournament = _with_tables(request, slug)
    tables = _tables(request, tournament, with_meetings=False)
    lines = [line for table in tables for line in _standings(tournament, table)]
    return _answer(tournament, "standings", kind, STANDINGS, lines)


@require_safe
def crosstable(request: HttpRequest, slug: str, kind: str) -> HttpResponse:
    """The result of each player against each opponent."""
    tournament = _with_tables(request, slug)
    tables = _tables(request, tournament, with_meetings=True)
    lines = [line for table in tables for line in _crosstable(tournament, table)]
    return _answer(tournament, "crosstable", kind, CROSSTABLE, lines)


def _with_tables(request: HttpRequest, slug: str) -> Tournament:
    tournament = find_tournament(request, slug)
    if tournament.is_endless:
        raise Http404(f"tournament {slug!r} has no tables")
    return tournament


def _tables(request: HttpRequest, tournament: Tournament, *, with_meetings: bool) -> list[StandingsTable]:
    ladder = request.GET.get("ladder", "")
    if ladder and ladder not in tournament.ladders:
        raise Http404(f"no ladder {ladder!r} in tournament {tournament.slug!r}")
    tables = shown_tables(tournament, players_of(tournament), with_meetings=with_meetings)
    return [table for table in tables if ladder in {"", table.ladder}]


def _standings(tournament: Tournament, table: StandingsTable) -> Iterator[Line]:
    challenger, ranked = ranked_rows(tournament.kind, table)
    if challenger is not None:
        yield _standing(table, challenger, None)
    for rank, row in ranked:
        yield _standing(table, row, rank)


def _standing(table: StandingsTable, row: StandingsRow, rank: int | None) -> Line:
    values = (
        table.ladder,
        rank,
        *_named(table.versions[row.player]),
        row.points,
        *_score(row.score),
        row.byes,
        row.buchholz,
        row.sonneborn_berger,
        row.matches,
        row.performance,
        table.ratings.get(row.player),
    )
    return dict(zip(STANDINGS, values, strict=True))


def _crosstable(tournament: Tournament, table: StandingsTable) -> Iterator[Line]:
    challenger, ranked = ranked_rows(tournament.kind, table)
    rows = [row for _, row in ranked] if challenger is None else [challenger, *(row for _, row in ranked)]
    for row in rows:
        for other in rows:
            if score := row.versus.get(other.player):
                players = (*_named(table.versions[row.player]), *_named(table.versions[other.player]))
                values = (table.ladder, *players, score.points, *_score(score))
                yield dict(zip(CROSSTABLE, values, strict=True))


def _named(version: BotVersion) -> tuple[str, int]:
    return version.bot.name, version.number


def _score(score: GameScore) -> tuple[int, ...]:
    return score.games, score.wins, score.draws, score.losses, score.given_up


def _answer(
    tournament: Tournament, name: str, kind: str, columns: tuple[str, ...], lines: list[Line]
) -> HttpResponse:
    """The lines as ``csv`` or ``json``; raises ``Http404`` for another kind."""
    if kind == "csv":
        return attached_csv(columns, lines, f"{tournament.slug}-{name}.csv")
    if kind == "json":
        return JsonResponse({"tournament": tournament.slug, "state": tournament.state, name: lines})
    raise Http404(f"no {name} as {kind!r}")
