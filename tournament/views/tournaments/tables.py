"""The tables of tournaments as CSV and JSON, with the same columns in both.

``?ladder=`` selects one ladder of a tournament; without it the tables of all ladders follow each other.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Annotated

import msgspec
from django.http import Http404, HttpRequest, HttpResponse
from django.views.decorators.http import require_safe
from msgspec import Meta

from engines.arithmetic.standings import StandingsRow
from tournament import access
from tournament.formats.base import StandingsTable
from tournament.models import BotVersion, Tournament
from tournament.rows.fields import Address, Moment, as_text
from tournament.services.schedule.own_ratings import rated_tables
from tournament.services.schedule.tables import crossed, score_counts, standing_values
from tournament.views.exports import MAX_EXPORTED, served_rows, with_next
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

NotPlayed = Annotated[
    int,
    Meta(
        description="Games at half a point for both, and those that a withdrawn bot lost without playing "
        "them; `won` and `lost` are without these."
    ),
]


class TournamentRow(msgspec.Struct, frozen=True):
    """A tournament, as lists have it; ``page`` leads to more."""

    tournament: Annotated[str, Meta(description="Its name.")]
    format: str
    state: str
    rated: Annotated[bool, Meta(description="Whether its games change the ladders' ratings.")]
    games_done: int
    games: Annotated[int, Meta(description="The games that are made so far.")]
    time_control: str
    owner: str | None
    started: Moment | None
    finished: Moment | None
    page: Address
    slug: str


class StandingRow(msgspec.Struct, frozen=True):
    """A player's place in the standings of a ladder."""

    ladder: str
    rank: Annotated[int | None, Meta(description="Null for the challenger of a gauntlet.")]
    bot: str
    version: int
    points: float
    games: int
    won: int
    drawn: int
    lost: int
    not_played: NotPlayed
    byes: int
    buchholz: float
    sonneborn_berger: float
    matches_won: int
    performance: Annotated[int | None, Meta(description="Elo above the mean of the opponents.")]
    rating: Annotated[float | None, Meta(description="By the tournament's own games.")]
    withdrawn: bool
    bot_slug: str


class CrosstableRow(msgspec.Struct, frozen=True):
    """The result of a player against an opponent that it has met."""

    ladder: str
    bot: str
    version: int
    opponent: str
    opponent_version: int
    points: float
    games: int
    won: int
    drawn: int
    lost: int
    not_played: NotPlayed
    bot_slug: str
    opponent_slug: str


class PairingRow(msgspec.Struct, frozen=True):
    """A meeting of a Swiss or a knock-out; its sides are null until they are known."""

    ladder: str
    round: int
    seed: int | None
    bot: str | None
    version: int | None
    points: float | None
    opponent_seed: int | None
    opponent: str | None
    opponent_version: int | None
    opponent_points: float | None
    winner: Annotated[str | None, Meta(description="The bot that won a decided match of a knock-out.")]
    note: Annotated[str, Meta(description="As `bye` or `withdrawn`; mostly empty.")]
    games: Annotated[str, Meta(description="The address of the list of its games; empty before the first.")]
    bot_slug: str | None
    opponent_slug: str | None


@require_safe
def tournaments(request: HttpRequest, kind: str) -> HttpResponse:
    """All tournaments this user may see, newest first, in parts of ``MAX_EXPORTED``."""
    visible = access.visible_tournaments(request.user).select_related("owner")
    page = by_id(request, visible, MAX_EXPORTED)
    rows = [tournament_row(request, one) for one in page.rows]
    answer = served_rows(kind, "tournaments", TournamentRow, rows, file="tournaments")
    return with_next(request, answer, page)


@require_safe
def standings(request: HttpRequest, slug: str, kind: str) -> HttpResponse:
    """The standings, the best first."""
    tournament = find_with_tables(request, slug)
    rows = standing_rows(request, tournament)
    return _answer(tournament, "standings", kind, StandingRow, rows)


@require_safe
def crosstable(request: HttpRequest, slug: str, kind: str) -> HttpResponse:
    """The result of each player against each opponent."""
    tournament = find_with_tables(request, slug)
    rows = crosstable_rows(request, tournament)
    return _answer(tournament, "crosstable", kind, CrosstableRow, rows)


@require_safe
def pairings(request: HttpRequest, slug: str, kind: str) -> HttpResponse:
    """The meetings of a Swiss or a knock-out, round by round; ``?round=n`` selects one round."""
    tournament = find_with_tables(request, slug)
    rows = pairing_rows(request, tournament)
    return _answer(tournament, "pairings", kind, PairingRow, rows)


def find_with_tables(request: HttpRequest, slug: str) -> Tournament:
    """The tournament with this slug, as ``find_tournament``; raises ``Http404`` for an endless one too."""
    tournament = find_tournament(request, slug)
    if tournament.format.is_endless:
        raise Http404(f"tournament {slug!r} has no tables")
    return tournament


def tournament_row(request: HttpRequest, tournament: Tournament) -> TournamentRow:
    return TournamentRow(
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
        tournament.slug,
    )


def standing_rows(request: HttpRequest, tournament: Tournament) -> list[StandingRow]:
    """The standings of the ladders that the address selects."""
    return [
        _standing(table, row, rank)
        for table in _tables(request, tournament)
        for rank, row in tournament.format.ranked_rows(table.crosstable, list(table.versions))
    ]


def crosstable_rows(request: HttpRequest, tournament: Tournament) -> list[CrosstableRow]:
    """The crosstables of the ladders that the address selects."""
    return [row for table in _tables(request, tournament) for row in _crosstable(tournament, table)]


def pairing_rows(request: HttpRequest, tournament: Tournament) -> list[PairingRow]:
    """The meetings that the address selects; raises ``Http404`` for a tournament without rounds."""
    if not tournament.format.is_staged:
        raise Http404(f"tournament {tournament.slug!r} has no rounds")
    number = whole_number(request, "round", 0, most=LAST_ID)
    return [
        _pairing(request, table, round_.number, row)
        for table in _tables(request, tournament)
        for round_ in _rounds(tournament, table)
        if number in {0, round_.number}
        for row in round_.meetings
    ]


def _tables(request: HttpRequest, tournament: Tournament) -> list[StandingsTable]:
    ladder = request.GET.get("ladder", "")
    if ladder and ladder not in tournament.ladders:
        raise Http404(f"no ladder {ladder!r} in tournament {tournament.slug!r}")
    return [
        table for table in rated_tables(tournament, players_of(tournament)) if ladder in {"", table.ladder}
    ]


def _standing(table: StandingsTable, row: StandingsRow, rank: int | None) -> StandingRow:
    version = table.versions[row.player]
    values = standing_values(table, row)
    return StandingRow(table.ladder, rank, *_named(version), **values, bot_slug=version.bot.slug)


def _crosstable(tournament: Tournament, table: StandingsTable) -> Iterator[CrosstableRow]:
    for player, opponent, score in crossed(tournament, table):
        one, two = table.versions[player], table.versions[opponent]
        players, slugs = (*_named(one), *_named(two)), (one.bot.slug, two.bot.slug)
        yield CrosstableRow(table.ladder, *players, score.points, *score_counts(score), *slugs)


def _rounds(tournament: Tournament, table: StandingsTable) -> list[RoundOf]:
    addresses = MeetingAddresses(tournament.slug, table.ladder)
    if table.bracket:
        return bracket(table, addresses)
    numbers = sorted({one.round for one in table.met})
    return [drawn for number in numbers for drawn in swiss_rounds(table, addresses, number)]


def _pairing(request: HttpRequest, table: StandingsTable, number: int, row: MeetingRow) -> PairingRow:
    sides = (row.first, row.second)
    winners = (side.version for side in sides if side is not None and side.tone == "win")
    winner = next(winners, None) if table.bracket else None
    return PairingRow(
        table.ladder,
        number,
        *_side(row.first),
        *_side(row.second),
        None if winner is None else winner.bot.name,
        row.note,
        request.build_absolute_uri(row.address) if row.address else "",
        *(side.version.bot.slug if side and side.version else None for side in sides),
    )


def _side(side: MeetingSide | None) -> tuple[int | None, str | None, int | None, float | None]:
    if side is None or side.version is None:
        return None, None, None, None
    return side.seed, *_named(side.version), side.points


def _named(version: BotVersion) -> tuple[str, int]:
    return version.bot.name, version.number


def _answer(
    tournament: Tournament, name: str, kind: str, of: type[msgspec.Struct], rows: Sequence[msgspec.Struct]
) -> HttpResponse:
    file = f"{tournament.slug}-{name}"
    return served_rows(kind, name, of, rows, file=file, tournament=tournament.slug, state=tournament.state)
