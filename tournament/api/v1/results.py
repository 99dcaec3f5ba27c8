"""The results of a bot: by opponent, colour and opening, and against one other bot."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from tournament import access
from tournament.api.v1.operations import ApiRequest, operation
from tournament.api.v1.responses import PageQuery, Rows, part_of
from tournament.api.v1.schemas import WITH_LADDERS, check_ladder
from tournament.views.bots import comparison
from tournament.views.bots.bots import find_bot
from tournament.views.bots.comparison import ComparedRow, EstimateRow
from tournament.views.bots.results import ResultRow, rated_of, result_rows, results_of

Number = Annotated[int | None, Meta(description="The number of a version; all without it.")]


class ResultsQuery(PageQuery, frozen=True, kw_only=True):
    """Which games."""

    ladder: Annotated[
        str,
        Meta(
            description="The code of a ladder; else that with the most games.", extra_json_schema=WITH_LADDERS
        ),
    ] = ""
    version: Number = None


class ComparisonQuery(PageQuery, frozen=True, kw_only=True):
    """Which games."""

    ladder: Annotated[
        str, Meta(description="The code of a ladder; all without it.", extra_json_schema=WITH_LADDERS)
    ] = ""
    version: Number = None
    opponent_version: Number = None


@operation("GET", "bots/<slug:slug>/results/", rows=ResultRow, query=ResultsQuery)
def bot_results(request: ApiRequest, slug: str, query: ResultsQuery) -> Rows:
    """The results of a bot on a ladder: all, and by opponent, colour, opening and forfeit."""
    check_ladder(query.ladder)
    bot = find_bot(request, slug)
    rated = rated_of(access.visible_versions_of(request.user, bot))
    found = results_of(request, bot, rated, all_opponents=True)
    return part_of(list(result_rows(request, found)) if found else [], query)


@operation("GET", "bots/<slug:slug>/against/<slug:other>/results/", rows=ComparedRow, query=ComparisonQuery)
def comparison_results(request: ApiRequest, slug: str, other: str, query: ComparisonQuery) -> Rows:
    """The rated games of a bot against another by ladder, with the Elo difference that they show."""
    check_ladder(query.ladder)
    asked = comparison.find_comparison(request, slug, other)
    return part_of(list(comparison.compared_rows(request, asked)), query)


@operation("GET", "bots/<slug:slug>/against/<slug:other>/estimates/", rows=EstimateRow, query=ComparisonQuery)
def comparison_estimates(request: ApiRequest, slug: str, other: str, query: ComparisonQuery) -> Rows:
    """The Elo difference of two bots by all games of the ladders on which both have played."""
    check_ladder(query.ladder)
    return part_of(list(comparison.estimate_rows(comparison.find_comparison(request, slug, other))), query)
