"""The overall table: how far each bot is above the mean of its ladders, in standard deviations.

Ratings of different games have no common scale, so they are never pooled: each ladder's ratings are first
standardised by their own mean and standard deviation.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from statistics import fmean, pstdev

LEAST_BOTS = 3
"""A ladder with fewer bots says too little about each of them: it is left out."""


@dataclass(frozen=True, slots=True)
class OverallScore:
    """A bot over all ladders."""

    bot: int
    score: float
    """The mean of ``by_ladder``."""
    by_ladder: dict[str, float]
    """Standard deviations above the mean of the ladder, of the ladders that it is rated on."""

    @property
    def coverage(self) -> int:
        """The number of ladders."""
        return len(self.by_ladder)


def overall_scores(ratings: Mapping[str, Mapping[int, float]]) -> list[OverallScore]:
    """Scores from ratings by ladder and bot; the best first, of equal ones that with more ladders."""
    found: dict[int, dict[str, float]] = {}
    for ladder, by_bot in ratings.items():
        spread = pstdev(by_bot.values()) if len(by_bot) >= LEAST_BOTS else 0.0
        if spread:
            middle = fmean(by_bot.values())
            for bot, rating in by_bot.items():
                found.setdefault(bot, {})[ladder] = (rating - middle) / spread
    scores = [OverallScore(bot, fmean(values.values()), values) for bot, values in found.items()]
    return sorted(scores, key=lambda one: (-one.score, -one.coverage, one.bot))
