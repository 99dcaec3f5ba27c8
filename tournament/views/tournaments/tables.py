"""The tables of tournaments as CSV and JSON, with the same columns in both.

``?ladder=`` selects one ladder of a tournament; without it the tables of all ladders follow each other.
"""

from __future__ import annotations

from collections.abc import Iterator

from django.http import Http404, HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from tournament import access
from tournament.arithmetic.standings import Criterion, GameScore, StandingsRow
from tournament.formats.base import StandingsTable
from tournament.models import BotVersion, Tournament
from tournament.services.schedule.own_ratings import rated_tables
from tournament.views.exports import MAX_EXPORTED, Row, as_text, served_table, with_next
from tournament.views.paging import LAST_ID, by_id, whole_number
from tournament.views.tournaments.meetings import (
    MeetingAddresses,
    MeetingRow,
    MeetingSide,
    RoundOf,
    bracket,
    swiss_rounds,
)
from tournament.views.tournaments.tournaments import find_tournament, players_of

SCORE = ("games", "won", "drawn", "lost", "not_played")
SHOWN = [criterion for criterion in Criterion if criterion.heading]
STANDINGS = (
    "ladder", "rank", "bot", "version", "points", *SCORE, "byes",
    *(criterion.name.lower() for criterion in SHOWN), "performance", "rating", "withdrawn",
)  # fmt: skip
"""``rank`` is empty for a gauntlet's challenger. ``not_played`` counts games at half a point for both, and
those that a withdrawn bot lost without playing them; ``won`` and ``lost`` are without these.
"""
CROSSTABLE = ("ladder", "bot", "version", "opponent", "opponent_version", "points", *SCORE)
"""One row for each player and each opponent it has met."""
PAIRINGS = (
    "ladder", "round", "seed", "bot", "version", "points", "opponent_seed", "opponent", "opponent_version",
    "opponent_points", "winner", "note", "games",
)  # fmt: skip
"""``winner`` is of a decided match of a knock-out; ``games`` is the address of the list of games."""
TOURNAMENTS = (
    "tournament", "format", "state", "rated", "games_done", "games", "time_control", "owner", "started",
    "finished", "page",
)  # fmt: skip


@require_safe
def tournaments(request: HttpRequest, kind: str) -> HttpResponse:
    """All tournaments this user may see, newest first, in parts of ``MAX_EXPORTED``."""
    visible = access.visible_tournaments(request.user).select_related("owner")
    page = by_id(request, visible, MAX_EXPORTED)
    rows = [_tournament(request, one) for one in page.rows]
    return with_next(request, served_table(kind, "tournaments", TOURNAMENTS, rows, file="tournaments"), page)


@require_safe
def standings(request: HttpRequest, slug: str, kind: str) -> HttpResponse:
    """The standings, the best first."""
    tournament = _with_tables(request, slug)
    tables = _tables(request, tournament)
    rows = [row for table in tables for row in _standings(tournament, table)]
    return _answer(tournament, "standings", kind, STANDINGS, rows)


@require_safe
def crosstable(request: HttpRequest, slug: str, kind: str) -> HttpResponse:
    """The result of each player against each opponent."""
    tournament = _with_tables(request, slug)
    tables = _tables(request, tournament)
    rows = [row for table in tables for row in _crosstable(tournament, table)]
    return _answer(tournament, "crosstable", kind, CROSSTABLE, rows)


@require_safe
def pairings(request: HttpRequest, slug: str, kind: str) -> HttpResponse:
    """The meetings of a Swiss or a knock-out, round by round; ``?round=n`` selects one round."""
    tournament = _with_tables(request, slug)
    if not tournament.format.is_staged:
        raise Http404(f"tournament {slug!r} has no rounds")
    number = whole_number(request, "round", 0, most=LAST_ID)
    rows = [
        _pairing(request, table, round_.number, row)
        for table in _tables(request, tournament)
        for round_ in _rounds(tournament, table)
        if number in {0, round_.number}
        for row in round_.meetings
    ]
    return _answer(tournament, "pairings", kind, PAIRINGS, rows)


def _with_tables(request: HttpRequest, slug: str) -> Tournament:
    tournament = find_tournament(request, slug)
    if tournament.format.is_endless:
        raise Http404(f"tournament {slug!r} has no tables")
    return tournament


def _tables(request: HttpRequest, tournament: Tournament) -> list[StandingsTable]:
    ladder = request.GET.get("ladder", "")
    if ladder and ladder not in tournament.ladders:
        raise Http404(f"no ladder {ladder!r} in tournament {tournament.slug!r}")
    return [
        table for table in rated_tables(tournament, players_of(tournament)) if ladder in {"", table.ladder}
    ]


def _standings(tournament: Tournament, table: StandingsTable) -> Iterator[Row]:
    for rank, row in tournament.format.ranked_rows(table):
        yield _standing(table, row, rank)


def _standing(table: StandingsTable, row: StandingsRow, rank: int | None) -> Row:
    return (
        table.ladder,
        rank,
        *_named(table.versions[row.player]),
        row.points,
        *_score(row.score),
        row.byes,
        *(criterion.value_of(row, ()) for criterion in SHOWN),
        row.performance,
        table.ratings.get(row.player),
        table.versions[row.player].state == BotVersion.State.WITHDRAWN,
    )


def _crosstable(tournament: Tournament, table: StandingsTable) -> Iterator[Row]:
    rows = [row for _, row in tournament.format.ranked_rows(table)]
    for row in rows:
        for other in rows:
            if score := row.versus.get(other.player):
                players = (*_named(table.versions[row.player]), *_named(table.versions[other.player]))
                yield table.ladder, *players, score.points, *_score(score)


def _rounds(tournament: Tournament, table: StandingsTable) -> list[RoundOf]:
    addresses = MeetingAddresses(tournament.slug, table.ladder)
    if table.bracket:
        return bracket(table, addresses)
    numbers = sorted({one.round for one in table.met})
    return [drawn for number in numbers for drawn in swiss_rounds(table, addresses, number)]


def _pairing(request: HttpRequest, table: StandingsTable, number: int, row: MeetingRow) -> Row:
    winners = (side.version for side in (row.first, row.second) if side is not None and side.tone == "win")
    winner = next(winners, None) if table.bracket else None
    return (
        table.ladder,
        number,
        *_side(row.first),
        *_side(row.second),
        None if winner is None else winner.bot.name,
        row.note,
        request.build_absolute_uri(row.address) if row.address else "",
    )


def _side(side: MeetingSide | None) -> Row:
    if side is None or side.version is None:
        return None, None, None, None
    return side.seed, *_named(side.version), side.points


def _tournament(request: HttpRequest, tournament: Tournament) -> Row:
    return (
        tournament.name,
        tournament.kind,
        tournament.state,
        tournament.is_rated,
        tournament.games_done,
        tournament.games_total,
        tournament.time_control,
        tournament.owner.username if tournament.owner else None,
        as_text(tournament.started_at),
        as_text(tournament.finished_at),
        request.build_absolute_uri(tournament.get_absolute_url()),
    )


def _named(version: BotVersion) -> tuple[str, int]:
    return version.bot.name, version.number


def _score(score: GameScore) -> tuple[int, ...]:
    return score.games, score.wins, score.draws, score.losses, score.not_played


def _answer(
    tournament: Tournament, name: str, kind: str, columns: tuple[str, ...], rows: list[Row]
) -> HttpResponse:
    return served_table(
        kind,
        name,
        columns,
        rows,
        file=f"{tournament.slug}-{name}",
        tournament=tournament.slug,
        state=tournament.state,
    )
