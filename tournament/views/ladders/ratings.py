"""Rows of the rating tables on pages."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from tournament.arithmetic.estimates import Strength
from tournament.models import LadderRating
from tournament.views.games.scores import ScoreRow, score_of_rating


@dataclass(frozen=True, slots=True)
class RatingRow:
    """A row of a rating table; ``place`` counts from 1."""

    place: int
    rating: LadderRating
    strength: Strength | None = None
    """The estimate that does not depend on the order of the games; None if it was not computed."""

    @property
    def uncertainty(self) -> float:
        """Three sigma: subtracted from the mean for the published number, and shown after ±."""
        return 3 * self.rating.sigma

    @property
    def results(self) -> ScoreRow:
        """The games that the rating comes from; reads the version's bot."""
        return score_of_rating(self.rating)


def rated_rows(
    ratings: Iterable[LadderRating], first: int = 1, strengths: Mapping[int, Strength] | None = None
) -> list[RatingRow]:
    """Rows for the ratings, numbered from ``first``; ``strengths`` by version."""
    known = strengths or {}
    return [
        RatingRow(place, rating, known.get(rating.version_id))
        for place, rating in enumerate(ratings, start=first)
    ]
