"""A sequential test of two engines over the pairs of a match, in the order of the schedule.

In the order of completion quick games would count before slow ones, and the verdict would depend on
how many are played at a time. So a pair counts when all before it have.
"""

from __future__ import annotations

from collections.abc import Iterator

from workers.match.options.options import Sprt
from workers.statistics import Pentanomial, bounds, llr


class SequentialTest:
    """``order`` are the keys of all pairs as they are planned."""

    def __init__(self, question: Sprt, order: Iterator[str]) -> None:
        self.question = question
        self.lower, self.upper = bounds(question.alpha, question.beta)
        self.ratio = 0.0
        """The log-likelihood ratio so far: at ``upper`` it is ``elo1`` (H1), at ``lower`` ``elo0`` (H0)."""
        self._counts = [0] * 5
        self._order = order
        self._next = next(order, None)
        self._waiting: dict[str, int | None] = {}

    @property
    def counts(self) -> Pentanomial:
        """The pairs that count so far."""
        return Pentanomial(*self._counts)

    @property
    def is_decided(self) -> bool:
        return not self.lower < self.ratio < self.upper

    @property
    def verdict(self) -> str:
        """``H1`` or ``H0``, or nothing while it is open."""
        if not self.is_decided:
            return ""
        return "H1" if self.ratio >= self.upper else "H0"

    def add(self, pair: str, half_points: int) -> None:
        """A pair has been played: the points, 0 to 4, of the first engine."""
        self._put(pair, half_points)

    def skip(self, pair: str) -> None:
        """A pair will not be played to its end; may be repeated."""
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
