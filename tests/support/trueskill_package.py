"""The definition of the ratings: the ``trueskill`` package."""

from __future__ import annotations

import functools
import math
from statistics import NormalDist
from typing import Any

import trueskill

from engines.arithmetic.ratings import BETA, MU, SIGMA, Rating, Scale
from engines.rules.base import Result

RANKS = {Result.WHITE_WINS: [0, 1], Result.BLACK_WINS: [1, 0], Result.DRAW: [0, 0]}
NORMAL = NormalDist()


def rate_by_definition(scale: Scale, white: Rating, black: Rating, result: Result) -> tuple[Rating, Rating]:
    """The same game as ``Scale.rate`` rates, rated by the package."""
    package = _package(scale)
    groups = [(package.create_rating(one.mu, one.sigma),) for one in (white, black)]
    (one,), (other,) = package.rate(groups, RANKS[result])
    return Rating(one.mu, one.sigma), Rating(other.mu, other.sigma)


@functools.cache
def _package(scale: Scale) -> Any:
    """The package with the parameters of ``scale``.

    Its own erfc is accurate to seven digits only, so an exact one is passed to it.
    """
    backend = (lambda x: math.erfc(-x / math.sqrt(2)) / 2, NORMAL.pdf, NORMAL.inv_cdf)
    return trueskill.TrueSkill(MU, SIGMA, BETA, scale.tau, scale.draw_probability, backend=backend)
