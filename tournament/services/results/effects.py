"""What follows recorded games: their formats name the effects, and here they are carried out.

All of it is part of the transaction that stores the results, in the order of the locks (``services.locks``),
and no other tournament is changed. What is due then, each in a transaction of its own, is in
``services.calendar``: the next round, the next pairs of a version test or its verdict, and the end of the
games of a version that was withdrawn. Games that end without a result have no effects but their count, see
``finishing.count_finished``.
"""

from __future__ import annotations

import datetime
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from engines.records import Fault, Record
from tournament.formats.base import GameEffect
from tournament.models import Attempt, Game, Ladder
from tournament.services.results.leaders import follow_leader
from tournament.services.results.ratings import RatedRow, rate
from tournament.services.results.withdrawal import count_forfeits
from tournament.services.schedule.finishing import count_finished
from tournament.services.schedule.meetings import count_results
from workers.jobs import GameReport


@dataclass(frozen=True, slots=True)
class Arrival:
    """A verified report with the record to publish."""

    attempt: Attempt
    """The attempt, loaded with its game and the game's players, tournament and pairing."""
    report: GameReport
    record: Record
    text: str
    """The record as PGN."""
    effects: set[GameEffect]

    @property
    def game(self) -> Game:
        return self.attempt.game


@dataclass(frozen=True, slots=True)
class RecordedGame:
    """An arrival with the values that are decided while storing it."""

    arrival: Arrival
    sequence: int
    """Its completion sequence in its ladder."""
    mark: str
    """Its fingerprint."""
    effects: set[GameEffect]
    """Those of the arrival; without a change of ratings if the game repeats another."""

    @property
    def rated(self) -> bool:
        return GameEffect.RATINGS in self.effects


def carry_out(games: Sequence[RecordedGame], now: datetime.datetime) -> None:
    """Carry out the effects of games, in their order; their ladders and tournaments are locked."""
    for effect, change in IN_ORDER.items():
        if concerned := [game for game in games if effect in game.effects]:
            change(concerned, now)


def _rate(games: Sequence[RecordedGame], now: datetime.datetime) -> None:
    rows: dict[Ladder, list[RatedRow]] = defaultdict(list)
    for one in games:
        game = one.arrival.game
        rows[game.ladder].append(RatedRow.of(game, one.sequence, one.arrival.report.result))
    for ladder in sorted(rows, key=lambda ladder: ladder.pk):
        rate(ladder.pk, rows[ladder])
        follow_leader(ladder, now)


def _count_forfeits(games: Sequence[RecordedGame], _now: datetime.datetime) -> None:
    count_forfeits((game.arrival.game, Fault(game.arrival.report.fault)) for game in games)


def _count_finished(games: Sequence[RecordedGame], _now: datetime.datetime) -> None:
    count_results((game.arrival.game, game.arrival.report.result) for game in games)
    for tournament, count in Counter(game.arrival.game.tournament_id for game in games).items():
        count_finished(tournament, count)


IN_ORDER: dict[GameEffect, Callable[[Sequence[RecordedGame], datetime.datetime], None]] = {
    GameEffect.RATINGS: _rate,
    GameEffect.FORFEITS: _count_forfeits,
    GameEffect.PROGRESS: _count_finished,
}
