"""Weighted values and sums of smooth functions at many places: each evaluated there, or on a grid.

With fewer places than a grid has points the functions are evaluated at the places themselves. With more they
are evaluated on an even grid and interpolated by the polynomial through the six nearest points. For functions
of the width of the logistic function the error is below 1e-10.
"""

from __future__ import annotations

import math
from typing import Final, Protocol

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]

_STEP: Final = 1.0 / 32.0
"""The distance between two points of a grid; a multiple of it is a point of every grid."""
_NEAREST: Final = np.arange(-2, 4)
"""The points of a polynomial, counted from the one below the place."""
_POLYNOMIALS: Final[Vector] = np.linalg.inv(np.vander(_NEAREST, increasing=True).astype(np.float64))
"""Coefficients, the constant one first, from the values at those points."""
PLACES_A_POINT = 1.0
"""So many times more places than points make a grid cheaper."""


class Points(Protocol):
    """Where functions are to be evaluated, so that they are known at the places, which have weights."""

    at: Vector

    def weighted(self, values: Vector) -> Vector:
        """The weight times the function at each place, from the values at the points."""

    def total(self, values: Vector) -> Vector:
        """The sum of those, for each row of values."""


def points_for(places: Vector, weights: Vector) -> Points:
    """The cheaper points; never more of them than places by default."""
    low, high = math.floor(float(places.min()) / _STEP), math.floor(float(places.max()) / _STEP)
    if len(places) < PLACES_A_POINT * (high - low + len(_NEAREST)):
        return _Places(places, weights)
    return _Grid(places, weights, low, high)


class _Places:
    """Every place is a point."""

    def __init__(self, places: Vector, weights: Vector) -> None:
        self.at = places
        self._weights = weights

    def weighted(self, values: Vector) -> Vector:
        return self._weights * values

    def total(self, values: Vector) -> Vector:
        return np.asarray(values @ self._weights)


class _Grid:
    """Multiples of the step: ``low`` to ``high``, those next below the places, and their neighbours."""

    def __init__(self, places: Vector, weights: Vector, low: int, high: int) -> None:
        self.at = np.arange(low + _NEAREST[0], high + _NEAREST[-1] + 1) * _STEP
        scaled = places / _STEP
        below = np.floor(scaled)
        self._fraction = scaled - below
        self._below = below.astype(np.intp) - low
        self._weights = weights
        self._shares = self._share_out(high - low + 1)

    def _share_out(self, intervals: int) -> Vector:
        """The sum of the places' weights for each point: the factors of its values."""
        power, moments = self._weights, []
        for _ in _NEAREST:
            moments.append(np.bincount(self._below, power, intervals))
            power = power * self._fraction
        shares = np.zeros(len(self.at))
        for offset, row in enumerate(_POLYNOMIALS.T @ np.array(moments)):
            shares[offset : offset + intervals] += row
        return shares

    def weighted(self, values: Vector) -> Vector:
        windows = np.lib.stride_tricks.sliding_window_view(values, len(_NEAREST))
        *rest, highest = _POLYNOMIALS @ windows.T
        found = highest[self._below]
        for coefficients in reversed(rest):
            found *= self._fraction
            found += coefficients[self._below]
        found *= self._weights
        return np.asarray(found)

    def total(self, values: Vector) -> Vector:
        return np.asarray(values @ self._shares)
