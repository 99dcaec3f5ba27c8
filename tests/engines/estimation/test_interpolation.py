"""Interpolated values and sums of the logistic function against evaluated ones."""

from __future__ import annotations

import math

import numpy as np
import pytest

from engines.estimation import interpolation
from engines.estimation.interpolation import Vector, points_for


def logistic(x: Vector) -> Vector:
    return np.asarray(1.0 / (1.0 + np.exp(-x)))


def test_few_places_are_points_themselves() -> None:
    places = np.array([0.0, 3.0, -2.0])
    assert points_for(places, np.ones(3)).at.tolist() == places.tolist()


def test_many_places_have_fewer_points() -> None:
    places = np.linspace(-1.0, 1.0, 10_000)
    assert len(points_for(places, np.ones(len(places))).at) < 100


@pytest.mark.parametrize("places_a_point", [0.0, math.inf])
def test_values_and_sums_are_those_of_the_function(
    places_a_point: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(interpolation, "PLACES_A_POINT", places_a_point)
    source = np.random.default_rng(1)
    places, weights = source.normal(0.0, 3.0, 500), source.integers(1, 9, 500).astype(np.float64)
    points = points_for(places, weights)
    expected = weights * logistic(places)
    assert points.weighted(logistic(points.at)) == pytest.approx(expected, abs=1e-9)
    rows = np.array([logistic(points.at), np.ones(len(points.at))])
    assert points.total(rows) == pytest.approx([expected.sum(), weights.sum()], abs=1e-8)


def test_equal_places_between_or_on_points_are_interpolated(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(interpolation, "PLACES_A_POINT", 0.0)
    for place in (0.0, 1.0, -1.0, 0.01):
        points = points_for(np.full(3, place), np.ones(3))
        assert points.weighted(logistic(points.at)) == pytest.approx(logistic(np.full(3, place)), abs=1e-10)
