"""A sequential test (SPRT) of two engines over pairs of games, in the order of the schedule. Pure.

A pair counts only when all earlier pairs have counted. In the order of completion, short games would count
before long ones, and the verdict would depend on the number of slots.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from engines.arithmetic.statistics import (
    FARTHEST_ELO,
    NORMALIZED_ELO,
    Model,
    Pentanomial,
    StatisticsError,
    bounds,
    llr,
)


@dataclass(frozen=True, slots=True)
class Sprt:
    """The hypotheses of a sequential test, and its error probabilities."""

    elo0: float
    elo1: float
    alpha: float = 0.05
    beta: float = 0.05
    model: Model = Model.NORMALIZED

    def check(self) -> None:
        """Raises ``StatisticsError``, a sentence for the user, if no test has these hypotheses and risks."""
        if not self.elo0 < self.elo1:
            raise StatisticsError(f"elo0 must be below elo1, not {self.elo0:g} and {self.elo1:g}")
        if max(abs(self.elo0), abs(self.elo1)) > FARTHEST_ELO[self.model]:
            raise StatisticsError(
                f"elo0 and elo1 must be at most {FARTHEST_ELO[self.model]:g} from 0 ({self.model} model)"
            )
        bounds(self.alpha, self.beta)

    def ratio(self, counts: Pentanomial) -> float:
        """The log-likelihood ratio of ``elo1`` against ``elo0``."""
        return llr(counts, self.elo0, self.elo1, self.model)

    def expected_games(self) -> float:
        """The mean number of games until the verdict if one of the hypotheses is true, roughly.

        Wald's approximation (1945): the bound that is reached on average, divided by the drift of the ratio.
        Only for the normalized model.
        """
        lower, upper = bounds(self.alpha, self.beta)
        reached = max(
            -((1.0 - self.alpha) * lower + self.alpha * upper), (1.0 - self.beta) * upper + self.beta * lower
        )
        return 2.0 * reached * (NORMALIZED_ELO / (self.elo1 - self.elo0)) ** 2


class SequentialTest:
    """``order`` has the keys of all pairs in the order of the schedule, after those in ``counts``."""

    def __init__(self, question: Sprt, order: Iterator[str], counts: Pentanomial | None = None) -> None:
        self.question = question
        self.lower, self.upper = bounds(question.alpha, question.beta)
        self._counts = list((counts or Pentanomial()).cells)
        self.ratio = question.ratio(self.counts) if any(self._counts) else 0.0
        """The log-likelihood ratio: the test accepts H1 (``elo1``) at ``upper``, H0 at ``lower``."""
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
                self.ratio = self.question.ratio(self.counts)
