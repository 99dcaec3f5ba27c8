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
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from engines.rules.base import Result

Vector = NDArray[np.float64]
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
    """Derivatives of the log likelihood of each cell, by difference, advantage, margin and spread."""

    cells: Cells
    logarithm: Vector
    slope: Vector
    curvature: Vector


class Posterior:
    """The log posterior of ``count`` players' strengths; ``precision`` is that of their prior."""

    def __init__(self, count: int, groups: Sequence[Cells], precision: float) -> None:
        self.count = count
        self.size = count + EXTRA
        self.groups = groups
        self.is_paired = any(cells.second is not None for cells in groups)
        """Without pairs the spread of the openings cannot be found: it is 0."""
        self.precision = np.zeros(self.size)
        self.precision[:count] = precision
        self.precision[count + ADVANTAGE] = 1.0 / _ADVANTAGE_PRIOR**2
        self.nodes, self.weights = _quadrature(_NODES if self.is_paired else 1)

    def maximize(self) -> Maximum:
        """Newton's method: steps are halved until they go uphill."""
        here = np.zeros(self.size)
        here[self.count + MARGIN] = _FIRST_MARGIN
        here[self.count + SPREAD] = _FIRST_SPREAD if self.is_paired else 0.0
        found = self._look(here)
        for _ in range(_STEPS):
            slope, curvature = self._derivatives(here, found)
            step = np.linalg.solve(self._uphill(curvature, here, found), slope)
            for _ in range(_HALVINGS):
                if self._is_allowed(here + step):
                    ahead = self._look(here + step)
                    if self._value(here + step, ahead) >= self._value(here, found) - _ENOUGH:
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
        """Integrate over the bias of the opening; arrays have a row per cell and a column per node."""
        advantage, margin, spread = parameters[self.count :]
        gap = (parameters[cells.one] - parameters[cells.other])[:, None]
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
        return _Group(cells, np.log(total), slope, curvature)

    def _value(self, parameters: Vector, groups: Sequence[_Group]) -> float:
        margin, spread = float(parameters[self.count + MARGIN]), float(parameters[self.count + SPREAD])
        value = sum(float(group.cells.count @ group.logarithm) for group in groups)
        value -= float(self.precision @ (parameters * parameters)) / 2.0
        value += sum(weight * math.log(_equals(margin, result).probability) for result, weight in _PRETENDED)
        if self.is_paired:
            value += math.log(spread) - (spread / _SPREAD_PRIOR) ** 2 / 2.0
        return value

    def _derivatives(self, parameters: Vector, groups: Sequence[_Group]) -> tuple[Vector, Vector]:
        slope = -self.precision * parameters
        for group in groups:
            weighted = group.cells.count * group.slope
            slope[: self.count] += self._by_player(group.cells, weighted[0])
            slope[self.count :] += weighted[1:].sum(axis=1)
        margin, spread = self.count + MARGIN, self.count + SPREAD
        for result, weight in _PRETENDED:
            slope[margin] += weight * float(_equals(float(parameters[margin]), result).m)
        if self.is_paired:
            slope[spread] += 1.0 / parameters[spread] - parameters[spread] / _SPREAD_PRIOR**2
        else:
            slope[spread] = 0.0
        played = self._matrix([(group.cells, group.curvature) for group in groups])
        return slope, played + self._prior(parameters)

    def _prior(self, parameters: Vector) -> Vector:
        """The curvature of the priors and of the pretended game."""
        curvature = np.diag(self.precision)
        margin, spread = self.count + MARGIN, self.count + SPREAD
        for result, weight in _PRETENDED:
            curvature[margin, margin] += weight * float(_equals(float(parameters[margin]), result).mm)
        if self.is_paired:
            curvature[spread, spread] += 1.0 / parameters[spread] ** 2 + 1.0 / _SPREAD_PRIOR**2
        return curvature

    def _uphill(self, curvature: Vector, parameters: Vector, groups: Sequence[_Group]) -> Vector:
        """A positive definite matrix to divide the slope by; only the spread can make it indefinite."""
        spread = self.count + SPREAD
        if not self.is_paired:
            curvature[spread, spread] = 1.0
            return curvature
        try:
            np.linalg.cholesky(curvature)
        except np.linalg.LinAlgError:
            squares = sum(float(group.cells.count @ group.slope[3] ** 2) for group in groups)
            raised = curvature.copy()
            raised[spread, spread] = abs(raised[spread, spread]) + squares + 1.0 / parameters[spread] ** 2
            raised[spread, :spread] = raised[:spread, spread] = 0.0
            return raised
        return curvature

    def _covariance(self, parameters: Vector, groups: Sequence[_Group]) -> Vector:
        """The sandwich over pairs: it stays right if the results of a pair depend on each other.

        For a player with few pairs the products of slopes are unreliable. There the
        model's curvature takes their place, by degrees.
        """
        prior = self._prior(parameters)
        played = self._matrix([(group.cells, group.curvature) for group in groups])
        products = [(group.cells, group.slope[:, None, :] * group.slope[None, :, :]) for group in groups]
        pairs = np.zeros(self.size)
        for group in groups:
            count = group.cells.count
            pairs[: self.count] += self._by_player(group.cells, count) + 2.0 * np.bincount(
                group.cells.other, count, self.count
            )
            pairs[self.count :] += count.sum()
        trust = pairs / (pairs + _FEW)
        own, models = np.sqrt(trust), np.sqrt(1.0 - trust)
        middle = prior + np.outer(own, own) * self._matrix(products) + np.outer(models, models) * played
        whole = played + prior
        # Only differences of strengths count: this fixes their sum, which a weak prior leaves nearly free.
        whole[: self.count, : self.count] += 1.0
        if not self.is_paired:
            whole[self.count + SPREAD, self.count + SPREAD] = 1.0
        bread = np.linalg.inv(whole)
        covariance: Vector = bread @ middle @ bread
        return covariance

    def _by_player(self, cells: Cells, values: Vector) -> Vector:
        """Sums by player, of ``values`` for the first and minus ``values`` for the other player of a cell."""
        sums = np.bincount(cells.one, values, self.count) - np.bincount(cells.other, values, self.count)
        return np.asarray(sums, dtype=np.float64)

    def _matrix(self, parts: Sequence[tuple[Cells, Vector]]) -> Vector:
        """The sum of the cells' small matrices (by difference, advantage, margin, spread) by parameter."""
        n = self.count
        matrix = np.zeros((self.size, self.size))
        meetings = np.zeros(n * n)
        for cells, small in parts:
            weighted = cells.count * small
            meetings += np.bincount(cells.one * n + cells.other, weighted[0, 0], n * n)
            matrix[n:, n:] += weighted[1:, 1:].sum(axis=2)
            for extra in range(EXTRA):
                column = self._by_player(cells, weighted[0, 1 + extra])
                matrix[:n, n + extra] += column
                matrix[n + extra, :n] += column
        square = meetings.reshape(n, n)
        square = square + square.T
        matrix[:n, :n] = np.diag(square.sum(axis=1)) - square
        return matrix


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


def grouped(cells: dict[tuple[Result, Result | None], list[tuple[int, int, int]]]) -> Iterator[Cells]:
    """Cells from (one, other, count) by both results; places of players, in any order."""
    for (first, second), rows in sorted(cells.items(), key=lambda item: (item[0][0], item[0][1] or "")):
        one, other, count = np.array(sorted(rows)).T
        yield Cells(first, second, one, other, count.astype(np.float64))
