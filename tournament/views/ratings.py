"""Ratings as pages show them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from tournament.models import LadderRating


@dataclass(frozen=True, slots=True)
class RatedRow:
    """A row of a rating table; ``place`` counts from 1."""

    place: int
    rating: LadderRating

    @property
    def doubt(self) -> float:
        """Three sigma: what is taken off the mean, and shown as ±."""
        return 3 * self.rating.sigma


def rated_rows(ratings: Iterable[LadderRating], first: int = 1) -> list[RatedRow]:
    return [RatedRow(place, rating) for place, rating in enumerate(ratings, start=first)]
