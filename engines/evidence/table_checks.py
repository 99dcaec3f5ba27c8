"""Recomputes the tables of a tournament: standings with tie-breaks, crosstable, and pairings by round."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

from engines.arithmetic.standings import GameScore
from engines.evidence.archive import EvidenceArchive
from engines.evidence.compare import compare_rows
from engines.evidence.format import (
    EVENT,
    EvidenceCross,
    EvidenceGame,
    EvidencePairing,
    EvidenceStanding,
)
from engines.evidence.lists import read_entries
from engines.evidence.pairings import pairing_rows
from engines.evidence.played_games import GameCheck
from engines.evidence.rating_checks import RatingCheck
from engines.evidence.report import EvidenceReport
from engines.evidence.schedule_checks import ENDED, Players, scheduled
from engines.formats.meetings import ScheduledGame, count_meetings
from engines.formats.tables import EventTable, event_table
from engines.records import Record

STANDINGS, CROSSTABLE, PAIRINGS = (f"tables/{name}.jsonl" for name in ("standings", "crosstable", "pairings"))


class TableCheck(GameCheck):
    """Counts the results of each two players, and makes the tables from these."""

    name = "tables"

    def __init__(
        self, report: EvidenceReport, archive: EvidenceArchive, players: Players, ratings: RatingCheck
    ) -> None:
        super().__init__(report)
        self._archive, self._players, self._ratings = archive, players, ratings
        self._games: dict[str, Counter[ScheduledGame]] = {
            ladder: Counter() for ladder in players.event.ladders if ratings.knows(ladder)
        }
        self._withdrawn = {entry.version for entry in read_entries(archive) if entry.withdrawn}

    def add(self, row: EvidenceGame, record: Record | None) -> None:
        if row.ladder not in self._games:
            return
        game = scheduled(self._players, row, record, is_annulled=row.annulled)
        if not self._players.form.is_staged:
            game = game._replace(round=0)  # so that there are few different ones
        self._games[row.ladder][game] += 1

    def computed(self) -> dict[str, Iterable[object]]:
        """The rows of each file."""
        tables = {ladder: self._table(ladder) for ladder in self._games}
        return {
            STANDINGS: self._standings(tables),
            CROSSTABLE: self._crosstable(tables),
            PAIRINGS: self._pairings(tables),
        }

    def end(self) -> None:
        unknown, criteria = self._ratings.unknown, self._players.event.criteria
        if criteria != (order := tuple(one.name.lower() for one in self._players.form.order)):
            self.check.differs(
                f"{EVENT}: the criteria are {', '.join(criteria)}; the format has {', '.join(order)}"
            )
        counts = [
            f"{compare_rows(self.check, self._archive, name, rows, unchecked=unknown)} rows of {name}"
            for name, rows in self.computed().items()
        ]
        self.check.ok(f"points, tie-breaks and places agree: {', '.join(counts)}")
        super().end()

    def _table(self, ladder: str) -> EventTable:
        players, event = self._players, self._players.event
        played = count_meetings(players.form, self._games[ladder].elements())
        extra = 0 if event.state in ENDED else event.extra_pairs
        rounds = players.terms(ladder, extra=extra) if players.is_drawn(ladder) else None
        return event_table(players.form, players.entered[ladder], played, rounds)

    def _standings(self, tables: Mapping[str, EventTable]) -> Iterator[EvidenceStanding]:
        for ladder, table in tables.items():
            ratings = self._ratings.published(ladder)
            for rank, row in self._players.form.ranked_rows(table.crosstable, self._players.entered[ladder]):
                version = self._players.name(row.player)
                yield EvidenceStanding(
                    ladder,
                    rank,
                    version,
                    row.points,
                    *_numbers(row.score),
                    row.byes,
                    row.buchholz,
                    row.sonneborn_berger,
                    row.matches,
                    row.performance,
                    ratings.get(version),
                    version in self._withdrawn,
                )

    def _crosstable(self, tables: Mapping[str, EventTable]) -> Iterator[EvidenceCross]:
        for ladder, table in tables.items():
            ranked = self._players.form.ranked_rows(table.crosstable, self._players.entered[ladder])
            rows = [row for _, row in ranked]
            for row in rows:
                for other in rows:
                    if score := row.versus.get(other.player):
                        both = self._players.name(row.player), self._players.name(other.player)
                        yield EvidenceCross(ladder, *both, score.points, *_numbers(score))

    def _pairings(self, tables: Mapping[str, EventTable]) -> Iterator[EvidencePairing]:
        for ladder, table in tables.items():
            versions = [self._players.name(player) for player in self._players.entered[ladder]]
            absent = self._players.absent(ladder)
            yield from pairing_rows(ladder, versions, table.met, absent, table.bracket)


def _numbers(score: GameScore) -> tuple[int, int, int, int, int]:
    return score.games, score.wins, score.draws, score.losses, score.not_played
