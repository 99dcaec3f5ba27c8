"""How far openings that repeat widen the interval of the first move's advantage.

All games from one opening share its bias in favour of White: together they are a cluster, one observation.
Differences of strengths need none of this: the bias favours each player in one game of a pair.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from engines.arithmetic.intervals import student_limit
from engines.arithmetic.statistics import CONFIDENCE
from engines.estimation.likelihood import Cells
from engines.rules.base import Result

HALF_POINTS: Mapping[Result | None, int] = {
    Result.WHITE_WINS: 2,
    Result.DRAW: 1,
    Result.BLACK_WINS: 0,
    None: 0,
}
"""White's."""


class OpeningScore(NamedTuple):
    """White's score in all games from one opening."""

    games: int
    half_points: int


@dataclass(frozen=True, slots=True)
class Widening:
    """The error of the advantage, compared with that of pairs which are independent of each other."""

    factor: float
    """Infinite if the advantage is unknown."""
    games: int
    """The number of games that it was computed from."""

    @classmethod
    def of(cls, groups: Sequence[Cells], openings: Iterable[OpeningScore]) -> Widening:
        """``openings`` has no games from the start position, whose pairs are independent.

        The variance of White's score over openings is divided by that over pairs: Liang and Zeger (1986).
        Few openings are corrected for by G / (G - 1) and Student's t; its degrees of freedom are Kish's
        (1965) number of openings of equal size less 1, and Satterthwaite's (1946) if pairs are added. The
        factor is infinite if most games are from a single opening, whose bias is then not known apart, and
        otherwise 1 without a second one.
        """
        games = sum(cells.games for cells in groups)
        within = _over_pairs(groups)
        scores = list(openings)
        if len(scores) == 1 and 2 * scores[0].games > games:
            return cls(math.inf, games)
        if len(scores) < 2 or within == 0.0:
            return cls(1.0, games)
        opened = sum(score.games for score in scores)
        points = sum(score.half_points for score in scores)
        squares = sum((score.half_points * opened - points * score.games) ** 2 for score in scores)
        between = squares / opened**2 * len(scores) / (len(scores) - 1) / within
        variance = between + max(0.0, 1.0 - opened / games)
        if variance == 0.0:
            return cls(1.0, games)
        equal_sized = opened**2 / sum(score.games**2 for score in scores)
        freedom = max(1.0, (equal_sized - 1.0) * (variance / between) ** 2) if between else math.inf
        return cls(math.sqrt(variance) * student_limit(freedom) / CONFIDENCE, games)


def _over_pairs(groups: Sequence[Cells]) -> float:
    """The squared deviations of White's half points in all pairs and single games, from their mean."""
    rows = [
        (
            float(cells.count.sum()),
            HALF_POINTS[cells.first] + HALF_POINTS[cells.second],
            1 if cells.second is None else 2,
        )
        for cells in groups
    ]
    games = sum(count * size for count, _, size in rows)
    mean = sum(count * points for count, points, _ in rows) / max(games, 1.0)
    return sum(count * (points - mean * size) ** 2 for count, points, size in rows)
