"""The tables of a tournament's page: for each ladder the standings, the meetings and the bracket."""

from __future__ import annotations

from collections.abc import Sequence

from engines.arithmetic.ratings import Standing, own_table
from engines.formats.meetings import PlayedMeeting
from engines.formats.tables import event_table
from engines.rules.base import Result
from tournament.formats.base import StandingsTable
from tournament.models import BotVersion, Game, Tournament
from tournament.services.schedule.meetings import meetings_of, round_terms

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
    seeded = seeded_versions(tournament, code, versions)
    rounds = round_terms(tournament, code) if tournament.seeds.get(code) else None
    table = event_table(tournament.format, list(seeded), played, rounds)
    absent = rounds.absent if rounds else {}
    return StandingsTable(code, seeded, table.crosstable, table.met, absent, table.bracket)


def seeded_versions(
    tournament: Tournament, code: str, versions: Sequence[BotVersion]
) -> dict[int, BotVersion]:
    """Those that play on this ladder by id, in the order of their seeds, or else as given."""
    by_id = {version.pk: version for version in versions if version.plays(code)}
    ids = tournament.seeds.get(code)
    return {pk: by_id[pk] for pk in ids} if ids else by_id


def tournament_table(tournament: Tournament, ladder: str) -> dict[int, Standing]:
    """A tournament's own ratings on a ladder, by version id."""
    games = (
        Game.objects.counted()
        .filter(tournament=tournament, ladder_id=ladder)
        .order_by("id")
        .values_list("white_id", "black_id", "result")
    )
    rows = games.iterator(BATCH)
    return own_table(ladder, ((white, black, Result(result or "*")) for white, black, result in rows))
