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
from engines.pairing.knockout import KnockoutMatch
from engines.pairing.results import find_byes
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
    if table.bracket:
        for number, drawn in enumerate(table.bracket, start=1):
            for match in drawn:
                yield _match(table, number, match)
        return
    byes = find_byes(len(table.versions), table.met, table.absent)
    for number in sorted({one.round for one in table.met}):
        for met in sorted((one for one in table.met if one.round == number), key=lambda one: one.first):
            points = (met.first_points, met.second_points) if met.first_points + met.second_points else _NONE
            yield _pairing(table, number, (met.first, met.second), points)
        for seed, rounds in byes.items():
            if number in rounds:
                yield _pairing(table, number, (seed, None), _NONE, note="bye")


_NONE = (None, None)


def _match(table: StandingsTable, number: int, match: KnockoutMatch) -> EvidencePairing:
    is_played = match.first_points + match.second_points > 0
    points = (match.first_points, match.second_points) if is_played else _NONE
    seeds = (match.first, match.second)
    return _pairing(
        table, number, seeds, points, winner=match.winner if match.is_over else None, note=match.note
    )


def _pairing(
    table: StandingsTable,
    number: int,
    seeds: tuple[int | None, int | None],
    points: tuple[float | None, float | None],
    *,
    winner: int | None = None,
    note: str = "",
) -> EvidencePairing:
    one, other, won = (None if seed is None else name_of(table.seeded(seed)) for seed in (*seeds, winner))
    first, second = (seeds[0], one, points[0]), (seeds[1], other, points[1])
    return EvidencePairing(table.ladder, number, *first, *second, won, note)
