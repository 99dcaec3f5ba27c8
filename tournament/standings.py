"""Crosstables: who scored what against whom. Pure; the pages draw what is made here."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from engines.rules.base import Result


@dataclass(frozen=True, slots=True)
class Tally:
    """How often one pairing of colours ended one way; ``white`` and ``black`` are players' ids."""

    white: int
    black: int
    result: Result
    count: int = 1


@dataclass(slots=True)
class Score:
    """Wins, draws and losses, from one player's side."""

    wins: int = 0
    draws: int = 0
    losses: int = 0

    @property
    def games(self) -> int:
        return self.wins + self.draws + self.losses

    @property
    def points(self) -> float:
        return self.wins + self.draws / 2

    @property
    def share(self) -> float:
        """Points a game; 0 before the first."""
        return self.points / self.games if self.games else 0.0

    def add(self, result: Result, *, as_white: bool, count: int = 1) -> None:
        if result is Result.DRAW:
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
    """From 1; equal where points and Sonneborn-Berger are."""
    score: Score = field(default_factory=Score)
    as_white: Score = field(default_factory=Score)
    as_black: Score = field(default_factory=Score)
    versus: dict[int, Score] = field(default_factory=dict)
    """By opponent; whoever was not met is missing."""
    sonneborn_berger: float = 0.0
    """The points of those beaten, and half of those drawn with, game by game."""

    @property
    def performance(self) -> int | None:
        """Elo above the field met, None before the first game.

        Counted as if one more game had been drawn, so that a clean score is finite too.
        """
        if not self.score.games:
            return None
        share = (self.score.points + 0.5) / (self.score.games + 1)
        return round(400 * math.log10(share / (1 - share)))


@dataclass(frozen=True, slots=True)
class Crosstable:
    """The rows, best first."""

    rows: tuple[Row, ...]

    @property
    def games(self) -> int:
        return sum(row.score.games for row in self.rows) // 2


def crosstable(players: Sequence[int], tallies: Iterable[Tally]) -> Crosstable:
    """The table of these players, in their order where all else is equal.

    Games of anybody else, of a player against himself and without a result are left out.
    """
    rows = {player: Row(player) for player in players}
    for tally in tallies:
        _count(rows, tally)
    for row in rows.values():
        row.sonneborn_berger = sum(
            (score.wins + score.draws / 2) * rows[opponent].score.points
            for opponent, score in row.versus.items()
        )
    ordered = sorted(rows.values(), key=_order)
    for place, row in enumerate(ordered):
        above = ordered[place - 1] if place else None
        row.rank = above.rank if above is not None and _order(above) == _order(row) else place + 1
    return Crosstable(tuple(ordered))


def _count(rows: dict[int, Row], tally: Tally) -> None:
    white, black = rows.get(tally.white), rows.get(tally.black)
    if white is None or black is None or white is black or tally.result is Result.UNDECIDED:
        return
    for row, opponent, as_white in ((white, black, True), (black, white, False)):
        colour = row.as_white if as_white else row.as_black
        against = row.versus.setdefault(opponent.player, Score())
        for score in (row.score, colour, against):
            score.add(tally.result, as_white=as_white, count=tally.count)


def _order(row: Row) -> tuple[float, float]:
    return -row.score.points, -row.sonneborn_berger
