"""The tables of a tournament's page: for each ladder the standings, the meetings and the bracket."""

from __future__ import annotations

from collections.abc import Sequence

from django.db.models import F

from engines.arithmetic.ratings import Fold, RatedGame, Standing, tournament_scale
from engines.arithmetic.standings import crosstable
from engines.pairing.knockout import KnockoutMatch, rounds_survived
from engines.pairing.results import MeetingResult, find_byes
from engines.rules.base import Result
from tournament.formats.base import StandingsTable
from tournament.models import BotVersion, Game, Tournament
from tournament.services.schedule.meetings import (
    PlayedMeeting,
    absent_seeds,
    match_length,
    meetings_of,
    seeded_results,
)

BATCH = 1_000
"""Games that are read at once."""


def tables_of(tournament: Tournament, versions: Sequence[BotVersion]) -> list[StandingsTable]:
    """The tables of all ladders without ratings, from one query."""
    met = meetings_of(tournament)
    return [_table(tournament, code, versions, met.get(code, [])) for code in tournament.ladders]


def _table(
    tournament: Tournament,
    code: str,
    versions: Sequence[BotVersion],
    played: Sequence[PlayedMeeting],
) -> StandingsTable:
    order, scores = tournament.format.order, [(one.one, one.other, one.score) for one in played]
    seeded, ids = seeded_versions(tournament, code, versions), tournament.seeds.get(code)
    if not ids:
        return StandingsTable(code, seeded, crosstable(list(seeded), scores, order=order))
    met = seeded_results(ids, played)
    if tournament.format.has_bracket:
        bracket = bracket_of(tournament, code, met)
        won = {ids[seed - 1]: number for seed, number in rounds_survived(len(ids), bracket).items()}
        table = crosstable(ids, scores, order=order, matches=won)
        return StandingsTable(code, seeded, table, met, bracket=bracket)
    absent = absent_seeds(tournament, code)
    byes = {
        ids[seed - 1]: [tournament.games_a_meeting] * len(rounds)
        for seed, rounds in find_byes(len(ids), met, absent).items()
    }
    meetings = [(ids[one.first - 1], ids[one.second - 1]) for one in met]
    table = crosstable(ids, scores, order=order, meetings=meetings, byes=byes)
    return StandingsTable(code, seeded, table, met, absent)


def seeded_versions(
    tournament: Tournament, code: str, versions: Sequence[BotVersion]
) -> dict[int, BotVersion]:
    """Those that play on this ladder by id, in the order of their seeds, or else as given."""
    by_id = {version.pk: version for version in versions if version.plays(code)}
    ids = tournament.seeds.get(code)
    return {pk: by_id[pk] for pk in ids} if ids else by_id


def bracket_of(tournament: Tournament, code: str, met: Sequence[MeetingResult]) -> list[list[KnockoutMatch]]:
    """The rounds of a knock-out that has begun; empty for other formats."""
    ids = tournament.seeds.get(code)
    if not ids:
        return []
    return tournament.format.bracket(len(ids), met, match_length(tournament), absent_seeds(tournament, code))


def tournament_table(tournament: Tournament, ladder: str) -> dict[int, Standing]:
    """A tournament's own ratings on a ladder, by version id.

    Folded in the order of the schedule without drift, so that the same games give the same table
    in whatever order they finished.
    """
    games = (
        Game.objects.counted()
        .filter(tournament=tournament, ladder_id=ladder)
        .exclude(white_id=F("black_id"))
        .order_by("id")
        .values_list("white_id", "black_id", "result")
    )
    fold = Fold(tournament_scale(ladder))
    for white, black, result in games.iterator(BATCH):
        fold.add(RatedGame((str(white), 1), (str(black), 1), Result(result or "*")))
    return {int(name): standing for (name, _), standing in fold.standings.items()}
