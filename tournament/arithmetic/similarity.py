"""Similarity: how often two versions choose the same move, against what is expected of two of their strength.

All versions of a ladder answer the same positions. What is expected of a pair is the median of how often
each of the two agrees with the versions whose ratings are nearest to the other's. The excess of a pair is the
share of the same moves among the positions in which two such versions are expected to differ, as in Cohen's
kappa (1960), so that ladders with few and with many legal moves compare.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Final

import numpy as np

NEAREST: Final = 6
"""Versions with which each of a pair is compared."""
LEAST_NEAR: Final = 6
"""Values from which something is expected."""
LEAST_POSITIONS: Final = 40
"""Positions that both have answered, from which a pair is compared."""
BOUND: Final = 0.6
"""The excess from which a pair is striking: docs/benchmarks.md has the errors of this bound."""
ERRORS: Final = 3.0
"""Standard errors above what is expected that it needs as well."""


@dataclass(frozen=True, slots=True)
class Answers:
    """The moves that a version chooses, by position; an empty one is no answer."""

    version: int
    bot: int
    owner: int | None
    """None: the site."""
    rating: float
    moves: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Similarity:
    """Two versions of different owners: in which share of the positions they choose the same move."""

    one: int
    other: int
    positions: int
    share: float
    expected: float | None = None
    """None while too few others are compared."""

    @property
    def excess(self) -> float | None:
        """1 if they never differ, 0 if as often as expected."""
        if self.expected is None:
            return None
        return (self.share - self.expected) / max(1 - self.expected, 1 / self.positions)

    @property
    def is_striking(self) -> bool:
        """Whether staff is told."""
        if self.excess is None or self.expected is None:
            return False
        error = math.sqrt(self.expected * (1 - self.expected) / self.positions)
        return self.excess >= BOUND and self.share - self.expected >= ERRORS * error


def compare(
    answers: Sequence[Answers], players: Mapping[str, Collection[int]] | None = None
) -> Iterator[Similarity]:
    """Each pair of versions of different owners that have answered enough of the same positions.

    ``players`` are the bots of the games that positions come from: these positions do not count for them.
    """
    shares, counts = _agreements(answers, players or {})
    nearest = _nearest(answers)
    for one, first in enumerate(answers):
        for other in range(one):
            if _are_related(first, answers[other]) or counts[one, other] < LEAST_POSITIONS:
                continue
            share, count = float(shares[one, other]), int(counts[one, other])
            near = [
                float(shares[mine, third])
                for mine, theirs in ((one, other), (other, one))
                for third in islice(_others(answers, counts, mine, nearest[theirs]), NEAREST)
            ]
            expected = float(np.median(near)) if len(near) >= LEAST_NEAR else None
            yield Similarity(first.version, answers[other].version, count, share, expected)


def _others(
    answers: Sequence[Answers], counts: np.ndarray, mine: int, nearest: Sequence[int]
) -> Iterator[int]:
    """Those of ``nearest`` with which a version can be compared."""
    for third in nearest:
        if not _are_related(answers[mine], answers[third]) and counts[mine, third] >= LEAST_POSITIONS:
            yield third


def _are_related(one: Answers, other: Answers) -> bool:
    """Whether they are of one owner, so that nobody asks whether they are alike."""
    return one.bot == other.bot or one.owner == other.owner


def _nearest(answers: Sequence[Answers]) -> list[list[int]]:
    """By version, the others in the order of their ratings' distance."""
    ratings = np.array([one.rating for one in answers])
    return [
        [int(at) for at in np.argsort(np.abs(ratings - rating), kind="stable") if at != own]
        for own, rating in enumerate(ratings)
    ]


def _agreements(
    answers: Sequence[Answers], players: Mapping[str, Collection[int]]
) -> tuple[np.ndarray, np.ndarray]:
    """By two versions, the share of the same moves, and of how many positions."""
    numbers: dict[tuple[str, str], int] = {}
    places = {name: at for at, name in enumerate(sorted({name for one in answers for name in one.moves}))}
    moves = np.full((len(answers), len(places)), -1)
    for row, one in enumerate(answers):
        for name, move in one.moves.items():
            if move and one.bot not in players.get(name, ()):
                moves[row, places[name]] = numbers.setdefault((name, move), len(numbers))
    same = np.array([(moves == row).sum(axis=1) - ((moves < 0) & (row < 0)).sum(axis=1) for row in moves])
    counts = np.array([((moves >= 0) & (row >= 0)).sum(axis=1) for row in moves])
    return same / np.maximum(counts, 1), counts
