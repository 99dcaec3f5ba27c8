"""Standings: crosstables and the order of players. Pure functions; the pages draw the tables."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum

from engines.rules.base import Result


class Criterion(Enum):
    """Criteria for the order of players; a higher value is better in each.

    Each has a function of a row and the rows that are equal so far, and if tables show it a heading and a
    meaning. Its column in files has the member's name.
    """

    POINTS = (lambda row, _: row.points,)
    """One for a win, half for a draw; byes and halted games included."""
    SHARE = (lambda row, _: row.score.share,)
    """Points for each game, for players with different numbers of games."""
    BUCHHOLZ = (lambda row, _: row.buchholz, "Buch.", "Buchholz: the points of the opponents met")
    """The points of the opponents, once for each meeting; a bye counts as a meeting with oneself."""
    SONNEBORN_BERGER = (
        lambda row, _: row.sonneborn_berger,
        "SB",
        "Sonneborn-Berger: the points of the opponents beaten, half of those drawn with",
    )
    """The points of beaten opponents and half of those of drawn ones, game by game; a bye as above."""
    DIRECT_ENCOUNTER = (lambda row, group: _among(row, group),)
    """Points from the games among players who are still equal, if each has met every other."""
    MATCHES_WON = (lambda row, _: row.matches, "Won", "matches won, byes included")
    """The wins of matches in a knock-out."""

    def __init__(
        self,
        value_of: Callable[[StandingsRow, Sequence[StandingsRow]], float],
        heading: str = "",
        meaning: str = "",
    ) -> None:
        self.value_of, self.heading, self.meaning = value_of, heading, meaning


Order = tuple[Criterion, ...]
BY_POINTS: Order = (Criterion.POINTS, Criterion.SONNEBORN_BERGER, Criterion.DIRECT_ENCOUNTER)


@dataclass(slots=True)
class GameScore:
    """Wins, draws and losses, from one player's side, and games that were not played."""

    wins: int = 0
    draws: int = 0
    losses: int = 0
    given_up: int = 0
    """Halted games, half a point for both."""
    walkovers: int = 0
    """Games won without being played, as against a withdrawn version: points that show no strength."""
    defaults: int = 0
    """Games lost without being played."""

    @property
    def games(self) -> int:
        """Played games."""
        return self.wins + self.draws + self.losses

    @property
    def not_played(self) -> int:
        return self.given_up + self.walkovers + self.defaults

    @property
    def total(self) -> int:
        """The number of games that the points are from."""
        return self.wins + self.draws + self.losses + self.given_up + self.walkovers + self.defaults

    @property
    def points(self) -> float:
        return self.wins + self.walkovers + (self.draws + self.given_up) / 2

    @property
    def share(self) -> float:
        """Points for each game; 0 before the first."""
        return self.points / self.total if self.total else 0.0

    def __add__(self, other: GameScore) -> GameScore:
        return sum_scores((self, other))

    def reversed(self) -> GameScore:
        """The same from the opponent's side."""
        return GameScore(self.losses, self.draws, self.wins, self.given_up, self.defaults, self.walkovers)

    def add(self, result: Result, *, as_white: bool) -> None:
        """Count a played game."""
        if result is Result.DRAW:
            self.draws += 1
        elif (result is Result.WHITE_WINS) == as_white:
            self.wins += 1
        else:
            self.losses += 1


_NUMBERS = operator.attrgetter("wins", "draws", "losses", "given_up", "walkovers", "defaults")


def sum_scores(scores: Iterable[GameScore]) -> GameScore:
    """A new score; fast for many."""
    return GameScore(*map(sum, zip(*map(_NUMBERS, scores), strict=True)))


@dataclass(slots=True)
class StandingsRow:
    """One player's line of the table."""

    player: int
    rank: int = 0
    """The rank from 1; the same for players who are equal in all criteria."""
    score: GameScore = field(default_factory=GameScore)
    versus: dict[int, GameScore] = field(default_factory=dict)
    """The score against each opponent; opponents who were not met are missing."""
    byes: int = 0
    bye_points: int = 0
    matches: int = 0
    """Matches won in a knock-out."""
    buchholz: float = 0.0
    sonneborn_berger: float = 0.0

    @property
    def points(self) -> float:
        return self.score.points + self.bye_points

    @property
    def performance(self) -> int | None:
        """See ``performance``; walkovers do not count."""
        return performance(self.score.wins + self.score.draws / 2, self.score.games)


def performance(points: float, games: int) -> int | None:
    """Elo above the mean of the opponents; None without games.

    Computed as if one more game had been drawn, so that a score without losses or wins is finite too.
    """
    if not games:
        return None
    share = (points + 0.5) / (games + 1)
    return round(400 * math.log10(share / (1 - share)))


@dataclass(frozen=True, slots=True)
class Crosstable:
    """The rows, best first."""

    rows: tuple[StandingsRow, ...]

    @property
    def games(self) -> int:
        """Those that were not given up."""
        return sum(row.score.total - row.score.given_up for row in self.rows) // 2


def crosstable(
    players: Sequence[int],
    scores: Iterable[tuple[int, int, GameScore]],
    *,
    order: Order = BY_POINTS,
    meetings: Iterable[tuple[int, int]] = (),
    byes: Mapping[int, Sequence[int]] | None = None,
    matches: Mapping[int, int] | None = None,
) -> Crosstable:
    """The table of these players; players who are equal in all criteria keep the given order.

    ``scores`` are of two players, from the side of the first; other players' are left out. ``meetings`` are
    for Buchholz, ``byes`` the points of each player's byes, ``matches`` the matches won.
    """
    rows = {player: StandingsRow(player) for player in players}
    for one, other, score in scores:
        if one in rows and other in rows and one != other and score.total:
            _count(rows[one].versus, other, score)
            _count(rows[other].versus, one, score.reversed())
    for row in rows.values():
        free = (byes or {}).get(row.player, ())
        row.score = sum_scores(row.versus.values())
        row.byes, row.bye_points = len(free), sum(free)
        row.matches = (matches or {}).get(row.player, 0)
    points = {player: row.points for player, row in rows.items()}
    for row in rows.values():
        row.buchholz = row.byes * row.points
        row.sonneborn_berger = row.bye_points * row.points + sum(
            score.points * points[opponent] for opponent, score in row.versus.items()
        )
    for first, second in meetings:
        rows[first].buchholz += rows[second].points
        rows[second].buchholz += rows[first].points
    return Crosstable(tuple(_ranked(list(rows.values()), order)))


def _count(versus: dict[int, GameScore], opponent: int, score: GameScore) -> None:
    versus[opponent] = versus[opponent] + score if opponent in versus else score


def _ranked(rows: list[StandingsRow], order: Order) -> list[StandingsRow]:
    """The rows with their ranks: each criterion orders players who are equal in all criteria before it."""
    groups = [rows]
    for criterion in order:
        groups = [part for group in groups for part in _parted(group, criterion)]
    rank = 1
    for group in groups:
        for row in group:
            row.rank = rank
        rank += len(group)
    return [row for group in groups for row in group]


def _parted(group: list[StandingsRow], criterion: Criterion) -> list[list[StandingsRow]]:
    """Groups of equal rows, the best first, each in its former order."""
    parts: dict[float, list[StandingsRow]] = {}
    for row in group:
        parts.setdefault(criterion.value_of(row, group), []).append(row)
    return [parts[value] for value in sorted(parts, reverse=True)]


def _among(row: StandingsRow, group: Sequence[StandingsRow]) -> float:
    """Points from games within a group; 0 for all of them unless each has met every other."""
    others = {other.player for other in group}
    if any(len(others & one.versus.keys()) < len(others) - 1 for one in group):
        return 0.0
    return sum(row.versus[other].points for other in others if other != row.player)


def format_points(points: float) -> str:
    """``3``, ``3½``, ``½``."""
    whole, half = divmod(round(points * 2), 2)
    return f"{whole or ''}½" if half else str(whole)
