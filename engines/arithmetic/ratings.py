"""Ratings: TrueSkill for two players in closed form, and the fold over a ladder's games.

The arithmetic is TrueSkill's (Herbrich, Minka, Graepel 2006) for one game between two
players, for which its factor graph has a closed form. The ``trueskill`` package on an exact backend
defines the correct values. Over 30,000 random games (mu 0 to 50, sigma 0.5 to 9,
draws from 0.1 to 89 %) the closed form agrees with it within 5e-13 for wins and 3.2e-11 for draws, most of
it the package's own rounding for narrow draw margins.

Constants: mu 25, sigma 25/3, beta 25/6 (the paper's). tau is 0.008 on ladders and 0 in a
tournament's own table: the default 25/300 weights late games so much that the order of games decides
ranks. The published number is mu - 3 sigma.

No database here: the record keeper and a rebuild take the same steps, so they
get the same bits.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from statistics import NormalDist
from typing import NamedTuple

from engines.rules.base import Result
from engines.rules.registry import GAMES

MU = 25.0
SIGMA = MU / 3
BETA = MU / 6
LADDER_TAU = 0.008
"""Stored ratings keep the value with which they were made: after a change they are rebuilt."""
NEW_VERSION_SIGMA = 3.0
"""A new version starts with its predecessor's mean, and with at least this standard deviation."""

SETTLED_SIGMA = 1.5
"""Reached after about 30 games between equals from an unknown strength, about 20 for a bot's new version."""
SETTLED_GAMES = 60
"""A rating counts as settled after so many games even if sigma stays large, as against much weaker
players."""

DEFAULT_DRAW_PROBABILITY = 0.10
"""The draw probability of a ladder whose game is no longer registered."""

Player = tuple[str, int]
"""A bot's name and the number of its version: the identity of a player in records."""

Numbers = tuple[float, float, float, float]
"""mu and sigma of one player, then of the other."""

_WHITE_WINS, _DRAW, _BLACK_WINS = Result.WHITE_WINS, Result.DRAW, Result.BLACK_WINS
_exp, _erfc, _sqrt = math.exp, math.erfc, math.sqrt
_TWO_BETA_2 = 2.0 * BETA * BETA
_ROOT_2 = math.sqrt(2.0)
_ROOT_2_PI = math.sqrt(2.0 * math.pi)
_TAIL = 35.0
"""Standard deviations beyond which the tail is computed from its series: erfc is near its underflow."""
_NORMAL = NormalDist()


class Rating(NamedTuple):
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
        numbers = self.step(white.mu, white.sigma, black.mu, black.sigma, result)
        return Rating(*numbers[:2]), Rating(*numbers[2:])

    def step(
        self, white_mu: float, white_sigma: float, black_mu: float, black_sigma: float, result: Result
    ) -> Numbers:
        """The same for plain numbers, which a fold of millions of games needs: mu and sigma of both."""
        drift = self.tau * self.tau
        if result is _WHITE_WINS:
            return _won(white_mu, white_sigma, black_mu, black_sigma, drift, self.margin)
        if result is _DRAW:
            return _drawn(white_mu, white_sigma, black_mu, black_sigma, drift, self.margin)
        if result is _BLACK_WINS:
            black_mu, black_sigma, white_mu, white_sigma = _won(
                black_mu, black_sigma, white_mu, white_sigma, drift, self.margin
            )
            return white_mu, white_sigma, black_mu, black_sigma
        raise ValueError(f"a game without a result cannot be rated: {str(result)!r}")


def is_provisional(sigma: float, games: int) -> bool:
    """Whether a rating is still too uncertain for a rank: wider than plus or minus 3 ``SETTLED_SIGMA``."""
    return sigma > SETTLED_SIGMA and games < SETTLED_GAMES


def ladder_scale(ladder: str) -> Scale:
    return Scale(LADDER_TAU, _draw_probability(ladder))


def tournament_scale(ladder: str) -> Scale:
    """The scale of a tournament's own table, without drift: strengths do not change while it lasts."""
    return Scale(0.0, _draw_probability(ladder))


def _draw_probability(ladder: str) -> float:
    return GAMES[ladder].draw_probability if ladder in GAMES else DEFAULT_DRAW_PROBABILITY


# One game


# Written out in full, because these two functions take half of a fold's time.


def _won(
    winner_mu: float, winner_sigma: float, loser_mu: float, loser_sigma: float, drift: float, margin: float
) -> Numbers:
    """Winner and loser after a decided game; ``drift`` is a variance."""
    s1 = winner_sigma * winner_sigma + drift
    s2 = loser_sigma * loser_sigma + drift
    c = _sqrt(_TWO_BETA_2 + s1 + s2)
    x = (winner_mu - loser_mu - margin) / c
    if x < -_TAIL:
        v, w = _far_win_factors(x)
    else:
        v = _exp(-x * x / 2.0) / _ROOT_2_PI / (_erfc(-x / _ROOT_2) / 2.0)
        w = v * (v + x)
    square = c * c
    return (
        winner_mu + s1 / c * v,
        _sqrt(s1 * (1.0 - s1 / square * w)),
        loser_mu - s2 / c * v,
        _sqrt(s2 * (1.0 - s2 / square * w)),
    )


def _drawn(
    white_mu: float, white_sigma: float, black_mu: float, black_sigma: float, drift: float, margin: float
) -> Numbers:
    s1 = white_sigma * white_sigma + drift
    s2 = black_sigma * black_sigma + drift
    c = _sqrt(_TWO_BETA_2 + s1 + s2)
    v, w = _draw_factors((white_mu - black_mu) / c, margin / c)
    square = c * c
    return (
        white_mu + s1 / c * v,
        _sqrt(s1 * (1.0 - s1 / square * w)),
        black_mu - s2 / c * v,
        _sqrt(s2 * (1.0 - s2 / square * w)),
    )


def _far_win_factors(x: float) -> tuple[float, float]:
    """v and w of a surprising win: mean and variance shift of a normal truncated at ``x``, far below 0."""
    shrink = _tail_shrink(-x)
    v = -x / (1.0 - shrink)
    return v, v * (-x * shrink / (1.0 - shrink))


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
    best: float = 0.0
    """The highest published rating after any of these games; at least 0."""

    @property
    def games(self) -> int:
        return self.wins + self.draws + self.losses


class Change(NamedTuple):
    """The change of one player's rating by one game."""

    player: Player
    before: Rating
    after: Rating


class RatedGame(NamedTuple):
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
        self._rows: dict[Player, _Row] = {}
        self._versions: dict[str, set[int]] = {}
        for player, standing in (standings or {}).items():
            counts = [standing.wins, standing.draws, standing.losses]
            self._rows[player] = _Row(*standing.rating, counts, standing.best)
            self._versions.setdefault(player[0], set()).add(player[1])

    @property
    def standings(self) -> dict[Player, Standing]:
        """The whole table as it is now; a new one at each call."""
        return {player: row.standing() for player, row in self._rows.items()}

    def add(self, game: RatedGame) -> tuple[Change, Change]:
        """Rate one more game; White's change first. Raises ``ValueError`` for a player against himself."""
        white, black, result = game
        before, after = self.step(white, black, result)
        return (
            Change(white, Rating(*before[:2]), Rating(*after[:2])),
            Change(black, Rating(*before[2:]), Rating(*after[2:])),
        )

    def step(self, white: Player, black: Player, result: Result) -> tuple[Numbers, Numbers]:
        """Rate one more game; returns the numbers before and after it. The faster form of ``add``."""
        if white == black:
            raise ValueError(f"{white[0]!r} cannot be rated against itself")
        one = self._rows.get(white) or self._newcomer(white)
        other = self._rows.get(black) or self._newcomer(black)
        before = one.mu, one.sigma, other.mu, other.sigma
        after = self.scale.step(*before, result)
        one.mu, one.sigma, other.mu, other.sigma = after
        one.best = max(one.best, one.mu - 3 * one.sigma)
        other.best = max(other.best, other.mu - 3 * other.sigma)
        column = _COLUMNS[result]
        one.counts[column] += 1
        other.counts[2 - column] += 1
        if not one.is_known:
            self._know(white, one)
        if not other.is_known:
            self._know(black, other)
        return before, after

    def _newcomer(self, player: Player) -> _Row:
        """The row with which a player starts; the table has it after its first game."""
        name, number = player
        rows = {other: self._rows[name, other] for other in self._versions.get(name, ())}
        rated = {other: Rating(row.mu, row.sigma) for other, row in rows.items()}
        return _Row(*first_rating(number, rated), [0, 0, 0], 0.0, is_known=False)

    def _know(self, player: Player, row: _Row) -> None:
        row.is_known = True
        self._rows[player] = row
        self._versions.setdefault(player[0], set()).add(player[1])


class OwnTable:
    """A tournament's own ratings on a ladder while games are added in the order of the schedule.

    Without drift, so that the same games give the same table in whatever order they finished.
    """

    def __init__(self, ladder: str) -> None:
        self.ladder = ladder
        self._fold = Fold(tournament_scale(ladder))

    def add(self, white: int, black: int, result: Result) -> None:
        """Rate one more game; one of a player against himself is left out."""
        if white != black:
            self._fold.step((str(white), 1), (str(black), 1), result)

    @property
    def standings(self) -> dict[int, Standing]:
        """By player; a new one at each call."""
        return {int(name): standing for (name, _), standing in self._fold.standings.items()}


def own_table(ladder: str, games: Iterable[tuple[int, int, Result]]) -> dict[int, Standing]:
    """A tournament's own ratings on a ladder by player, from (White, Black, result)."""
    table = OwnTable(ladder)
    for game in games:
        table.add(*game)
    return table.standings


class _Row:
    """A standing that changes in place: a new object for each game would take most of a fold's time."""

    __slots__ = ("best", "counts", "is_known", "mu", "sigma")

    def __init__(
        self, mu: float, sigma: float, counts: list[int], best: float, *, is_known: bool = True
    ) -> None:
        self.mu = mu
        self.sigma = sigma
        self.counts = counts
        """Wins, draws, losses."""
        self.best = best
        self.is_known = is_known

    def standing(self) -> Standing:
        wins, draws, losses = self.counts
        return Standing(Rating(self.mu, self.sigma), wins, draws, losses, self.best)


def first_rating(number: int, rated: Mapping[int, Rating]) -> Rating:
    """The rating with which version ``number`` starts; ``rated`` has its bot's rated versions by number.

    It is the rating of the latest earlier rated version, less certain; the default if there is none.
    """
    earlier = [other for other in rated if other < number]
    if not earlier:
        return Rating()
    parent = rated[max(earlier)]
    return Rating(parent.mu, max(NEW_VERSION_SIGMA, parent.sigma))


_COLUMNS = {Result.WHITE_WINS: 0, Result.DRAW: 1, Result.BLACK_WINS: 2}
"""Where a result is counted among White's wins, draws and losses."""
POINTS: Mapping[Result, float] = {Result.WHITE_WINS: 1.0, Result.DRAW: 0.5, Result.BLACK_WINS: 0.0}
"""White's points."""


def fingerprint(white: Player, black: Player, start: str, moves: Iterable[str]) -> str:
    """Equal for games that repeat each other exactly: players, colours, start position and moves.

    Two deterministic bots can repeat a game for ever; only the first is rated.
    """
    text = "\n".join((f"{white[0]} {white[1]}", f"{black[0]} {black[1]}", start, " ".join(moves)))
    return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()
