"""Statistics of a match between two engines: Elo, its error, likelihood of superiority, and the SPRT. Pure.

The games of a pair have the same opening and are not independent. So where pairs were played, count pairs
(``Pentanomial``), whose variance includes this dependence.

A cell without games counts as ``PRIOR`` of a game, as on fishtest, so that all numbers exist also for no
games, or for wins only.
"""

from __future__ import annotations

import enum
import math
import re
from collections.abc import Sequence
from dataclasses import astuple, dataclass
from typing import ClassVar

from engines.rules.base import quote

PRIOR = 1e-3
"""The games, or pairs, that an empty cell counts as.

The definitions have no such games: it moves the normalized Elo of 356 wins and 34 losses by 0.002.
"""
CONFIDENCE = 1.959963984540054
"""Half the width of a two-sided 95 % interval, in standard deviations."""
ELO = 400.0 / math.log(10.0)
"""One unit of the logistic scale, in Elo."""
NORMALIZED_ELO = 800.0 / math.log(10.0)
"""One standard deviation of a game's score above even, in normalized Elo."""
EXTREME_SCORE = 1e-3
"""Scores nearer than this to 0 or 1 count as this score, which is ±1199.8 Elo, as on fishtest."""

_COUNTS = re.compile(r"[0-9]{1,9}(?:,[0-9]{1,9}){2}(?:(?:,[0-9]{1,9}){2})?")


class StatisticsError(ValueError):
    """Invalid counts, hypotheses or error probabilities; the text is a sentence for the user."""


@dataclass(frozen=True, slots=True)
class Counts:
    """How many games, or pairs of games, had each score, from none to all of the points."""

    games_each: ClassVar[int]
    """The number of games in one count."""

    @property
    def cells(self) -> tuple[int, ...]:
        """The counts in the order of rising, equally spaced scores."""
        return astuple(self)

    @property
    def games(self) -> int:
        return self.games_each * sum(self.cells)


@dataclass(frozen=True, slots=True)
class Wdl(Counts):
    """Single games, by their result for the first engine."""

    losses: int = 0
    draws: int = 0
    wins: int = 0

    games_each: ClassVar[int] = 1


@dataclass(frozen=True, slots=True)
class Pentanomial(Counts):
    """Pairs of games, by both results; ``dd`` includes the pairs of a win and a loss."""

    ll: int = 0
    ld: int = 0
    dd: int = 0
    wd: int = 0
    ww: int = 0

    games_each: ClassVar[int] = 2


def parse_counts(text: str) -> Wdl | Pentanomial:
    """Parse ``L,D,W`` of games or ``LL,LD,DD,WD,WW`` of pairs; raises ``StatisticsError``."""
    if not _COUNTS.fullmatch(text):
        raise StatisticsError(
            f"cannot read the counts {quote(text)}: write L,D,W of games, or LL,LD,DD,WD,WW of pairs"
        )
    cells = [int(word) for word in text.split(",")]
    return Wdl(*cells) if len(cells) == 3 else Pentanomial(*cells)


# Elo


@dataclass(frozen=True, slots=True)
class EloEstimate:
    """The difference in strength of two engines; errors are half the width of a 95 % interval.

    ``elo`` is logistic. ``nelo`` is normalized by the standard deviation of one game's score, so it depends
    less on the openings and the number of draws. ``los``, the likelihood of superiority, is from 0 to 1.
    """

    elo: float
    error: float
    nelo: float
    nelo_error: float
    los: float


def estimate(counts: Counts) -> EloEstimate:
    """The Elo estimates of ``counts``; for pairs with the variance of pairs.

    The interval of ``elo`` is the normal approximation for the score, converted to Elo, as fishtest and
    fastchess publish it. Normalized Elo: Van den Bergh, "Normalized Elo" (cantate.be/Fishtest); its error
    treats the variance as known.
    """
    number, scores, shares = _sample(counts)
    mean, variance = moments(scores, shares)
    spread = math.sqrt(variance / number)
    per_game = math.sqrt(counts.games_each * variance)
    low, high = mean - CONFIDENCE * spread, mean + CONFIDENCE * spread
    return EloEstimate(
        elo=elo_of_score(mean),
        error=(elo_of_score(high) - elo_of_score(low)) / 2.0,
        nelo=(mean - 0.5) / per_game * NORMALIZED_ELO,
        nelo_error=CONFIDENCE * NORMALIZED_ELO / math.sqrt(counts.games_each * number),
        los=superiority((mean - 0.5) / spread),
    )


def elo_of_score(score: float) -> float:
    """The Elo difference with the expected ``score`` (of one game, 0 to 1); see ``EXTREME_SCORE``."""
    within = min(max(score, EXTREME_SCORE), 1.0 - EXTREME_SCORE)
    return ELO * math.log(within / (1.0 - within))


def score_of_elo(elo: float) -> float:
    """The expected score of an engine that is ``elo`` stronger, by the logistic curve."""
    return 1.0 / (1.0 + math.exp(-elo / ELO))


def superiority(deviations: float) -> float:
    """The probability of being stronger, for a normal estimate ``deviations`` above an even score."""
    return math.erfc(-deviations / math.sqrt(2.0)) / 2.0


# The sequential test


class Model(enum.StrEnum):
    """The scale on which the hypotheses of an SPRT are given."""

    LOGISTIC = "logistic"
    NORMALIZED = "normalized"


FARTHEST_ELO = {Model.LOGISTIC: 1000.0, Model.NORMALIZED: 200.0}
"""The limit of hypotheses; beyond it the fit of the normalized model does not always converge."""
_ROUNDS = 50
_CONVERGED = 1e-12


def bounds(alpha: float, beta: float) -> tuple[float, float]:
    """The bounds of an SPRT: it accepts H0 at or below the first, H1 at or above the second.

    ``alpha`` is the probability to accept H1 if H0 is true, ``beta`` to accept H0 if H1 is true. Wald,
    "Sequential Tests of Statistical Hypotheses" (1945). Raises ``StatisticsError`` unless both are above 0
    and their sum is below 1.
    """
    if not (alpha > 0.0 and beta > 0.0 and alpha + beta < 1.0):
        raise StatisticsError(f"alpha and beta must be above 0 and their sum below 1, not {alpha} and {beta}")
    return math.log(beta / (1.0 - alpha)), math.log((1.0 - beta) / alpha)


def llr(counts: Counts, elo0: float, elo1: float, model: Model) -> float:
    """The generalized log-likelihood ratio of ``elo1`` against ``elo0``; positive values favour ``elo1``.

    For each hypothesis the most likely distribution is computed exactly, not by an expansion: Van den Bergh,
    "Comments on Normalized Elo" (cantate.be/Fishtest), after Li, Liu and Ying, "Generalized Sequential
    Probability Ratio Test" (2014). Raises ``StatisticsError`` for hypotheses beyond ``FARTHEST_ELO``.
    """
    limit = FARTHEST_ELO[model]
    for elo in (elo0, elo1):
        if not abs(elo) <= limit:
            raise StatisticsError(
                f"a hypothesis of {elo} Elo is beyond {limit:g}, the limit of the {model} model"
            )
    number, scores, shares = _sample(counts)
    unit = math.sqrt(counts.games_each) / NORMALIZED_ELO

    def fitted(elo: float) -> list[float]:
        if model is Model.LOGISTIC:
            return _fit_mean(scores, shares, score_of_elo(elo))
        return _fit_deviations(scores, shares, elo * unit)

    logarithms = (math.log(one / null) for null, one in zip(fitted(elo0), fitted(elo1), strict=True))
    return number * sum(share * ratio for share, ratio in zip(shares, logarithms, strict=True))


def _fit_mean(scores: Sequence[float], shares: Sequence[float], mean: float) -> list[float]:
    """The most likely distribution with this mean (proposition 1.1 of the paper)."""
    return _tilted(shares, [score - mean for score in scores])


def _fit_deviations(scores: Sequence[float], shares: Sequence[float], deviations: float) -> list[float]:
    """The most likely distribution whose mean is ``deviations`` above 1/2 (section 4.1 of the paper).

    The condition is linearized at the last distribution, starting with the uniform one; this converges
    within a few rounds.
    """
    fitted = [1.0 / len(scores)] * len(scores)
    for _ in range(_ROUNDS):
        mean, variance = moments(scores, fitted)
        deviation = math.sqrt(variance)
        condition = [
            score - 0.5 - deviations * deviation / 2.0 * (1.0 + ((score - mean) / deviation) ** 2)
            for score in scores
        ]
        last, fitted = fitted, _tilted(shares, condition)
        if max(abs(new - old) for new, old in zip(fitted, last, strict=True)) < _CONVERGED:
            break
    return fitted


def _tilted(shares: Sequence[float], condition: Sequence[float]) -> list[float]:
    """The distribution most likely to give ``shares`` among those for which the mean of ``condition`` is 0.

    The condition must have values of both signs. The multiplier of the constraint is found by bisection,
    because its function is continuous and decreasing between the two poles.
    """
    low, high = -1.0 / max(condition), -1.0 / min(condition)
    while low < (weight := (low + high) / 2.0) < high:
        slope = sum(
            share * value / (1.0 + weight * value) for share, value in zip(shares, condition, strict=True)
        )
        low, high = (weight, high) if slope > 0.0 else (low, weight)
    return [share / (1.0 + weight * value) for share, value in zip(shares, condition, strict=True)]


def _sample(counts: Counts) -> tuple[float, list[float], list[float]]:
    """The total of the counts, the score of each cell (0 to 1), and the share of each cell."""
    return shares_of([cell or PRIOR for cell in counts.cells])


def shares_of(cells: Sequence[float]) -> tuple[float, list[float], list[float]]:
    """The total of the cells, the score of each cell (0 to 1), and the share of each cell."""
    number, most = sum(cells), len(cells) - 1
    return number, [place / most for place in range(len(cells))], [cell / number for cell in cells]


def moments(scores: Sequence[float], shares: Sequence[float]) -> tuple[float, float]:
    """The mean and the variance."""
    mean = sum(score * share for score, share in zip(scores, shares, strict=True))
    return mean, sum(share * (score - mean) ** 2 for score, share in zip(scores, shares, strict=True))
