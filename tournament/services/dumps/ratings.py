"""The ratings of a ladder after one of its games."""

from __future__ import annotations

from collections.abc import Generator

import msgspec
from msgspec.structs import astuple

from tournament.models import LadderRating, RatingEvent
from tournament.rows.fields import csv_text

VERSIONS = 20
"""Versions between two pauses."""


class PastRatingRow(msgspec.Struct, frozen=True):
    """The rating of a version, without what tables compute of it."""

    bot: str
    version: int
    rating: float
    mu: float
    sigma: float
    games: int
    slug: str


def ratings_text(code: str, last: int) -> Generator[None, None, str]:
    """The ratings after the game with this completion sequence, the best first, as CSV; pauses.

    They are those of the stored events, in which annulled games do not count.
    """
    rows = []
    columns = ("version", "version__bot__name", "version__number", "version__bot__slug")
    versions = LadderRating.objects.filter(ladder=code).values_list(*columns)
    for number, (pk, bot, version, slug) in enumerate(list(versions)):
        events = RatingEvent.objects.filter(ladder=code, version=pk, sequence__lte=last)
        if (newest := events.order_by("-sequence").first()) is not None:
            after = newest.after
            values = (after.conservative, after.mu, after.sigma, events.count())
            rows.append(PastRatingRow(bot, version, *values, slug))
        if number % VERSIONS == 0:
            yield
    rows.sort(key=lambda row: (-row.rating, row.bot, row.version))
    return csv_text([PastRatingRow.__struct_fields__, *map(astuple, rows)])
