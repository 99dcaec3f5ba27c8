"""Tournaments with their tables."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec
from django.db.models import Q
from django.urls import reverse
from msgspec import Meta

from tournament import access
from tournament.api.v1.operations import ApiRequest, operation
from tournament.api.v1.responses import PageQuery, Rows, page_by_id, page_by_place, part_of
from tournament.api.v1.schemas import WITH_LADDERS
from tournament.formats import kinds
from tournament.models import BotVersion
from tournament.rows.fields import Address, Moment, as_text
from tournament.services.evidence.tournaments import has_evidence
from tournament.views.exports import origin_of
from tournament.views.sorting import orders, read_sorting
from tournament.views.tournaments.costs import describe_progress
from tournament.views.tournaments.lists import SORTED, counted
from tournament.views.tournaments.tables import (
    CrosstableRow,
    PairingRow,
    StandingRow,
    TournamentRow,
    crosstable_rows,
    find_with_tables,
    pairing_rows,
    standing_rows,
    tournament_row,
)
from tournament.views.tournaments.tournaments import find_tournament, players_of


class TournamentAnswer(TournamentRow, frozen=True, kw_only=True):
    """A tournament with its terms."""

    ladders: tuple[str, ...]
    games_expected: Annotated[int, Meta(description="With rounds that are not drawn yet, at least.")]
    pairs: Annotated[int, Meta(description="Pairs of games of a meeting.")]
    rounds: Annotated[int, Meta(description="Of a Swiss; else 0.")]
    opening_plies: int
    ply_limit: Annotated[int | None, Meta(description="Null for the one of the game.")]
    meetings: Annotated[str, Meta(description="Who meets whom, in words.")]
    progress: Annotated[str, Meta(description="How long it took, or takes, in words.")]
    reason: Annotated[str, Meta(description="Why it was stopped; mostly empty.")]
    own_workers: Annotated[bool, Meta(description="Whether workers of its owner play it.")]
    entry_until: Annotated[Moment | None, Meta(description="Until then owners enter their bots.")]
    starts: Annotated[Moment | None, Meta(description="When it starts, if that is fixed.")]
    created: Moment
    records: Address
    evidence: Annotated[
        Address | None,
        Meta(description="The newest archive, made within minutes of the end; null before it."),
    ]


class EntryRow(msgspec.Struct, frozen=True):
    """A version that takes part."""

    number: Annotated[int, Meta(description="Its number in the pairing tables, from 1.")]
    bot: str
    slug: str
    version: int
    state: str
    page: Address


Order: Any = Literal["", *orders(SORTED)]


class TournamentsQuery(PageQuery, frozen=True, kw_only=True):
    """The order of the list."""

    sort: Annotated[Order, Meta(description="By a column of the page, with `-` descending.")] = ""


class TablesQuery(PageQuery, frozen=True, kw_only=True):
    """Which tables."""

    ladder: Annotated[
        str,
        Meta(description="The code of one of its ladders; without it, all.", extra_json_schema=WITH_LADDERS),
    ] = ""


class RoundsQuery(TablesQuery, frozen=True, kw_only=True):
    """Which rounds."""

    round: Annotated[int, Meta(ge=0, le=2**31 - 1, description="The number of a round; 0 for all.")] = 0


@operation("GET", "tournaments/", rows=TournamentRow, query=TournamentsQuery)
def tournaments(request: ApiRequest, query: TournamentsQuery) -> Rows:
    """The tournaments, the oldest first, or as `sort` says."""
    endless = Q(kind__in=kinds(lambda one: one.is_endless))
    found = access.visible_tournaments(request.user).exclude(endless).select_related("owner").defer("book")
    if not query.sort:
        return page_by_id(found, query, lambda one: tournament_row(request, one))
    ordered = read_sorting(request, SORTED).of_query(counted(found))
    return page_by_place(ordered, query, lambda one: tournament_row(request, one))


@operation("GET", "tournaments/<slug:slug>/", answer=TournamentAnswer)
def tournament(request: ApiRequest, slug: str) -> TournamentAnswer:
    """A tournament with its terms and its progress."""
    found = find_tournament(request, slug)
    archive = reverse("tournament-evidence-newest", args=[found.slug])
    return TournamentAnswer(
        **msgspec.structs.asdict(tournament_row(request, found)),
        ladders=tuple(found.ladders),
        games_expected=found.games_expected,
        pairs=found.pairs,
        rounds=found.rounds,
        opening_plies=found.opening_plies,
        ply_limit=found.ply_limit,
        meetings=found.format.describe_meetings(found),
        progress=describe_progress(found),
        reason=found.state_reason,
        own_workers=found.own_workers,
        entry_until=as_text(found.entry_until),
        starts=as_text(found.starts_at),
        created=found.created_at.isoformat(),
        records=request.build_absolute_uri(reverse("tournament-records", args=[found.slug])),
        evidence=request.build_absolute_uri(archive) if found.is_over and has_evidence(found) else None,
    )


@operation("GET", "tournaments/<slug:slug>/entries/", rows=EntryRow, query=PageQuery)
def tournament_entries(request: ApiRequest, slug: str, query: PageQuery) -> Rows:
    """The versions that take part, in the order of the pairing tables; of a ladder, the active ones."""
    origin, players = origin_of(request), players_of(find_tournament(request, slug))
    return part_of([_entry(origin, number, version) for number, version in enumerate(players, 1)], query)


@operation("GET", "tournaments/<slug:slug>/standings/", rows=StandingRow, query=TablesQuery)
def tournament_standings(request: ApiRequest, slug: str, query: TablesQuery) -> Rows:
    """The standings of each ladder, the best first."""
    return part_of(standing_rows(request, find_with_tables(request, slug)), query)


@operation("GET", "tournaments/<slug:slug>/crosstable/", rows=CrosstableRow, query=TablesQuery)
def tournament_crosstable(request: ApiRequest, slug: str, query: TablesQuery) -> Rows:
    """The result of each player against each opponent that it has met."""
    return part_of(crosstable_rows(request, find_with_tables(request, slug)), query)


@operation("GET", "tournaments/<slug:slug>/pairings/", rows=PairingRow, query=RoundsQuery)
def tournament_pairings(request: ApiRequest, slug: str, query: RoundsQuery) -> Rows:
    """The meetings of a Swiss or a knock-out, round by round."""
    return part_of(pairing_rows(request, find_with_tables(request, slug)), query)


def _entry(origin: str, number: int, version: BotVersion) -> EntryRow:
    bot = version.bot
    return EntryRow(
        number, bot.name, bot.slug, version.number, version.state, origin + version.get_absolute_url()
    )
