"""A sequential test (SPRT) of two engines over the pairs of a match, in the order of the schedule.

A pair counts only when all earlier pairs have counted. In the order of completion, short games would count
before long ones, and the verdict would depend on the number of slots.
"""

from __future__ import annotations

from collections.abc import Iterator

from workers.match.options.options import Sprt
from workers.statistics import Pentanomial, bounds, llr


class SequentialTest:
    """``order`` has the keys of all pairs in the order of the schedule."""

    def __init__(self, question: Sprt, order: Iterator[str]) -> None:
        self.question = question
        self.lower, self.upper = bounds(question.alpha, question.beta)
        self.ratio = 0.0
        """The log-likelihood ratio: the test accepts H1 (``elo1``) at ``upper``, H0 at ``lower``."""
        self._counts = [0] * 5
        self._order = order
        self._next = next(order, None)
        self._waiting: dict[str, int | None] = {}

    @property
    def counts(self) -> Pentanomial:
        """The pairs that have counted."""
        return Pentanomial(*self._counts)

    @property
    def is_decided(self) -> bool:
        return not self.lower < self.ratio < self.upper

    @property
    def verdict(self) -> str:
        """``H1`` or ``H0``; empty while the test is undecided."""
        if not self.is_decided:
            return ""
        return "H1" if self.ratio >= self.upper else "H0"

    def add(self, pair: str, half_points: int) -> None:
        """Add a played pair: the points of the first engine, 0 to 4 half points."""
        self._put(pair, half_points)

    def skip(self, pair: str) -> None:
        """Leave out a pair that will not be completed. May be repeated."""
        self._put(pair, None)

    def _put(self, pair: str, half_points: int | None) -> None:
        self._waiting.setdefault(pair, half_points)
        while self._next in self._waiting and not self.is_decided:
            points = self._waiting.pop(self._next)
            self._next = next(self._order, None)
            if points is not None:
                self._counts[points] += 1
                self.ratio = self._ratio()

    def _ratio(self) -> float:
        question = self.question
        return llr(self.counts, question.elo0, question.elo1, question.model)
