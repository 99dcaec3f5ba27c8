"""The strength that an engine has shown against opponents of known Elo. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from engines.arithmetic.intervals import EloInterval, interval
from engines.arithmetic.statistics import Counts, score_of_elo

FARTHEST = 2_000.0
"""No performance is farther in Elo from the weakest and the strongest opponent."""
STEPS = 60
"""Halvings of the range in which it is looked for."""


def performance(counts: Counts, opponents: Sequence[float]) -> EloInterval:
    """The Elo at which the expected score against ``opponents`` is that of ``counts``, with its interval.

    ``opponents`` has the Elo of each game's opponent. The interval is that of ``counts``, so it does not
    include the uncertainty of the opponents' Elo.
    """
    found = interval(counts)
    elo, low, high = (_solve(score_of_elo(end), opponents) for end in (found.elo, found.low, found.high))
    return EloInterval(elo, low, high, found.los)


def _solve(score: float, opponents: Sequence[float]) -> float:
    """The Elo with this expected score, from 0 to 1, on the average of the games."""
    low, high = min(opponents) - FARTHEST, max(opponents) + FARTHEST
    for _ in range(STEPS):
        middle = (low + high) / 2
        expected = sum(score_of_elo(middle - elo) for elo in opponents) / len(opponents)
        low, high = (middle, high) if expected < score else (low, middle)
    return (low + high) / 2
