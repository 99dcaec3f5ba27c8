"""Rows of the ladders' tables."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from django.db import connection
from django.utils.safestring import SafeString

from tournament.arithmetic.estimates import Agreement
from tournament.models import LadderRating, RatingEvent
from tournament.views.ladders.drawings import RatingScale, draw_interval, draw_line, draw_results
from tournament.views.paging import MOST_PARTS

RECENT = 24
"""Rated games in a line of recent ratings."""


@dataclass(frozen=True, slots=True)
class DrawnRow:
    """A row of a ladder's table with its drawings."""

    rating: LadderRating
    agreement: Agreement | None
    """Beside the estimate that does not depend on the order of the games; None if there is none."""
    interval: SafeString
    recent: SafeString
    shares: SafeString


def drawn_rows(
    ladder: str, ratings: Collection[LadderRating], agreements: Mapping[int, Agreement]
) -> list[DrawnRow]:
    """Rows of one ladder with their drawings; ``agreements`` by version."""
    scale = RatingScale.of(ratings)
    recent = recent_ratings(ladder, [rating.version_id for rating in ratings])
    return [
        DrawnRow(
            rating,
            agreements.get(rating.version_id),
            draw_interval(rating, scale),
            draw_line(recent.get(rating.version_id, [])),
            draw_results(rating),
        )
        for rating in ratings
    ]


def recent_ratings(ladder: str, versions: Collection[int], count: int = RECENT) -> dict[int, list[float]]:
    """The published ratings of each version after its latest ``count`` games, the oldest first.

    Reads ``count`` rows of the index ``event_history`` for each version. In SQL, because PostgreSQL reads all
    events of the ladder for a query with a limit that depends on the version.
    """
    table = connection.ops.quote_name(RatingEvent._meta.db_table)
    part = (
        f"SELECT * FROM (SELECT sequence, version_id, mu_after, sigma_after FROM {table}"
        f" WHERE version_id = %s AND ladder_id = %s ORDER BY sequence DESC LIMIT {count:d}) AS part"
    )
    rows: list[tuple[int, int, float, float]] = []
    wanted = list(versions)
    with connection.cursor() as cursor:
        for start in range(0, len(wanted), MOST_PARTS):
            some = wanted[start : start + MOST_PARTS]
            parameters = [value for version in some for value in (version, ladder)]
            cursor.execute(" UNION ALL ".join([part] * len(some)), parameters)
            rows += cursor.fetchall()
    found: dict[int, list[float]] = {}
    for _, version, mu, sigma in sorted(rows):
        found.setdefault(version, []).append(mu - 3 * sigma)
    return found
