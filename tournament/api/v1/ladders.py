"""The ladders and their tables."""

from __future__ import annotations

from typing import Annotated

import msgspec
from msgspec import Meta

from engines.rules.registry import GAMES, Variant
from tournament.api.v1.operations import ApiRequest, operation
from tournament.api.v1.responses import PageQuery, Rows, part_of
from tournament.models import Ladder, Matchmaking
from tournament.rows.fields import Address
from tournament.views.exports import origin_of
from tournament.views.ladders.ladders import find_ladder, ladder_sizes
from tournament.views.ladders.overall import OverallRow, overall_rows
from tournament.views.ladders.rows import RatingRow, rating_rows
from tournament.views.links import address_of


class LadderRow(msgspec.Struct, frozen=True):
    """A ladder."""

    code: str
    name: str
    summary: Annotated[str, Meta(description="The game in a sentence.")]
    bots: Annotated[int, Meta(description="Bots with a rating.")]
    rated_games: int
    time_control: Annotated[str, Meta(description="Of its matchmaker's games.")]
    opening_plies: Annotated[int, Meta(description="First plies that are drawn at random for each pair.")]
    matchmaker: Annotated[str, Meta(description="Which games are started, in words.")]
    outdated: Annotated[bool, Meta(description="Whether ratings are being computed again.")]
    page: Address


@operation("GET", "ladders/", rows=LadderRow, query=PageQuery)
def ladders(request: ApiRequest, query: PageQuery) -> Rows:
    """The ladders, in the order of the site."""
    return part_of(_rows(request, list(GAMES.values())), query)


@operation("GET", "ladders/overall/", rows=OverallRow, query=PageQuery)
def overall(request: ApiRequest, query: PageQuery) -> Rows:
    """The table over all ladders: the mean of each bot's standardised ratings."""
    return part_of(list(overall_rows(origin_of(request))), query)


@operation("GET", "ladders/<slug:code>/", answer=LadderRow)
def ladder(request: ApiRequest, code: str) -> LadderRow:
    """A ladder."""
    (row,) = _rows(request, [find_ladder(code)])
    return row


@operation("GET", "ladders/<slug:code>/ratings/", rows=RatingRow, query=PageQuery)
def ladder_ratings(request: ApiRequest, code: str, query: PageQuery) -> Rows:
    """The rating table of a ladder: settled versions first, then provisional ones, then retired ones."""
    find_ladder(code)
    return part_of(list(rating_rows(origin_of(request), code)), query)


def _rows(request: ApiRequest, games: list[Variant]) -> list[LadderRow]:
    codes = [game.code for game in games]
    sizes, states = ladder_sizes(), Ladder.objects.in_bulk(codes)
    matchmakers = Matchmaking.objects.of_ladders(codes)
    return [
        LadderRow(
            game.code,
            game.name,
            game.summary,
            *sizes.get(game.code, (0, 0)),
            matchmaker.terms.time_control,
            matchmaker.terms.opening_plies,
            matchmaker.description,
            game.code in states and states[game.code].is_outdated,
            origin_of(request) + address_of("ladder", game.code),
        )
        for game, matchmaker in zip(games, matchmakers, strict=True)
    ]
