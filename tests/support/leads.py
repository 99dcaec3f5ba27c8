"""Simulated short matches, and how often a likelihood of superiority is right."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator
from functools import cache
from statistics import fmean

from engines.arithmetic.statistics import ELO
from engines.rules.base import Result

SPREAD_ELO, BIAS_ELO, ADVANTAGE_ELO, MARGIN_ELO = 200.0, 100.0, 30.0, 40.0
"""Of differences of players, of openings; White's advantage; half the range of leads that draw."""
MATCHES = 3_000
Pair = tuple[Result, Result]
"""The results of a game of the first player with White, and of one with Black, from the same opening."""


def said_and_seen(likelihood: Callable[[tuple[Pair, ...]], float], pairs: int) -> tuple[float, float]:
    """The mean of what is said of matches of so many pairs, and how often it is right.

    Only of matches with a leader who is not nearly certain to be stronger.
    """
    known = cache(likelihood)
    told = [(known(tuple(sorted(match))), is_stronger) for match, is_stronger in _matches(pairs)]
    leaders = [(said, right) if said > 0.5 else (1 - said, not right) for said, right in told]
    chosen = [(said, right) for said, right in leaders if 0.65 < said < 0.9]
    return fmean(said for said, _ in chosen), fmean(right for _, right in chosen)


def _matches(pairs: int) -> Iterator[tuple[list[Pair], bool]]:
    source = random.Random(pairs)
    for _ in range(MATCHES):
        lead, match = source.gauss(0, SPREAD_ELO), list[Pair]()
        for _ in range(pairs):
            bias = source.gauss(ADVANTAGE_ELO, BIAS_ELO)
            match.append((_play(source, bias + lead), _play(source, bias - lead)))
        yield match, lead > 0


def _play(source: random.Random, lead: float) -> Result:
    drawn = source.random()
    if drawn < 1 / (1 + math.exp((MARGIN_ELO - lead) / ELO)):
        return Result.WHITE_WINS
    return Result.DRAW if drawn < 1 / (1 + math.exp((-MARGIN_ELO - lead) / ELO)) else Result.BLACK_WINS
