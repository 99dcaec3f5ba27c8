"""The tables of a tournament's page: for each ladder the standings, the meetings and the bracket."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from django.db.models import Count, Q

from tournament.arithmetic import standings
from tournament.arithmetic.standings import Crosstable, Order, Tally, crosstable
from tournament.models import BotVersion, Game, Tournament
from tournament.services.schedule.meetings import counted_result, match_length, played_meetings
from workers.pairing.knockout import KnockoutMatch, draw_bracket, rounds_survived
from workers.pairing.results import MeetingResult, find_byes

ORDERS: dict[str, Order] = {
    Tournament.Kind.ROUND_ROBIN: standings.ROUND_ROBIN,
    Tournament.Kind.VALIDATION: standings.ROUND_ROBIN,
    Tournament.Kind.GAUNTLET: standings.GAUNTLET,
    Tournament.Kind.SWISS: standings.SWISS,
    Tournament.Kind.KNOCK_OUT: standings.KNOCK_OUT,
}


@dataclass(frozen=True, slots=True)
class StandingsTable:
    """The tables of one ladder of a tournament."""

    ladder: str
    versions: dict[int, BotVersion]
    """The players by id, in the order of their seeds or entries."""
    crosstable: Crosstable
    met: list[MeetingResult] = field(default_factory=list)
    """The meetings so far, players being seeds; empty unless the rounds are paired one by one."""
    bracket: list[list[KnockoutMatch]] = field(default_factory=list)
    """Only for a knock-out that has begun."""

    def seeded(self, seed: int) -> BotVersion:
        return list(self.versions.values())[seed - 1]


def tables_of(tournament: Tournament, versions: Sequence[BotVersion]) -> list[StandingsTable]:
    """The tables of all ladders, from one or two grouped queries."""
    tallies = _tallies(tournament)
    met = played_meetings(tournament) if tournament.seeds else {}
    return [
        _table(tournament, code, versions, tallies.get(code, []), met.get(code, []))
        for code in tournament.ladders
    ]


def _table(
    tournament: Tournament,
    code: str,
    versions: Sequence[BotVersion],
    tallies: Sequence[Tally],
    met: list[MeetingResult],
) -> StandingsTable:
    by_id = {version.pk: version for version in versions if version.plays(code)}
    order = ORDERS[tournament.kind]
    ids = tournament.seeds.get(code)
    if not ids:
        return StandingsTable(code, by_id, crosstable(list(by_id), tallies, order=order))
    seeded = {pk: by_id[pk] for pk in ids}
    if tournament.kind == Tournament.Kind.KNOCK_OUT:
        bracket = draw_bracket(len(ids), met, match_length(tournament))
        won = {ids[seed - 1]: number for seed, number in rounds_survived(len(ids), bracket).items()}
        return StandingsTable(code, seeded, crosstable(ids, tallies, order=order, matches=won), met, bracket)
    byes = {
        ids[seed - 1]: [tournament.games_a_meeting] * len(rounds)
        for seed, rounds in find_byes(len(ids), met).items()
    }
    meetings = [(ids[one.first - 1], ids[one.second - 1]) for one in met]
    return StandingsTable(
        code, seeded, crosstable(ids, tallies, order=order, meetings=meetings, byes=byes), met
    )


def _tallies(tournament: Tournament) -> dict[str, list[Tally]]:
    """Results by ladder, counted in the database, without annulled games.

    Halted games without a fault count as ``*``.
    """
    over = tournament.games.filter(Q(result__isnull=False, annulled=False) | Q(state=Game.State.HALTED))
    grouped = over.order_by().values_list("ladder", "white", "black", "result", "fault")
    tallies: dict[str, list[Tally]] = {}
    for ladder, white, black, result, fault, count in grouped.annotate(Count("id")):
        is_walkover = bool(not result and fault)
        tally = Tally(white, black, counted_result(result, fault), count, is_walkover)
        tallies.setdefault(ladder, []).append(tally)
    return tallies
