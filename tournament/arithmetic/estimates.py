"""Strengths with error bars, estimated from all games at once: Bradley-Terry with draws, as Elo.

TrueSkill's numbers depend on the order of the games, and its sigma is no error bar. This estimate
is shown beside them: independent of order, with the covariance of its normal approximation.

The model is the ordered logit (Rao and Kupper 1967, with a first-move advantage): with the difference of
strengths d = white - black + advantage, White wins with probability L(d - margin), loses with L(-d - margin),
L the logistic function, and draws otherwise. Strengths have a normal prior; advantage and margin have a
weak one, equal to one game between equals. Newton's method finds the maximum; it is unique, because the
negative log posterior is convex.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from operator import mul

from engines.rules.base import Result
from tournament.arithmetic.standings import Tally
from workers.statistics import CONFIDENCE, ELO, superiority

PRIOR_ELO = 420.0
"""Standard deviation of the strengths' prior: that of TrueSkill's (twice its beta) on this scale."""
_STEPS = 100
_ENOUGH = 1e-10
_ADVANTAGE_PRIOR = 1.0
"""Standard deviation of the advantage's prior, in logistic units."""
_PRETENDED = ((Result.WHITE_WINS, 0.25), (Result.BLACK_WINS, 0.25), (Result.DRAW, 0.5))
"""A game between equals: keeps the margin finite and above zero for any results."""

Matrix = list[list[float]]


@dataclass(frozen=True, slots=True)
class Strength:
    """A player's estimate: Elo above the mean of the pool, plus or minus ``error`` (95 %)."""

    elo: float
    error: float


@dataclass(frozen=True, slots=True)
class Estimate:
    """All estimates from one pool of games."""

    strengths: dict[int, Strength]
    """By player; includes players without games."""
    advantage: Strength
    """White's advantage, in Elo."""
    margin: float
    """In Elo; equals draw with probability tanh(margin / 2) on the logistic scale."""
    _places: dict[int, int]
    _theta: tuple[float, ...]
    _covariance: tuple[tuple[float, ...], ...]

    def difference(self, one: int, other: int) -> Strength:
        """How much stronger ``one`` is than ``other``.

        After many meetings its error is smaller than that of either strength alone.
        """
        i, j = self._places[one], self._places[other]
        spread = self._covariance[i][i] + self._covariance[j][j] - 2.0 * self._covariance[i][j]
        return _strength(self._theta[i] - self._theta[j], spread)

    def superiority(self, one: int, other: int) -> float:
        """The probability that ``one`` is the stronger, from 0 to 1."""
        gap = self.difference(one, other)
        deviations = gap.elo * CONFIDENCE / gap.error if gap.error else 0.0
        return superiority(deviations)


def estimate(players: Sequence[int], tallies: Iterable[Tally], *, prior_elo: float = PRIOR_ELO) -> Estimate:
    """The most probable strengths of ``players``; games of other players or without a result are left out.

    The order and the grouping of games do not matter. Cost: the cube of the number of players.
    """
    places = {player: place for place, player in enumerate(players)}
    count = len(places)
    games = [
        (places[t.white], places[t.black], t.result, float(t.count))
        for t in _grouped(tallies)
        if t.white in places and t.black in places and t.white != t.black
    ]
    theta = [0.0] * (count + 1) + [math.log(3.0)]
    system = _System(count, games, (ELO / prior_elo) ** 2)
    covariance = system.solve(theta)
    strengths = {player: _centred(theta, covariance, place, count) for player, place in places.items()}
    advantage = _strength(theta[count], covariance[count][count])
    return Estimate(
        strengths,
        advantage,
        theta[count + 1] * ELO,
        places,
        tuple(theta),
        tuple(tuple(row) for row in covariance),
    )


def _grouped(tallies: Iterable[Tally]) -> list[Tally]:
    """Merge equal tallies and sort them, so that sums are the same to the bit for any order of games."""
    counts: dict[tuple[int, int, Result], int] = {}
    for t in tallies:
        if t.result is not Result.UNDECIDED:
            counts[t.white, t.black, t.result] = counts.get((t.white, t.black, t.result), 0) + t.count
    return [Tally(*key, count) for key, count in sorted(counts.items())]


class _System:
    """The log posterior's slope and curvature: players' strengths, then the advantage, then the margin."""

    def __init__(self, count: int, games: list[tuple[int, int, Result, float]], precision: float) -> None:
        self.count = count
        self.games = games
        self.precision = [precision] * count + [1.0 / _ADVANTAGE_PRIOR**2, 0.0]

    def solve(self, theta: list[float]) -> Matrix:
        """Move ``theta`` to the maximum; returns the inverse of the curvature there, the covariance."""
        for _ in range(_STEPS):
            slope, curvature = self._derivatives(theta)
            factor = _cholesky(curvature)
            step = _substitute(factor, slope)
            self._advance(theta, step)
            if max(map(abs, step)) < _ENOUGH:
                break
        return _inverse(_cholesky(self._derivatives(theta)[1]))

    def _advance(self, theta: list[float], step: list[float]) -> None:
        """Take the longest of the step, its half, its quarter… that goes uphill with a margin above zero."""
        here, size = self._posterior(theta), 1.0
        for _ in range(60):
            moved = [value + size * change for value, change in zip(theta, step, strict=True)]
            if moved[-1] > 0 and self._posterior(moved) >= here:
                theta[:] = moved
                return
            size /= 2.0

    def _posterior(self, theta: list[float]) -> float:
        margin = theta[-1]
        prior = sum(p * value * value for p, value in zip(self.precision, theta, strict=True)) / 2.0
        pretended = sum(weight * _log_probability(0.0, margin, result) for result, weight in _PRETENDED)
        played = sum(
            weight * _log_probability(theta[white] - theta[black] + theta[self.count], margin, result)
            for white, black, result, weight in self.games
        )
        return played + pretended - prior

    def _derivatives(self, theta: list[float]) -> tuple[list[float], Matrix]:
        size, advantage, margin = len(theta), self.count, len(theta) - 1
        slope = [-p * value for p, value in zip(self.precision, theta, strict=True)]
        curvature = [[0.0] * size for _ in range(size)]
        for place, p in enumerate(self.precision):
            curvature[place][place] = p
        for result, weight in _PRETENDED:
            _, by_margin, _, _, curve = _parts(0.0, theta[margin], result)
            slope[margin] += weight * by_margin
            curvature[margin][margin] += weight * curve
        for white, black, result, weight in self.games:
            d = theta[white] - theta[black] + theta[advantage]
            by_d, by_margin, dd, dm, mm = _parts(d, theta[margin], result)
            involved = ((white, 1.0), (black, -1.0), (advantage, 1.0))
            for i, sign in involved:
                slope[i] += weight * sign * by_d
                for j, other in involved:
                    curvature[i][j] += weight * sign * other * dd
                curvature[i][margin] += weight * sign * dm
                curvature[margin][i] += weight * sign * dm
            slope[margin] += weight * by_margin
            curvature[margin][margin] += weight * mm
        return slope, curvature


def _logistic(x: float) -> float:
    return 1.0 / (1.0 + math.exp(-x)) if x >= 0 else math.exp(x) / (1.0 + math.exp(x))


def _log_logistic(x: float) -> float:
    return -math.log1p(math.exp(-x)) if x >= 0 else x - math.log1p(math.exp(x))


def _log_probability(d: float, margin: float, result: Result) -> float:
    if result is Result.WHITE_WINS:
        return _log_logistic(d - margin)
    if result is Result.BLACK_WINS:
        return _log_logistic(-d - margin)
    # L(m - d) - L(-m - d) = (1 - exp(-2m)) L(m - d) L(m + d)
    return math.log(-math.expm1(-2.0 * margin)) + _log_logistic(margin - d) + _log_logistic(margin + d)


def _parts(d: float, margin: float, result: Result) -> tuple[float, float, float, float, float]:
    """Of one game's log probability: the slope by d and by margin, then minus the curvature dd, dm, mm."""
    if result is not Result.DRAW:
        sign = 1.0 if result is Result.WHITE_WINS else -1.0
        p = _logistic(sign * d - margin)
        curve = p * (1.0 - p)
        return sign * (1.0 - p), p - 1.0, curve, -sign * curve, curve
    p, q = _logistic(margin - d), _logistic(margin + d)
    growth = 2.0 / math.expm1(2.0 * margin)
    curve_p, curve_q = p * (1.0 - p), q * (1.0 - q)
    return (
        p - q,
        growth + (1.0 - p) + (1.0 - q),
        curve_p + curve_q,
        curve_q - curve_p,
        growth * (growth + 2.0) + curve_p + curve_q,
    )


def _strength(value: float, variance: float) -> Strength:
    return Strength(value * ELO, CONFIDENCE * math.sqrt(max(variance, 0.0)) * ELO)


def _centred(theta: list[float], covariance: Matrix, place: int, count: int) -> Strength:
    """One player's strength above the mean of all."""
    mean = sum(theta[:count]) / count
    with_mean = sum(covariance[place][:count]) / count
    of_mean = sum(sum(row[:count]) for row in covariance[:count]) / (count * count)
    return _strength(theta[place] - mean, covariance[place][place] - 2.0 * with_mean + of_mean)


# Symmetric positive definite matrices


def _cholesky(matrix: Matrix) -> Matrix:
    """The Cholesky factor: a lower triangle that times its transpose is ``matrix``."""
    factor: Matrix = []
    for i, given in enumerate(matrix):
        row: list[float] = []
        for j in range(i):
            row.append((given[j] - sum(map(mul, row, factor[j]))) / factor[j][j])
        row.append(math.sqrt(given[i] - sum(map(mul, row, row))))
        factor.append(row)
    return factor


def _substitute(factor: Matrix, right: Sequence[float]) -> list[float]:
    """Solve the linear system for which the Cholesky factor is given."""
    forward: list[float] = []
    for row, value in zip(factor, right, strict=True):
        forward.append((value - sum(map(mul, row, forward))) / row[-1])
    size = len(factor)
    solution = [0.0] * size
    for i in reversed(range(size)):
        later = sum(factor[j][i] * solution[j] for j in range(i + 1, size))
        solution[i] = (forward[i] - later) / factor[i][i]
    return solution


def _inverse(factor: Matrix) -> Matrix:
    size = len(factor)
    return [_substitute(factor, [float(i == j) for j in range(size)]) for i in range(size)]
