"""The small drawings in the rows of a ladder, as SVG without colours: their classes are in the style sheet.

Each has a text for screen readers and as a tooltip. They are written as text, because a page has 300 and
``svg.elements`` takes three times as long. They have only numbers, and texts of this module.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from django.utils.safestring import SafeString, mark_safe

from engines import svg
from engines.rules.registry import find_game
from engines.svg.elements import number, polyline
from tournament.models import LadderRating

BAR_WIDTH, BAR_HEIGHT = 110.0, 16.0
CURVE_WIDTH, CURVE_HEIGHT = 84.0, 18.0
RESULTS_WIDTH, RESULTS_HEIGHT = 90.0, 5.0
EDGE = 4.0
"""Space for the marks at the ends of a drawing."""
FLATTEST = 2.0
"""The least range of a line of ratings: smaller changes are drawn flat instead of enlarged."""


@dataclass(frozen=True, slots=True)
class RatingScale:
    """The ratings at the left and the right end of every interval of a page."""

    low: float
    high: float

    @classmethod
    def of(cls, ratings: Iterable[LadderRating]) -> RatingScale:
        """From the lowest to the highest end of any interval; some scale if there are no ratings."""
        ends = [end for rating in ratings for end in _interval(rating)]
        return cls(min(ends, default=0.0), max(ends, default=1.0))

    def x(self, rating: float) -> float:
        share = (rating - self.low) / (self.high - self.low or 1.0)
        return EDGE + share * (BAR_WIDTH - 2 * EDGE)


def draw_interval(rating: LadderRating, scale: RatingScale) -> SafeString:
    """A bar from mu - 3 sigma, the published number, to mu + 3 sigma, with a dot at mu."""
    low, high = _interval(rating)
    left, right, middle = scale.x(low), scale.x(high), BAR_HEIGHT / 2
    parts = (
        f'<path class="track" d="M0 {middle:g}L{BAR_WIDTH:g} {middle:g}"/>'
        f'<rect class="span" x="{number(left)}" y="{middle - 3:g}" width="{number(right - left)}" height="6" '
        f'rx="3"/><rect class="end" x="{number(left - 1)}" y="{middle - 6:g}" width="2.5" height="12"/>'
        f'<circle class="mean" cx="{number(scale.x(rating.mu))}" cy="{middle:g}" r="3"/>'
    )
    spoken = f"between {low:.1f} and {high:.1f}, mean {rating.mu:.1f}"
    return _drawing("interval", spoken, BAR_WIDTH, BAR_HEIGHT, parts)


def draw_curve(ratings: Sequence[float]) -> SafeString:
    """The published ratings after the latest games, the oldest first; empty for fewer than two."""
    if len(ratings) < 2:
        return SafeString()
    low, high = min(ratings), max(ratings)
    spread = max(high - low, FLATTEST)
    base = (low + high - spread) / 2
    wide, tall = CURVE_WIDTH - 2 * EDGE, CURVE_HEIGHT - 2 * EDGE
    spots = [
        (EDGE + wide * at / (len(ratings) - 1), CURVE_HEIGHT - EDGE - tall * (rating - base) / spread)
        for at, rating in enumerate(ratings)
    ]
    x, y = spots[-1]
    parts = (
        f'<path class="line" d="{polyline(spots)}"/>'
        f'<circle class="mean" cx="{number(x)}" cy="{number(y)}" r="2.5"/>'
    )
    spoken = f"from {ratings[0]:.1f} to {ratings[-1]:.1f} in the last {len(ratings)} rated games"
    return _drawing("recent", spoken, CURVE_WIDTH, CURVE_HEIGHT, parts)


def draw_results(counts: Mapping[str, int]) -> SafeString:
    """The shares of results by their CSS class; hidden from screen readers, which read the numbers."""
    total = max(1, sum(counts.values()))
    parts, x = "", 0.0
    for kind, count in counts.items():
        width = RESULTS_WIDTH * count / total
        if count:
            parts += (
                f'<rect class="{kind}" x="{number(x)}" y="0" width="{number(width)}" '
                f'height="{RESULTS_HEIGHT:g}"/>'
            )
        x += width
    return _svg("results", RESULTS_WIDTH, RESULTS_HEIGHT, 'aria-hidden="true"', parts)


def _interval(rating: LadderRating) -> tuple[float, float]:
    return rating.mu - 3 * rating.sigma, rating.mu + 3 * rating.sigma


def _drawing(kind: str, spoken: str, width: float, height: float, parts: str) -> SafeString:
    named = f"<title>{spoken}</title>{parts}"
    return _svg(kind, width, height, f'role="img" aria-label="{spoken}"', named)


def _svg(kind: str, width: float, height: float, attributes: str, parts: str) -> SafeString:
    size = f'viewBox="0 0 {width:g} {height:g}" width="{width:g}" height="{height:g}"'
    return mark_safe(f'<svg class="bar {kind}" {size} {attributes}>{parts}</svg>')  # safe, see above


@cache
def draw_picture(code: str) -> SafeString:
    """The picture of a registered game, for its cards: a position of the first moves."""
    return mark_safe(svg.draw_small(find_game(code).pictured()))
