"""Ladders and their ratings as rows: what files and the API have of each."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from engines.estimation.estimates import Strength
from tournament.models import LadderRating
from tournament.rows.fields import Address, Moment, as_text
from tournament.services.results.estimates import ladder_estimate
from tournament.views.links import address_of


class RatingRow(msgspec.Struct, frozen=True):
    """The rating of a version on a ladder."""

    place: Annotated[
        int | None, Meta(description="Null if provisional, not the best version of its bot, or retired.")
    ]
    last_game: Annotated[Moment | None, Meta(description="Of a version that no longer plays: its last one.")]
    bot: str
    version: int
    licence: Annotated[str, Meta(description="Of a published version; else empty.")]
    rating: Annotated[float, Meta(description="mu - 3 sigma, the published number.")]
    elo: Annotated[float | None, Meta(description="Estimated from all games in any order.")]
    elo_error: Annotated[float | None, Meta(description="Half of the 95 % interval of `elo`.")]
    games: int
    wins: int
    draws: int
    losses: int
    mu: float
    sigma: float
    owner: Annotated[str | None, Meta(description="Null for the site's samples.")]
    page: Address
    slug: str


_READ = (
    "pk", "version", "version__bot__name", "version__bot__slug", "version__number", "version__licence",
    "conservative", "games", "wins", "draws", "losses", "mu", "sigma", "version__bot__owner__username",
)  # fmt: skip
"""As values: thousands of objects would take three times as long."""


def rating_rows(origin: str, code: str) -> Iterator[RatingRow]:
    """All ratings of a ladder, the best first; ``origin`` as in ``exports.origin_of``."""
    estimate = ladder_estimate(code)
    strengths = estimate.strengths if estimate else {}
    last_games = LadderRating.objects.last_games(code)
    found = {row["pk"]: row for row in LadderRating.objects.filter(ladder=code).values(*_READ)}
    for pk, place in LadderRating.objects.places(code):
        if values := found.get(pk):
            last_game = as_text(last_games.get(pk))
            yield _rating_row(origin, values, place, last_game, strengths.get(values["version"]))


def _rating_row(
    origin: str, values: dict[str, Any], place: int | None, last_game: str | None, strength: Strength | None
) -> RatingRow:
    slug, number = values["version__bot__slug"], values["version__number"]
    return RatingRow(
        place,
        last_game,
        values["version__bot__name"],
        number,
        values["version__licence"],
        values["conservative"],
        strength.elo if strength else None,
        strength.error if strength else None,
        values["games"],
        values["wins"],
        values["draws"],
        values["losses"],
        values["mu"],
        values["sigma"],
        values["version__bot__owner__username"],
        origin + address_of("version", slug, number),
        slug,
    )
