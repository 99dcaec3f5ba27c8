"""The small drawings in the rows of a ladder, as SVG without colours: their classes are in the style sheet.

Each has a text for screen readers and as a tooltip.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache

from django.utils.safestring import SafeString, mark_safe

from engines import svg
from engines.rules.registry import find_game
from engines.svg.elements import circle, element, polyline
from tournament.models import LadderRating

BAR_WIDTH, BAR_HEIGHT = 110.0, 16.0
LINE_WIDTH, LINE_HEIGHT = 84.0, 18.0
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
        element("path", kind="track", d=polyline([(0, middle), (BAR_WIDTH, middle)])),
        element("rect", kind="span", x=left, y=middle - 3, width=right - left, height=6, rx=3),
        element("rect", kind="end", x=left - 1, y=middle - 6, width=2.5, height=12),
        circle(scale.x(rating.mu), middle, 3, "mean"),
    )
    spoken = f"between {low:.1f} and {high:.1f}, mean {rating.mu:.1f}"
    return _drawing("interval", spoken, BAR_WIDTH, BAR_HEIGHT, parts)


def draw_line(ratings: Sequence[float]) -> SafeString:
    """The published ratings after the latest games, the oldest first; empty for fewer than two."""
    if len(ratings) < 2:
        return SafeString()
    low, high = min(ratings), max(ratings)
    spread = max(high - low, FLATTEST)
    base = (low + high - spread) / 2
    wide, tall = LINE_WIDTH - 2 * EDGE, LINE_HEIGHT - 2 * EDGE
    spots = [
        (EDGE + wide * at / (len(ratings) - 1), LINE_HEIGHT - EDGE - tall * (rating - base) / spread)
        for at, rating in enumerate(ratings)
    ]
    parts = (element("path", kind="line", d=polyline(spots)), circle(*spots[-1], 2.5, "mean"))
    spoken = f"from {ratings[0]:.1f} to {ratings[-1]:.1f} in the last {len(ratings)} rated games"
    return _drawing("recent", spoken, LINE_WIDTH, LINE_HEIGHT, parts)


def draw_results(rating: LadderRating) -> SafeString:
    """The shares of won, drawn and lost games; hidden from screen readers, which read the numbers."""
    total = max(1, rating.wins + rating.draws + rating.losses)
    parts, x = [], 0.0
    for kind, count in (("won", rating.wins), ("drawn", rating.draws), ("lost", rating.losses)):
        width = RESULTS_WIDTH * count / total
        if count:
            parts.append(element("rect", kind=kind, x=x, y=0, width=width, height=RESULTS_HEIGHT))
        x += width
    return _svg("results", RESULTS_WIDTH, RESULTS_HEIGHT, parts, **{"aria-hidden": "true"})


def _interval(rating: LadderRating) -> tuple[float, float]:
    return rating.mu - 3 * rating.sigma, rating.mu + 3 * rating.sigma


def _drawing(kind: str, spoken: str, width: float, height: float, parts: Iterable[str]) -> SafeString:
    named = (element("title", spoken), *parts)  # without markup: it has only numbers
    return _svg(kind, width, height, named, role="img", **{"aria-label": spoken})


def _svg(kind: str, width: float, height: float, parts: Iterable[str], **attributes: str) -> SafeString:
    drawn = element(
        "svg",
        *parts,
        kind=f"bar {kind}",
        viewBox=f"0 0 {width:g} {height:g}",
        width=width,
        height=height,
        **attributes,
    )
    return mark_safe(drawn)  # safe: numbers, and texts of this module


@cache
def start_board(code: str) -> SafeString:
    """The initial position of a registered game."""
    return mark_safe(svg.draw(find_game(code).position.initial(), players=False))
