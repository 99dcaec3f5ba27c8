"""Ratings: TrueSkill for two players in closed form, and the fold over a ladder's games.

The arithmetic is TrueSkill's (Herbrich, Minka, Graepel 2006) for one game between two
players, for which its factor graph has a closed form. The ``trueskill`` package on an exact backend
(``rate_by_definition``) defines the correct values. Over 30,000 random games (mu 0 to 50, sigma 0.5 to 9,
draws from 0.1 to 89 %) the closed form agrees with it within 5e-13 for wins and 3.2e-11 for draws, most of
it the package's own rounding for narrow draw margins.

Constants: mu 25, sigma 25/3, beta 25/6 (the paper's). tau is 0.008 on ladders and 0 in a
tournament's own table: the default 25/300 weights late games so much that the order of games decides
ranks. The published number is mu - 3 sigma.

No database here: the record keeper and a rebuild take the same steps, so they
get the same bits.
"""

from __future__ import annotations

import functools
import hashlib
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from statistics import NormalDist
from typing import Any

import trueskill

from engines.rules.base import Result
from engines.rules.registry import GAMES

MU = 25.0
SIGMA = MU / 3
BETA = MU / 6
LADDER_TAU = 0.008
NEW_VERSION_SIGMA = 3.0
"""A new version starts with its predecessor's mean, and with at least this standard deviation."""

DEFAULT_DRAW_PROBABILITY = 0.10
"""On a ladder whose game is no longer registered."""

Player = tuple[str, int]
"""A bot's name and the number of its version: the identity of a player in records."""

_ROOT_2 = math.sqrt(2.0)
_ROOT_2_PI = math.sqrt(2.0 * math.pi)
_TAIL = 35.0
"""Standard deviations beyond which the tail is computed from its series: erfc is near its underflow."""
_NORMAL = NormalDist()
_RANKS = {Result.WHITE_WINS: [0, 1], Result.BLACK_WINS: [1, 0], Result.DRAW: [0, 0]}


@dataclass(frozen=True, slots=True)
class Rating:
    """The estimate of a player's skill: mean and standard deviation."""

    mu: float = MU
    sigma: float = SIGMA

    @property
    def conservative(self) -> float:
        """mu - 3 sigma: the player is almost surely at least this good."""
        return self.mu - 3.0 * self.sigma


@dataclass(frozen=True, slots=True)
class Scale:
    """The parameters of a rating step: drift between games and the width of a draw."""

    tau: float = LADDER_TAU
    draw_probability: float = DEFAULT_DRAW_PROBABILITY
    margin: float = field(init=False)
    """The difference in performance below which a game is a draw."""

    def __post_init__(self) -> None:
        share = min(max(self.draw_probability, 0.001), 0.9)
        object.__setattr__(self, "draw_probability", share)
        object.__setattr__(self, "margin", _NORMAL.inv_cdf((share + 1.0) / 2.0) * _ROOT_2 * BETA)

    def rate(self, white: Rating, black: Rating, result: Result) -> tuple[Rating, Rating]:
        """Both ratings after one decided game; raises ``ValueError`` for ``*``."""
        if result is Result.WHITE_WINS:
            return self._win(white, black)
        if result is Result.BLACK_WINS:
            loser, winner = white, black
            after_winner, after_loser = self._win(winner, loser)
            return after_loser, after_winner
        if result is Result.DRAW:
            return self._draw(white, black)
        raise ValueError(f"a game without a result cannot be rated: {str(result)!r}")

    def _win(self, winner: Rating, loser: Rating) -> tuple[Rating, Rating]:
        s1, s2, c = self._spread(winner, loser)
        v, w = _win_factors((winner.mu - loser.mu - self.margin) / c)
        return _moved(winner, s1, c, v, w), _moved(loser, s2, c, -v, w)

    def _draw(self, white: Rating, black: Rating) -> tuple[Rating, Rating]:
        s1, s2, c = self._spread(white, black)
        v, w = _draw_factors((white.mu - black.mu) / c, self.margin / c)
        return _moved(white, s1, c, v, w), _moved(black, s2, c, -v, w)

    def _spread(self, one: Rating, other: Rating) -> tuple[float, float, float]:
        """Both variances after the drift, and the standard deviation of the difference in performance."""
        s1 = one.sigma * one.sigma + self.tau * self.tau
        s2 = other.sigma * other.sigma + self.tau * self.tau
        return s1, s2, math.sqrt(2.0 * BETA * BETA + s1 + s2)


def ladder_scale(ladder: str) -> Scale:
    return Scale(LADDER_TAU, _draw_probability(ladder))


def tournament_scale(ladder: str) -> Scale:
    """The scale of a tournament's own table, without drift: strengths do not change while it lasts."""
    return Scale(0.0, _draw_probability(ladder))


def _draw_probability(ladder: str) -> float:
    return GAMES[ladder].draw_probability if ladder in GAMES else DEFAULT_DRAW_PROBABILITY


def rate_by_definition(scale: Scale, white: Rating, black: Rating, result: Result) -> tuple[Rating, Rating]:
    """The definition of ``Scale.rate``: the same game rated by the ``trueskill`` package."""
    package = _package(scale)
    groups = [(package.create_rating(one.mu, one.sigma),) for one in (white, black)]
    (one,), (other,) = package.rate(groups, _RANKS[result])
    return Rating(one.mu, one.sigma), Rating(other.mu, other.sigma)


@functools.cache
def _package(scale: Scale) -> Any:
    """The package with the parameters of ``scale``.

    Its own erfc is accurate to seven digits only, so an exact one is passed to it.
    """
    backend = (_cdf, _pdf, _NORMAL.inv_cdf)
    return trueskill.TrueSkill(MU, SIGMA, BETA, scale.tau, scale.draw_probability, backend=backend)


# One game


def _moved(before: Rating, variance: float, c: float, v: float, w: float) -> Rating:
    share = variance / (c * c)
    return Rating(before.mu + variance / c * v, math.sqrt(variance * (1.0 - share * w)))


def _win_factors(x: float) -> tuple[float, float]:
    """v and w of a win: mean and variance shift of a normal truncated below, ``x`` the surprise."""
    if x < -_TAIL:
        shrink = _tail_shrink(-x)
        v = -x / (1.0 - shrink)
        return v, v * (-x * shrink / (1.0 - shrink))
    v = _pdf(x) / _cdf(x)
    return v, v * (v + x)


def _draw_factors(t: float, e: float) -> tuple[float, float]:
    """v and w of a draw: a normal truncated on both sides, ``t`` the lead, ``e`` the margin."""
    lead = abs(t)
    a, b = e - lead, -e - lead
    if a < -_TAIL:
        v, w = _far_draw_factors(-a, -b)
    else:
        inside = _cdf(a) - _cdf(b)
        v = (_pdf(b) - _pdf(a)) / inside
        w = v * v + (a * _pdf(a) - b * _pdf(b)) / inside
    return math.copysign(v, -t) if t else v, w


def _far_draw_factors(y: float, z: float) -> tuple[float, float]:
    """The factors far in the tail, all terms divided by the density at ``y``, 0 < y < z."""
    ratio = math.exp((y - z) * (y + z) / 2.0)
    inside = _mills(y) - ratio * _mills(z)
    v = math.expm1((y - z) * (y + z) / 2.0) / inside
    return v, v * v + (z * ratio - y) / inside


def _mills(y: float) -> float:
    """The upper tail of the normal divided by its density, for large ``y``."""
    return (1.0 - _tail_shrink(y)) / y


def _tail_shrink(y: float) -> float:
    """1 - y times Mills' ratio, by its asymptotic series; exact to the last bits from 35 on."""
    q = 1.0 / (y * y)
    return q * (1.0 - q * (3.0 - q * (15.0 - q * (105.0 - q * 945.0))))


def _cdf(x: float) -> float:
    return math.erfc(-x / _ROOT_2) / 2.0


def _pdf(x: float) -> float:
    return math.exp(-x * x / 2.0) / _ROOT_2_PI


# Many games


@dataclass(frozen=True, slots=True)
class Standing:
    """A player's rating on a ladder with the counts of its rated games."""

    rating: Rating
    wins: int = 0
    draws: int = 0
    losses: int = 0

    @property
    def games(self) -> int:
        return self.wins + self.draws + self.losses

    def after(self, rating: Rating, points: float) -> Standing:
        """This standing after one more game; ``points`` is 1, 0.5 or 0."""
        return replace(
            self,
            rating=rating,
            wins=self.wins + (points == 1.0),
            draws=self.draws + (points == 0.5),
            losses=self.losses + (points == 0.0),
        )


@dataclass(frozen=True, slots=True)
class Change:
    """The change of one player's rating by one game."""

    player: Player
    before: Rating
    after: Rating


@dataclass(frozen=True, slots=True)
class RatedGame:
    """One game to add to a fold: the players and the result."""

    white: Player
    black: Player
    result: Result


class Fold:
    """A ladder's table while games are added in their order.

    ``standings`` may hold the whole ladder, or only those of the two bots that played: a step reads no
    others.
    """

    def __init__(self, scale: Scale, standings: Mapping[Player, Standing] | None = None) -> None:
        self.scale = scale
        self.standings: dict[Player, Standing] = dict(standings or {})
        self._versions: dict[str, set[int]] = {}
        for name, number in self.standings:
            self._versions.setdefault(name, set()).add(number)

    def add(self, game: RatedGame) -> tuple[Change, Change]:
        """Rate one more game; White's change first. Raises ``ValueError`` for a player against himself."""
        if game.white == game.black:
            raise ValueError(f"{game.white[0]!r} cannot be rated against itself")
        white, black = self._standing(game.white), self._standing(game.black)
        after_white, after_black = self.scale.rate(white.rating, black.rating, game.result)
        points = POINTS[game.result]
        self._store(game.white, white.after(after_white, points))
        self._store(game.black, black.after(after_black, 1.0 - points))
        return (
            Change(game.white, white.rating, after_white),
            Change(game.black, black.rating, after_black),
        )

    def _standing(self, player: Player) -> Standing:
        if player in self.standings:
            return self.standings[player]
        name, number = player
        rated = {other: self.standings[name, other].rating for other in self._versions.get(name, ())}
        return Standing(first_rating(number, rated))

    def _store(self, player: Player, standing: Standing) -> None:
        self.standings[player] = standing
        self._versions.setdefault(player[0], set()).add(player[1])


def first_rating(number: int, rated: Mapping[int, Rating]) -> Rating:
    """The rating with which version ``number`` starts; ``rated`` has its bot's rated versions by number.

    It is the rating of the latest earlier rated version, less certain; the default if there is none.
    """
    earlier = [other for other in rated if other < number]
    if not earlier:
        return Rating()
    parent = rated[max(earlier)]
    return Rating(parent.mu, max(NEW_VERSION_SIGMA, parent.sigma))


POINTS: Mapping[Result, float] = {Result.WHITE_WINS: 1.0, Result.DRAW: 0.5, Result.BLACK_WINS: 0.0}
"""White's points."""


def fingerprint(white: Player, black: Player, start: str, moves: Iterable[str]) -> str:
    """Equal for games that repeat each other exactly: players, colours, start position and moves.

    Two deterministic bots can repeat a game for ever; only the first is rated.
    """
    text = "\n".join((f"{white[0]} {white[1]}", f"{black[0]} {black[1]}", start, " ".join(moves)))
    return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()
