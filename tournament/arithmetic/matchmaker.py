"""Draws the pairs of a ladder from its active bots and their ratings.

Pairs are numbered, and three of every ten (``UNIFORM``) are drawn uniformly from all allowed pairs. Estimates
of strength need them: with three uniform pairs of ten the 95 % intervals of the estimate are correct, with
none they were not.

The other seven are directed. First a seeker is chosen:

1. a bot that is **overdue**: in no pair for twice as many pairs as there are bots, or never; the longest wait
   first;
2. else one that is **new**, drawn with weight sigma², so that the least certain ratings improve first;
3. else any bot, with the same weight.

Its opponent is drawn with weight q, TrueSkill's match quality (Herbrich, Minka, Graepel 2006, section 5):

    q = sqrt(2 beta² / c²) exp(-(mu1 - mu2)² / (2 c²)),   c² = 2 beta² + sigma1² + sigma2²

which is large for an opponent of similar strength with a certain rating: such a game gives most information.

A bot is new while its rating is provisional (``ratings.is_provisional``).

**Longest wait.** With n bots, each bot with a possible opponent is in at least one of any 4 n + 4 pairs:
after 2 n pairs it is overdue, and at most n - 1 overdue bots come before it, one in each of seven of ten
pairs.

**Owners.** Bots of one owner never meet. The site's own bots count as those of one owner. If there are no
others, they meet as long as one of the two is new: so the first uploaded bot finds opponents with known
strength, and the site's own bots do not play for ever without need.

The same seed, pair number and bots give the same pair, however many are drawn at once. No database here.
"""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from engines.arithmetic.ratings import BETA, Rating, is_provisional

UNIFORM = (3, 10)
"""This many of this many pairs are drawn uniformly, spread evenly over their numbers."""
OVERDUE_ROUNDS = 2
"""A bot is overdue after this many pairs for each bot of the ladder."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A version that is active on a ladder; ``owner`` is None for the site's own."""

    version: int
    owner: int | None
    rating: Rating
    games: int
    """Rated games on this ladder."""
    last: int | None = None
    """The number of the latest pair it was in; None for never."""

    @property
    def is_new(self) -> bool:
        return is_provisional(self.rating.sigma, self.games)


@dataclass(frozen=True, slots=True)
class DrawnPair:
    """Two versions that will meet, from one opening with both colours."""

    number: int
    first: int
    second: int


def draw_pairs(candidates: Sequence[Candidate], number: int, count: int, seed: int) -> list[DrawnPair]:
    """The pairs ``number``, ``number + 1``, …; none if no two bots may meet. Each costs time linear in n.

    No pair depends on results of those before it. Candidates must have different versions.
    """
    field = _Field(candidates)
    return [field.draw(number + step, seed) for step in range(count)] if field.seekers else []


def is_uniform(number: int) -> bool:
    """Whether the pair of this number is drawn uniformly, for any bots."""
    some, of_all = UNIFORM
    return number * some % of_all < some


def can_play(candidates: Sequence[Candidate]) -> set[int]:
    """The versions that have an opponent."""
    return {candidate.version for candidate in _Field(candidates).seekers}


def log_quality(one: Rating, other: Rating) -> float:
    """The logarithm of TrueSkill's match quality, at most 0."""
    spread = 2 * BETA**2 + one.sigma**2 + other.sigma**2
    return 0.5 * math.log(2 * BETA**2 / spread) - (one.mu - other.mu) ** 2 / (2 * spread)


class _Field:
    """The candidates of a ladder while pairs are drawn from them."""

    def __init__(self, candidates: Sequence[Candidate]) -> None:
        self.all = sorted(candidates, key=lambda candidate: candidate.version)
        self.last = {candidate.version: candidate.last for candidate in self.all}
        self._owned = Counter(candidate.owner for candidate in self.all)
        self._new = sum(candidate.is_new for candidate in self.all)
        self._is_site_alone = set(self._owned) == {None}
        self.seekers = [candidate for candidate in self.all if self._count_opponents(candidate)]

    def draw(self, number: int, seed: int) -> DrawnPair:
        source = random.Random(f"{seed}/{number}")
        if is_uniform(number):
            # Weighted by their number of opponents, so that every pair is equally likely.
            first = _pick(source, self.seekers, [self._count_opponents(one) for one in self.seekers])
            second = source.choice(self._opponents(first))
        else:
            first = self._choose_seeker(number, source)
            second = _choose_opponent(first, self._opponents(first), source)
        if source.random() < 0.5:
            first, second = second, first
        self.last[first.version] = self.last[second.version] = number
        return DrawnPair(number, first.version, second.version)

    def _choose_seeker(self, number: int, source: random.Random) -> Candidate:
        longest = max(self.seekers, key=lambda one: self._waited(one, number))
        if self._waited(longest, number) >= OVERDUE_ROUNDS * len(self.all):
            return longest
        seekers = [one for one in self.seekers if one.is_new] or self.seekers
        return _pick(source, seekers, [one.rating.sigma**2 for one in seekers])

    def _waited(self, candidate: Candidate, number: int) -> float:
        """The number of pairs since its last one."""
        last = self.last[candidate.version]
        return math.inf if last is None else number - last

    def _may_meet(self, one: Candidate, other: Candidate) -> bool:
        if self._is_site_alone:
            return one.version != other.version and (one.is_new or other.is_new)
        return one.owner != other.owner

    def _opponents(self, candidate: Candidate) -> list[Candidate]:
        return [other for other in self.all if self._may_meet(candidate, other)]

    def _count_opponents(self, candidate: Candidate) -> int:
        """The number of opponents, without a test of each."""
        if self._is_site_alone:
            return len(self.all) - 1 if candidate.is_new else self._new
        return len(self.all) - self._owned[candidate.owner]


def _choose_opponent(seeker: Candidate, opponents: Sequence[Candidate], source: random.Random) -> Candidate:
    logs = [log_quality(seeker.rating, other.rating) for other in opponents]
    most = max(logs)  # the best opponent gets weight one, so that not all weights underflow to zero
    return _pick(source, opponents, [math.exp(log - most) for log in logs])


def _pick(source: random.Random, candidates: Sequence[Candidate], weights: Sequence[float]) -> Candidate:
    return source.choices(candidates, weights)[0]
