"""Measures whether the 95 % intervals of the ladders' estimate hold the truth in 95 % of the cases.

Pools of versions with known strengths play simulated pairs of games, from one opening with both colours.
Every game is independent, or both games of a pair share their opening's bias in favour of White, and each
pair has its own opening or one of a book. The exit code is 1 if the share of intervals that hold the truth is
below 93 % or above 97 % in any row; for the advantage, of which a pool has one, in all rows of a kind.

    python -m benchmarks.coverage --pools 200
"""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import mean
from typing import Final

import numpy as np

from benchmarks.measuring import head, parser_of, row
from engines.arithmetic.statistics import ELO
from engines.estimation.estimates import Strength
from engines.rules.base import Result
from tests.support.estimating import PairTally, estimate

LEAST: Final = 0.93
MOST: Final = 0.97
STRENGTH_ELO: Final = 150.0
"""Standard deviation of the true strengths."""
BIAS_ELO: Final = 150.0
"""Standard deviation of the openings' bias, where pairs share one."""
ADVANTAGE_ELO: Final = 35.0
MARGIN: Final = 0.3
"""Of draws, on the logistic scale: 15 % among equals."""
POOLS: Final = ((6, 75), (10, 150), (10, 450), (20, 2_000), (40, 400))
"""Versions and pairs of games of a pool."""
BOOK: Final = 30
"""Openings of a book."""
WORLDS: Final = {
    "independent": (0.0, 0),
    "shared bias": (BIAS_ELO, 0),
    f"book of {BOOK}": (BIAS_ELO, BOOK),
}
"""The standard deviation of the openings' bias and the size of the book; 0: every pair has its opening."""
HEAD: Final = head("openings", "versions", "pairs", "differences", "strengths", "advantage")
_RESULTS: Final = (Result.WHITE_WINS, Result.DRAW, Result.BLACK_WINS)


@dataclass(frozen=True, slots=True)
class Pool:
    """Simulated pairs and the truth that they come from."""

    truth: tuple[float, ...]
    """Strengths in Elo."""
    pairs: list[PairTally]


@dataclass(slots=True)
class Coverage:
    """How many intervals hold the truth: of differences of two versions, of strengths, of the advantage."""

    differences: float = 0.0
    strengths: float = 0.0
    advantage: float = 0.0
    pools: int = 0

    def add(self, pool: Pool) -> None:
        players = range(len(pool.truth))
        found = estimate(players, [], pool.pairs)
        middle = mean(pool.truth)
        self.differences += mean(
            _holds(found.difference(one, other), pool.truth[one] - pool.truth[other])
            for one in players
            for other in range(one)
        )
        self.strengths += mean(_holds(found.strengths[one], pool.truth[one] - middle) for one in players)
        self.advantage += _holds(found.advantage, ADVANTAGE_ELO)
        self.pools += 1

    @property
    def shares(self) -> tuple[float, float, float]:
        return self.differences / self.pools, self.strengths / self.pools, self.advantage / self.pools


def simulate(source: np.random.Generator, versions: int, pairs: int, bias_elo: float, book: int = 0) -> Pool:
    """Random meetings; each opening has its bias for White. Without a book it is that of one pair."""
    truth = source.normal(0.0, STRENGTH_ELO, versions)
    biases = source.normal(ADVANTAGE_ELO, bias_elo, book or pairs)
    played = []
    for pair in range(pairs):
        one, other = source.choice(versions, 2, replace=False)
        opening = source.integers(book) if book else pair
        gap = truth[one] - truth[other]
        first, second = (_play(source, (biases[opening] + side * gap) / ELO) for side in (1, -1))
        played.append(PairTally(int(one), int(other), first, second, opening=str(opening)))
    return Pool(tuple(map(float, truth)), played)


def measure(versions: int, pairs: int, bias_elo: float, pools: int, seed: int = 1, book: int = 0) -> Coverage:
    """The coverage over so many pools."""
    source, found = np.random.default_rng(seed), Coverage()
    for _ in range(pools):
        found.add(simulate(source, versions, pairs, bias_elo, book))
    return found


def main(arguments: Sequence[str]) -> int:
    parser = parser_of("coverage", __doc__)
    parser.add_argument("--pools", type=int, default=200, help="simulated for each row (default %(default)s)")
    options = parser.parse_args(arguments)
    print(HEAD, flush=True)
    judged: list[float] = []
    advantages: dict[str, list[float]] = defaultdict(list)
    for versions, pairs in POOLS:
        for name, (bias, book) in WORLDS.items():
            shares = measure(versions, pairs, bias, options.pools, book=book).shares
            print(row(name, versions, f"{pairs:,}", *(f"{share:.1%}" for share in shares)), flush=True)
            judged += shares[:2]
            advantages[name].append(shares[2])
    for name, held in advantages.items():
        print(row(name, "all", "", "", "", f"{mean(held):.1%}"))
        judged.append(mean(held))
    return 0 if all(LEAST <= share <= MOST for share in judged) else 1


def _play(source: np.random.Generator, lead: float) -> Result:
    """One result, by the model's probabilities; ``lead`` is White's, on the logistic scale."""
    wins, loses = (1.0 / (1.0 + np.exp(MARGIN - sign * lead)) for sign in (1, -1))
    return _RESULTS[int(np.searchsorted([wins, 1.0 - loses], source.random(), side="right"))]


def _holds(found: Strength, truth: float) -> float:
    """1.0 or 0.0."""
    return float(abs(found.elo - truth) <= found.error)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
