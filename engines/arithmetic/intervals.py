"""Intervals of a difference in strength that also hold for few games. Pure.

``engines.arithmetic.statistics`` has the usual estimates, which assume many: after one won pair they are
certain.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from engines.arithmetic.statistics import Counts, elo_of_score, moments, shares_of, superiority

TAIL = 0.025
"""The probability on either side of a 95 % interval."""
JEFFREYS = 0.5
"""The games, or pairs, that Jeffreys' prior adds to each cell."""
LEAD_GAMES = 5.0
"""The even games that the prior of ``los`` adds, whether games or pairs are counted."""
_PRECISE = 1e-12
_MAX_TERMS = 10_000
_NEARLY_NORMAL = 2_000.0
_MAX_FREEDOM = 1e6


@dataclass(frozen=True, slots=True)
class EloInterval:
    """A 95 % interval of a difference in strength that also holds for few games, in logistic Elo.

    ``elo`` is that of the score; it is always within ``low`` and ``high``. ``los``, the likelihood of
    superiority, is from 0 to 1.
    """

    elo: float
    low: float
    high: float
    los: float


def interval(counts: Counts) -> EloInterval:
    """The interval of ``counts``: also one pair, or only equal pairs, leave the difference uncertain.

    It encloses the intervals of the posterior distributions for two priors: Jeffreys', which is cautious for
    even results, and the overall objective prior, which is for one-sided ones (Berger, Bernardo and Sun,
    "Overall Objective Priors", 2015). ``los`` has a prior of ``LEAD_GAMES``: with Jeffreys' prior two engines
    that are 200 Elo apart, give or take, seem surer after a few games than they are. Approaches ``estimate``
    for many games.
    """
    cells = len(counts.cells)
    ends = [
        _beta_quantile(*_posterior(counts, prior), share)
        for prior in (JEFFREYS, 1.0 / cells)
        for share in (TAIL, 1.0 - TAIL)
    ]
    lead = _posterior(counts, LEAD_GAMES / counts.games_each / cells)
    seen = moments(*shares_of(counts.cells)[1:])[0] if counts.games else 0.5
    return EloInterval(
        elo=elo_of_score(seen),
        low=elo_of_score(min(*ends, seen)),
        high=elo_of_score(max(*ends, seen)),
        los=1.0 - _beta_share(*lead, 0.5),
    )


def _posterior(counts: Counts, prior: float) -> tuple[float, float]:
    """The parameters of a beta distribution for the score, if ``prior`` is added to each cell.

    It has the mean and the variance of the posterior distribution, which is a beta distribution only if there
    are two cells.
    """
    number, scores, shares = shares_of([cell + prior for cell in counts.cells])
    mean, variance = moments(scores, shares)
    size = mean * (1.0 - mean) * (number + 1.0) / variance - 1.0
    return mean * size, (1.0 - mean) * size


def student_limit(freedom: float) -> float:
    """The 95 % limit of Student's distribution: what the absolute value exceeds with probability 5 %."""
    freedom = min(freedom, _MAX_FREEDOM)
    share = _beta_quantile(freedom / 2.0, 0.5, 2.0 * TAIL)
    return math.sqrt(freedom * (1.0 - share) / share)


def _beta_quantile(a: float, b: float, share: float) -> float:
    """The value below which a beta distribution has ``share``; by bisection."""
    low, high = 0.0, 1.0
    while low < (middle := (low + high) / 2.0) < high and high - low > _PRECISE:
        low, high = (middle, high) if _beta_share(a, b, middle) < share else (low, middle)
    return middle


def _beta_share(a: float, b: float, value: float) -> float:
    """The share of a beta distribution below ``value``; the normal one is used where they hardly differ."""
    if min(a, b) > _NEARLY_NORMAL:
        mean = a / (a + b)
        return superiority((value - mean) / math.sqrt(mean * (1.0 - mean) / (a + b + 1.0)))
    if value > (a + 1.0) / (a + b + 2.0):  # there the continued fraction converges slowly
        return 1.0 - _beta_share(b, a, 1.0 - value)
    if value <= 0.0:
        return 0.0
    logarithm = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b)
    logarithm += a * math.log(value) + b * math.log1p(-value)
    return math.exp(logarithm) / (a * _beta_fraction(a, b, value))


def _beta_fraction(a: float, b: float, value: float) -> float:
    """The continued fraction of the incomplete beta function (DLMF 8.17.22), by Lentz's method."""
    found, c, d = 1.0, 1.0, 0.0
    for number in range(1, _MAX_TERMS):
        m = number // 2
        if number % 2:
            term = -(a + m) * (a + b + m) * value / ((a + 2 * m) * (a + 2 * m + 1))
        else:
            term = m * (b - m) * value / ((a + 2 * m - 1) * (a + 2 * m))
        d = 1.0 / (1.0 + term * d)
        c = 1.0 + term / c
        found *= c * d
        if abs(c * d - 1.0) < _PRECISE:
            break
    return found
