"""Strengths with error bars, estimated from all games at once: Bradley-Terry with draws, as Elo.

TrueSkill's numbers depend on the order of the games, and its sigma is no error bar. This estimate
is shown beside them: independent of order, with the covariance of its normal approximation.

The model is that of ``engines.estimation.likelihood``. Its unit is the pair of games from one opening,
because their results depend on each other. Strengths have a normal prior, so that a clean
score gives a finite difference; the advantage, the margin of draws and the spread of the openings have weak
ones. Newton's method finds the maximum.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from engines.arithmetic.ratings import SIGMA, Rating
from engines.arithmetic.statistics import CONFIDENCE, ELO, superiority
from engines.estimation.interpolation import Vector
from engines.estimation.likelihood import ADVANTAGE, MARGIN, SPREAD, Posterior
from engines.estimation.openings import OpeningScore, Widening
from engines.estimation.tallies import TallyColumns

PRIOR_ELO = 420.0
"""Standard deviation of the strengths' prior: that of TrueSkill's (twice its beta) on this scale."""


LEAD_ELO = 200.0
"""Standard deviation of the difference of two players that are compared, before their games."""
ELO_A_POINT = PRIOR_ELO / SIGMA
"""One point of TrueSkill's mu in Elo."""
MAX_ESTIMATED = 1500
"""Versions of a ladder's estimate. Its time grows with their cube, its memory with their square: 4,200 would
take 40 s and 1.1 GB."""
ANCHOR = "Random"
"""The sample that has 0 Elo on each ladder: it chooses each legal move with the same probability."""
DISAGREEMENT = 2.0
"""A live rating and the estimate disagree if they are so many standard errors apart."""


@dataclass(frozen=True, slots=True)
class Strength:
    """A player's estimate: Elo above the zero of the pool, plus or minus ``error`` (95 %)."""

    elo: float
    error: float

    @property
    def is_known(self) -> bool:
        return math.isfinite(self.error)

    @property
    def superiority(self) -> float:
        """The probability that the true value is above zero, from 0 to 1.

        With a normal prior of ``LEAD_ELO``: without it a few games seem surer than they are.
        """
        spread = self.error / CONFIDENCE
        return superiority(self.elo / spread * LEAD_ELO / math.hypot(LEAD_ELO, spread) if spread else 0.0)


@dataclass(frozen=True, slots=True)
class Agreement:
    """A live rating beside the estimate of the same player."""

    live: float
    """The rating's mu as Elo above the zero of the pool."""
    strength: Strength
    disagrees: bool
    """Whether they are further apart than ``DISAGREEMENT`` standard errors of their difference."""

    @classmethod
    def of(cls, rating: Rating, mean_mu: float, strength: Strength, zero: float = 0.0) -> Agreement:
        """``mean_mu`` is that of the whole pool, ``zero`` the Elo of its zero above the mean.

        Treats both errors as independent, which is cautious.
        """
        live = (rating.mu - mean_mu) * ELO_A_POINT - zero
        error = math.hypot(rating.sigma * ELO_A_POINT, strength.error / CONFIDENCE)
        return cls(live, strength, abs(live - strength.elo) > DISAGREEMENT * error)


@dataclass(frozen=True, slots=True)
class Estimate:
    """All estimates from one pool of games."""

    strengths: dict[int, Strength]
    """Each player's strength; includes players without games. The errors are those against the mean."""
    advantage: Strength
    """White's advantage, in Elo; its error is that of openings, see ``widening``."""
    margin: float
    """The margin in Elo; equals draw with probability tanh(margin / 2) on the logistic scale."""
    opening_spread: float
    """Standard deviation of the openings' bias, in Elo; 0 if there are no pairs."""
    games: int
    widening: Widening
    """The widening of the advantage's error by openings that repeat."""
    covariance: Vector = field(compare=False, repr=False)
    """The covariance of the strengths, in the order of ``strengths``, on the logistic scale."""
    _indices: dict[int, int]
    anchor: Strength | None = None
    """The strength against the mean of the player who is at zero; None: the mean is zero."""

    def anchored(self, player: int) -> Estimate:
        """The same with this player at zero, so that numbers of two dates or sites can be compared.

        Raises ``KeyError`` for an unknown player, ``ValueError`` if the estimate has an anchor already.
        """
        if self.anchor is not None:
            raise ValueError("this estimate has an anchor already")
        anchor = self.strengths[player]
        moved = {key: replace(one, elo=one.elo - anchor.elo) for key, one in self.strengths.items()}
        return replace(self, strengths=moved, anchor=anchor)

    def difference(self, one: int, other: int) -> Strength:
        """How much stronger ``one`` is than ``other``; raises ``KeyError`` for an unknown player.

        After many meetings its error is smaller than that of either strength alone.
        """
        i, j = self._indices[one], self._indices[other]
        own, others, shared = (float(self.covariance[index]) for index in ((i, i), (j, j), (i, j)))
        gap = self.strengths[one].elo - self.strengths[other].elo
        return _strength(gap / ELO, own + others - 2.0 * shared)

    def superiority(self, one: int, other: int) -> float:
        """The probability that ``one`` is the stronger, from 0 to 1."""
        return self.difference(one, other).superiority

    def to_json(self) -> dict[str, object]:
        """Everything but the covariance."""
        return {
            "strengths": [[player, one.elo, one.error] for player, one in self.strengths.items()],
            "advantage": [self.advantage.elo, self.advantage.error],
            "margin": self.margin,
            "opening_spread": self.opening_spread,
            "games": self.games,
            "widening": [self.widening.factor, self.widening.games],
            "anchor": self.anchor and [self.anchor.elo, self.anchor.error],
        }

    @classmethod
    def from_json(cls, value: Any, covariance: Vector) -> Estimate:
        """Raises ``KeyError``, ``TypeError`` or ``ValueError`` for anything but ``to_json``'s result."""
        strengths = {player: Strength(elo, error) for player, elo, error in value["strengths"]}
        return cls(
            strengths,
            Strength(*value["advantage"]),
            value["margin"],
            value["opening_spread"],
            value["games"],
            Widening(*value["widening"]),
            covariance.reshape(len(strengths), len(strengths)),
            _numbered(strengths),
            Strength(*value["anchor"]) if value["anchor"] else None,
        )


def estimate_columns(
    players: Sequence[int],
    columns: TallyColumns,
    openings: Iterable[OpeningScore] | Widening,
    *,
    prior_elo: float = PRIOR_ELO,
) -> Estimate:
    """The most probable strengths of ``players``; ``openings`` may be an earlier ``widening``.

    Games of other players or without a result are left out. Order and grouping of games do not matter.

    Cost: the cube of the number of players, and about ten passes over the cells. A million games in pairs
    take 0.6 s of processor time among 300 players and 1.4 s among 1,000.
    """
    indices = _numbered(players)
    count = len(indices)
    groups = columns.cells(list(indices))
    maximum = Posterior(count, groups, (ELO / prior_elo) ** 2).maximize()
    theta, covariance = maximum.parameters, maximum.covariance
    extra = theta[count:]
    variance = float(covariance[count + ADVANTAGE, count + ADVANTAGE])
    widening = openings if isinstance(openings, Widening) else Widening.of(groups, openings)
    return Estimate(
        dict(zip(indices, _centred(theta[:count], covariance[:count, :count]), strict=True)),
        _strength(float(extra[ADVANTAGE]), variance * widening.factor**2),
        float(extra[MARGIN]) * ELO,
        float(extra[SPREAD]) * ELO,
        sum(cells.games for cells in groups),
        widening,
        covariance[:count, :count],
        indices,
    )


def _numbered(players: Iterable[int]) -> dict[int, int]:
    return {player: index for index, player in enumerate(players)}


def _strength(value: float, variance: float) -> Strength:
    return Strength(value * ELO, CONFIDENCE * max(variance, 0.0) ** 0.5 * ELO)


def _centred(strengths: Vector, covariance: Vector) -> list[Strength]:
    """The strengths above the mean of all."""
    if not len(strengths):
        return []
    variances = np.diag(covariance) - 2.0 * covariance.mean(axis=1) + covariance.mean()
    values = strengths - strengths.mean()
    return [
        _strength(float(value), float(variance)) for value, variance in zip(values, variances, strict=True)
    ]
