"""The tables of a tournament as its evidence has them: the same rows as its pages and its files."""

from __future__ import annotations

from collections.abc import Iterator

from engines.arithmetic.ratings import Standing
from engines.evidence.format import (
    EvidenceCross,
    EvidencePairing,
    EvidenceRating,
    EvidenceStanding,
    format_version,
    parse_version,
)
from engines.evidence.pairings import pairing_rows
from tournament.formats.base import StandingsTable
from tournament.models import BotVersion, Tournament
from tournament.services.schedule.tables import crossed, score_counts, standing_values


def name_of(version: BotVersion) -> str:
    """``NAME/NUMBER``."""
    return format_version(version.bot.name, version.number)


def standings(tournament: Tournament, table: StandingsTable) -> Iterator[EvidenceStanding]:
    for rank, row in tournament.format.ranked_rows(table.crosstable, list(table.versions)):
        version = name_of(table.versions[row.player])
        yield EvidenceStanding(table.ladder, rank, version, **standing_values(table, row))


def crosstable(tournament: Tournament, table: StandingsTable) -> Iterator[EvidenceCross]:
    for player, opponent, score in crossed(tournament, table):
        one, other = name_of(table.versions[player]), name_of(table.versions[opponent])
        yield EvidenceCross(table.ladder, one, other, score.points, *score_counts(score))


def ratings(
    ladder: str, versions: dict[int, BotVersion], found: dict[int, Standing]
) -> Iterator[EvidenceRating]:
    """In the order of the names."""
    named = {name_of(versions[pk]): one for pk, one in found.items()}
    for version in sorted(named, key=parse_version):
        one = named[version]
        counts = (one.wins, one.draws, one.losses)
        yield EvidenceRating(ladder, version, *one.rating, *counts, one.rating.conservative)


def pairings(table: StandingsTable) -> Iterator[EvidencePairing]:
    """The meetings of a Swiss or a knock-out, round by round; none of other formats."""
    versions = [name_of(version) for version in table.versions.values()]
    return pairing_rows(table.ladder, versions, table.met, table.absent, table.bracket)
