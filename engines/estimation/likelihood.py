"""The statistical model of the estimates: derivatives of its log posterior, its maximum, its covariance.

Strengths, then the advantage, the margin and the spread of the openings are one vector of parameters, in
logistic units. With d = white - black + advantage + u, White wins with probability L(d - margin), loses with
L(-d - margin), L the logistic function, and draws otherwise. u is the bias of the opening in favour of White:
normal with mean 0 and standard deviation ``spread``, equal in both games of a pair. It is integrated out by
Gauss and Hermite's rule, so that the likelihood of a pair is that of both games together. A model
without it finds differences too small: biased openings make results more even than the strengths are.

Sources: Rao and Kupper (1967) for draws; Davidson and Beaver (1977) for the first move; Louis (1982) for the
curvature of an integrated likelihood; White (1982) and Liang and Zeger (1986) for the covariance.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from engines.estimation.interpolation import Points, Vector, points_for
from engines.rules.base import Result

Numbers = NDArray[np.int64]

EXTRA = 3
"""Parameters after the strengths."""
ADVANTAGE, MARGIN, SPREAD = 0, 1, 2
"""Their order."""
_ADVANTAGE_PRIOR = 1.0
"""Standard deviation of the advantage's prior."""
_SPREAD_PRIOR = 0.6
"""The mode of the spread's prior, Rayleigh's distribution: keeps the spread above zero."""
_FIRST_MARGIN, _FIRST_SPREAD = 1.0, 0.4
"""Where the search for the maximum begins."""
_PRETENDED = ((Result.WHITE_WINS, 0.25), (Result.BLACK_WINS, 0.25), (Result.DRAW, 0.5))
"""A game between equals: keeps the margin finite and above zero for any results."""
_NODES = 9
_STEPS = 100
_HALVINGS = 40
_ENOUGH = 1e-9
_FEW = 10.0
"""Pairs of a player for which its own results and the model have equal weight in the covariance."""


@dataclass(frozen=True, slots=True)
class Cells:
    """Pairs of games with the same two results, or single games if ``second`` is None.

    ``one`` is White in the first game and Black in the second; both results are from White's side.
    """

    first: Result
    second: Result | None
    one: Numbers
    other: Numbers
    count: Vector

    @property
    def games(self) -> int:
        return int(self.count.sum()) * (1 if self.second is None else 2)


@dataclass(frozen=True, slots=True)
class Maximum:
    """The most probable parameters and their covariance."""

    parameters: Vector
    covariance: Vector


@dataclass(frozen=True, slots=True)
class _Game:
    """The derivatives of a game's log probability by d (x) and margin (m); curvatures are negated."""

    probability: Vector
    x: Vector
    m: Vector
    xx: Vector
    xm: Vector
    mm: Vector


@dataclass(frozen=True, slots=True)
class _Group:
    """Derivatives of a cell's log likelihood, by difference, advantage, margin and spread, at points."""

    points: Points
    """Their places are the differences of the cells' strengths, the weights the counts."""
    logarithm: Vector
    slope: Vector
    curvature: Vector


_NONE: Numbers = np.zeros(0, dtype=np.int64)


class Posterior:
    """The log posterior of ``count`` players' strengths; ``precision`` is that of their prior."""

    def __init__(self, count: int, groups: Sequence[Cells], precision: float) -> None:
        self.count = count
        self.size = count + EXTRA
        self.groups = groups
        self._one = np.concatenate([_NONE, *(cells.one for cells in groups)])
        self._other = np.concatenate([_NONE, *(cells.other for cells in groups)])
        self.is_paired = any(cells.second is not None for cells in groups)
        """Whether there are pairs. If not, the spread of the openings cannot be found: it is 0."""
        self.precision = np.zeros(self.size)
        self.precision[:count] = precision
        self.precision[count + ADVANTAGE] = 1.0 / _ADVANTAGE_PRIOR**2
        self.tolerance = _ENOUGH * max(1.0, sum(float(cells.count.sum()) for cells in groups))
        """The tolerance of the log posterior: interpolation may change it by 1e-10 for each game."""
        self.nodes, self.weights = _quadrature(_NODES if self.is_paired else 1)

    def maximize(self) -> Maximum:
        """Newton's method: steps are halved until they go uphill."""
        here = np.zeros(self.size)
        here[self.count + MARGIN] = _FIRST_MARGIN
        here[self.count + SPREAD] = _FIRST_SPREAD if self.is_paired else 0.0
        found = self._look(here)
        for _ in range(_STEPS):
            step = self._step(here, found)
            for _ in range(_HALVINGS):
                if self._is_allowed(here + step):
                    ahead = self._look(here + step)
                    if self._value(here + step, ahead) >= self._value(here, found) - self.tolerance:
                        here, found = here + step, ahead
                        break
                step = step / 2.0
            if float(np.abs(step).max()) < _ENOUGH:
                break
        return Maximum(here, self._covariance(here, found))

    def _is_allowed(self, parameters: Vector) -> bool:
        margin, spread = parameters[self.count + MARGIN], parameters[self.count + SPREAD]
        return bool(margin > 0.0 and (spread > 0.0 or not self.is_paired))

    def _look(self, parameters: Vector) -> list[_Group]:
        return [self._group(cells, parameters) for cells in self.groups]

    def _group(self, cells: Cells, parameters: Vector) -> _Group:
        """Integrate over the bias of the opening; arrays have a row per point and a column per node."""
        advantage, margin, spread = parameters[self.count :]
        points = points_for(parameters[cells.one] - parameters[cells.other], cells.count)
        gap = points.at[:, None]
        z = self.nodes[None, :]
        bias = advantage + spread * z
        first = _game(bias + gap, margin, cells.first)
        second = None if cells.second is None else _game(bias - gap, margin, cells.second)
        likelihood = first.probability * (1.0 if second is None else second.probability) * self.weights
        total = likelihood.sum(axis=1)
        shares = likelihood / total[:, None]
        slopes, curvatures = _joined(first, second, z)
        slope = np.array([(shares * one).sum(axis=1) for one in slopes])
        curvature = np.empty((len(slopes), len(slopes), len(total)))
        for (i, j), value in curvatures.items():
            # Louis: the expected curvature less the variance of the slope.
            inside = (shares * (value - slopes[i] * slopes[j])).sum(axis=1)
            curvature[i, j] = curvature[j, i] = inside + slope[i] * slope[j]
        return _Group(points, np.log(total), slope, curvature)

    def _value(self, parameters: Vector, groups: Sequence[_Group]) -> float:
        margin, spread = float(parameters[self.count + MARGIN]), float(parameters[self.count + SPREAD])
        value = sum(float(group.points.total(group.logarithm)) for group in groups)
        value -= float(self.precision @ (parameters * parameters)) / 2.0
        value += sum(weight * math.log(_equals(margin, result).probability) for result, weight in _PRETENDED)
        if self.is_paired:
            value += math.log(spread) - (spread / _SPREAD_PRIOR) ** 2 / 2.0
        return value

    def _derivatives(self, parameters: Vector, groups: Sequence[_Group]) -> tuple[Vector, Vector]:
        slope = -self.precision * parameters
        slope[: self.count] += self._by_player([(group.points, group.slope[0]) for group in groups])
        for group in groups:
            slope[self.count :] += group.points.total(group.slope[1:])
        margin, spread = self.count + MARGIN, self.count + SPREAD
        for result, weight in _PRETENDED:
            slope[margin] += weight * float(_equals(float(parameters[margin]), result).m)
        if self.is_paired:
            slope[spread] += 1.0 / parameters[spread] - parameters[spread] / _SPREAD_PRIOR**2
        else:
            slope[spread] = 0.0
        curvature = self._matrix([(group.points, group.curvature) for group in groups])
        np.fill_diagonal(curvature, curvature.diagonal() + self._prior(parameters))
        return slope, curvature

    def _prior(self, parameters: Vector) -> Vector:
        """The curvature of the priors and of the pretended game, which is diagonal."""
        curvature = self.precision.copy()
        margin, spread = self.count + MARGIN, self.count + SPREAD
        for result, weight in _PRETENDED:
            curvature[margin] += weight * float(_equals(float(parameters[margin]), result).mm)
        if self.is_paired:
            curvature[spread] += 1.0 / parameters[spread] ** 2 + 1.0 / _SPREAD_PRIOR**2
        return curvature

    def _step(self, parameters: Vector, groups: Sequence[_Group]) -> Vector:
        """Newton's step uphill; only the spread can make the curvature indefinite, and is then raised."""
        slope, curvature = self._derivatives(parameters, groups)
        spread = self.count + SPREAD
        if not self.is_paired:
            curvature[spread, spread] = 1.0
            return np.asarray(np.linalg.solve(curvature, slope), dtype=np.float64)
        unit = np.zeros(self.size)
        unit[spread] = 1.0
        step, column = np.linalg.solve(curvature, np.column_stack((slope, unit))).T
        # The rest of the matrix is positive definite. Then so is the whole if this number is positive.
        if column[spread] > 0.0:
            return np.asarray(step, dtype=np.float64)
        squares = sum(float(group.points.total(group.slope[3] ** 2)) for group in groups)
        curvature[spread, spread] = abs(curvature[spread, spread]) + squares + 1.0 / parameters[spread] ** 2
        curvature[spread, :spread] = curvature[:spread, spread] = 0.0
        return np.asarray(np.linalg.solve(curvature, slope), dtype=np.float64)

    def _covariance(self, parameters: Vector, groups: Sequence[_Group]) -> Vector:
        """The sandwich over pairs: it stays right if the results of a pair depend on each other.

        For a player with few pairs the products of slopes are unreliable. There the
        model's curvature takes their place, by degrees.
        """
        prior = self._prior(parameters)
        played = self._matrix([(group.points, group.curvature) for group in groups])
        products = [(group.points, group.slope[:, None, :] * group.slope[None, :, :]) for group in groups]
        count = np.concatenate([np.zeros(0), *(cells.count for cells in self.groups)])
        pairs = np.full(self.size, count.sum())
        pairs[: self.count] = np.bincount(self._one, count, self.count)
        pairs[: self.count] += np.bincount(self._other, count, self.count)
        trust = pairs / (pairs + _FEW)
        own, models = np.sqrt(trust), np.sqrt(1.0 - trust)
        middle = np.outer(own, own) * self._matrix(products) + np.outer(models, models) * played
        np.fill_diagonal(middle, middle.diagonal() + prior)
        whole = played
        np.fill_diagonal(whole, whole.diagonal() + prior)
        # Only differences of strengths count: this fixes their sum, which a weak prior leaves nearly free.
        whole[: self.count, : self.count] += 1.0
        if not self.is_paired:
            whole[self.count + SPREAD, self.count + SPREAD] = 1.0
        bread = np.linalg.inv(whole)
        covariance: Vector = bread @ middle @ bread
        return covariance

    def _by_player(self, parts: Sequence[tuple[Points, Vector]]) -> Vector:
        """Sums by player, of the values for the first and minus the values for the other player of a cell.

        ``parts`` has the values of a group at its points.
        """
        weighted = _weighted(parts)
        sums = np.bincount(self._one, weighted, self.count) - np.bincount(self._other, weighted, self.count)
        return np.asarray(sums, dtype=np.float64)

    def _matrix(self, parts: Sequence[tuple[Points, Vector]]) -> Vector:
        """The sum of the cells' small matrices (by difference, advantage, margin, spread) by parameter."""
        n = self.count
        matrix = np.zeros((self.size, self.size))
        strengths = matrix[:n, :n]
        meetings = _weighted([(points, small[0, 0]) for points, small in parts])
        square = np.bincount(self._one * n + self._other, meetings, n * n).reshape(n, n)
        strengths -= square
        strengths -= square.T
        np.fill_diagonal(strengths, -strengths.sum(axis=1))
        for extra in range(n, self.size):
            column = self._by_player([(points, small[0, 1 + extra - n]) for points, small in parts])
            matrix[:n, extra] = matrix[extra, :n] = column
        for points, small in parts:
            matrix[n:, n:] += points.total(small[1:, 1:])
        return matrix


def _weighted(parts: Sequence[tuple[Points, Vector]]) -> Vector:
    """Count times value for each cell of all groups, from the values at the groups' points."""
    return np.concatenate([np.zeros(0), *(points.weighted(values) for points, values in parts)])


def _quadrature(nodes: int) -> tuple[Vector, Vector]:
    """Points of the standard normal distribution, and their weights, which sum to 1."""
    points, weights = np.polynomial.hermite_e.hermegauss(nodes)
    return np.asarray(points), np.asarray(weights / weights.sum())


def _equals(margin: float, result: Result) -> _Game:
    """A game between equals without advantage."""
    return _game(np.zeros(()), margin, result)


def _game(x: Vector, margin: float, result: Result) -> _Game:
    """One result at each ``x``, the sum of what favours White."""
    lower, above_lower = _logistic(x - margin)
    upper, above_upper = _logistic(x + margin)
    low, high = lower * above_lower, upper * above_upper
    if result is Result.WHITE_WINS:
        return _Game(lower, above_lower, -above_lower, low, -low, low)
    if result is Result.BLACK_WINS:
        return _Game(above_upper, -upper, -upper, high, high, high)
    # L(x + m) - L(x - m) = (1 - exp(-2m)) L(m - x) L(m + x)
    growth = 2.0 / math.expm1(2.0 * margin)
    return _Game(
        -math.expm1(-2.0 * margin) * above_lower * upper,
        above_lower - upper,
        growth + lower + above_upper,
        low + high,
        high - low,
        growth * (growth + 2.0) + low + high,
    )


def _logistic(x: Vector) -> tuple[Vector, Vector]:
    """L(x) and 1 - L(x), both without loss of digits."""
    small = np.exp(-np.abs(x))
    large = 1.0 / (1.0 + small)
    small = small * large
    positive = x >= 0
    return np.where(positive, large, small), np.where(positive, small, large)


def _joined(
    first: _Game, second: _Game | None, z: Vector
) -> tuple[list[Vector], dict[tuple[int, int], Vector]]:
    """Slopes and curvatures of both games by difference, advantage, margin and spread.

    The difference counts against White in the second game; the spread acts through ``z``.
    """
    if second is None:
        zero = np.zeros(())
        second = _Game(zero, zero, zero, zero, zero, zero)
    x, xx, xm = first.x + second.x, first.xx + second.xx, first.xm + second.xm
    gap, against, mixed = first.x - second.x, first.xx - second.xx, first.xm - second.xm
    curvatures = {
        (0, 0): xx, (0, 1): against, (1, 1): xx, (0, 2): mixed, (1, 2): xm, (2, 2): first.mm + second.mm,
        (0, 3): z * against, (1, 3): z * xx, (2, 3): z * xm, (3, 3): z * z * xx,
    }  # fmt: skip
    return [gap, x, first.m + second.m, z * x], curvatures
