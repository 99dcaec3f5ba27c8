"""Standings: who scored what against whom, and in which order. Pure; the pages draw what is made here."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from engines.rules.base import Result


class Criterion(StrEnum):
    """What players are put in order by; more is better in each."""

    POINTS = "points"
    """A win is one, a draw half of one; byes and games given up included."""
    SHARE = "share"
    """Points a game, where players have not the same number of games."""
    BUCHHOLZ = "Buchholz"
    """The points of those met, once a meeting; a bye counts as having met oneself."""
    SONNEBORN_BERGER = "Sonneborn-Berger"
    """The points of those beaten and half of those drawn with, game by game; a bye as above."""
    DIRECT_ENCOUNTER = "direct encounter"
    """Points from the games among those who are still equal, if each has met every other."""
    MATCHES = "matches"
    """Matches won in a knock-out."""


Order = tuple[Criterion, ...]
ROUND_ROBIN: Order = (Criterion.POINTS, Criterion.SONNEBORN_BERGER, Criterion.DIRECT_ENCOUNTER)
GAUNTLET: Order = (Criterion.SHARE, Criterion.POINTS)
SWISS: Order = (Criterion.POINTS, Criterion.BUCHHOLZ, Criterion.SONNEBORN_BERGER, Criterion.DIRECT_ENCOUNTER)
KNOCK_OUT: Order = (Criterion.MATCHES,)


@dataclass(frozen=True, slots=True)
class Tally:
    """How often one pairing of colours ended one way; ``white`` and ``black`` are players' ids.

    Without a result: games that were given up, half a point for both.
    """

    white: int
    black: int
    result: Result
    count: int = 1


@dataclass(slots=True)
class Score:
    """Wins, draws and losses, from one player's side, and games that were given up."""

    wins: int = 0
    draws: int = 0
    losses: int = 0
    given_up: int = 0

    @property
    def games(self) -> int:
        """Those that were played."""
        return self.wins + self.draws + self.losses

    @property
    def points(self) -> float:
        return self.wins + (self.draws + self.given_up) / 2

    @property
    def share(self) -> float:
        """Points a game; 0 before the first."""
        games = self.games + self.given_up
        return self.points / games if games else 0.0

    def add(self, result: Result, *, as_white: bool, count: int = 1) -> None:
        if result is Result.UNDECIDED:
            self.given_up += count
        elif result is Result.DRAW:
            self.draws += count
        elif (result is Result.WHITE_WINS) == as_white:
            self.wins += count
        else:
            self.losses += count


@dataclass(slots=True)
class Row:
    """One player's line of the table."""

    player: int
    rank: int = 0
    """From 1; equal where no criterion tells players apart."""
    score: Score = field(default_factory=Score)
    as_white: Score = field(default_factory=Score)
    as_black: Score = field(default_factory=Score)
    versus: dict[int, Score] = field(default_factory=dict)
    """By opponent; whoever was not met is missing."""
    byes: int = 0
    bye_points: int = 0
    matches: int = 0
    """Won in a knock-out."""
    buchholz: float = 0.0
    sonneborn_berger: float = 0.0

    @property
    def points(self) -> float:
        return self.score.points + self.bye_points

    @property
    def performance(self) -> int | None:
        """Elo above the field met, None before the first game.

        Counted as if one more game had been drawn, so that a clean score is finite too.
        """
        games = self.score.games
        if not games:
            return None
        share = (self.score.wins + self.score.draws / 2 + 0.5) / (games + 1)
        return round(400 * math.log10(share / (1 - share)))


@dataclass(frozen=True, slots=True)
class Crosstable:
    """The rows, best first."""

    rows: tuple[Row, ...]

    @property
    def games(self) -> int:
        return sum(row.score.games for row in self.rows) // 2


def crosstable(
    players: Sequence[int],
    tallies: Iterable[Tally],
    *,
    order: Order = ROUND_ROBIN,
    meetings: Iterable[tuple[int, int]] = (),
    byes: Mapping[int, Sequence[int]] | None = None,
    matches: Mapping[int, int] | None = None,
) -> Crosstable:
    """The table of these players, in their order where all else is equal.

    ``meetings`` are for Buchholz, ``byes`` the points of each player's byes, ``matches`` those he won.
    Games of anybody else and of a player against himself are left out.
    """
    rows = {player: Row(player) for player in players}
    for tally in tallies:
        _count(rows, tally)
    for row in rows.values():
        points = (byes or {}).get(row.player, ())
        row.byes, row.bye_points = len(points), sum(points)
        row.matches = (matches or {}).get(row.player, 0)
    for row in rows.values():
        row.buchholz = row.byes * row.points
        row.sonneborn_berger = row.bye_points * row.points + sum(
            score.points * rows[opponent].points for opponent, score in row.versus.items()
        )
    for first, second in meetings:
        rows[first].buchholz += rows[second].points
        rows[second].buchholz += rows[first].points
    return Crosstable(tuple(_ranked(list(rows.values()), order)))


def _count(rows: dict[int, Row], tally: Tally) -> None:
    white, black = rows.get(tally.white), rows.get(tally.black)
    if white is None or black is None or white is black:
        return
    for row, opponent, as_white in ((white, black, True), (black, white, False)):
        colour = row.as_white if as_white else row.as_black
        against = row.versus.setdefault(opponent.player, Score())
        for score in (row.score, colour, against):
            score.add(tally.result, as_white=as_white, count=tally.count)


def _ranked(rows: list[Row], order: Order) -> list[Row]:
    """The rows with their ranks: each criterion parts those whom all before it leave equal."""
    groups = [rows]
    for criterion in order:
        groups = [part for group in groups for part in _parted(group, criterion)]
    rank = 1
    for group in groups:
        for row in group:
            row.rank = rank
        rank += len(group)
    return [row for group in groups for row in group]


def _parted(group: list[Row], criterion: Criterion) -> list[list[Row]]:
    """Groups of equal rows, the best first, each in the order they had."""
    parts: dict[float, list[Row]] = {}
    for row in group:
        parts.setdefault(_value(row, group, criterion), []).append(row)
    return [parts[value] for value in sorted(parts, reverse=True)]


def _value(row: Row, group: Sequence[Row], criterion: Criterion) -> float:
    match criterion:
        case Criterion.POINTS:
            return row.points
        case Criterion.SHARE:
            return row.score.share
        case Criterion.BUCHHOLZ:
            return row.buchholz
        case Criterion.SONNEBORN_BERGER:
            return row.sonneborn_berger
        case Criterion.DIRECT_ENCOUNTER:
            return _among(row, group)
        case Criterion.MATCHES:
            return row.matches


def _among(row: Row, group: Sequence[Row]) -> float:
    """Points from games within a group; 0 for all of them unless each has met every other."""
    others = {other.player for other in group}
    if any(len(others & one.versus.keys()) < len(others) - 1 for one in group):
        return 0.0
    return sum(row.versus[other].points for other in others if other != row.player)
