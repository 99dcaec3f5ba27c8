"""Recomputes the tables of a tournament: standings with tie-breaks, crosstable, and pairings by round."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

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
from engines.evidence.played_games import GameCheck
from engines.evidence.rating_checks import RatingCheck
from engines.evidence.report import EvidenceReport
from engines.evidence.schedule_checks import ENDED, Players, scheduled
from engines.formats.meetings import ScheduledGame, count_meetings
from engines.formats.tables import EventTable, event_table
from engines.pairing.results import MeetingResult, find_byes
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
            if table.bracket:
                yield from self._bracket(ladder, table)
            else:
                yield from self._rounds(ladder, table.met)

    def _bracket(self, ladder: str, table: EventTable) -> Iterator[EvidencePairing]:
        for drawn in table.bracket:
            for match in drawn:
                played = match.first_points + match.second_points > 0
                points = (match.first_points, match.second_points) if played else (None, None)
                is_single = match.is_over and match.second is None
                yield EvidencePairing(
                    ladder,
                    match.round,
                    *self._side(ladder, match.first, points[0]),
                    *self._side(ladder, None if is_single else match.second, points[1]),
                    None if match.winner is None else self._seeded(ladder, match.winner),
                    match.note,
                )

    def _rounds(self, ladder: str, met: Sequence[MeetingResult]) -> Iterator[EvidencePairing]:
        """The meetings of a Swiss in each round, the better seed first, then the byes."""
        if not self._players.is_drawn(ladder):
            return
        entered, absent = self._players.entered[ladder], self._players.absent(ladder)
        byes = find_byes(len(entered), met, absent)
        for number in sorted({one.round for one in met}):
            for one in sorted(_of_round(met, number), key=lambda one: one.first):
                games = one.first_points + one.second_points
                points = (one.first_points, one.second_points) if games else (None, None)
                first, second = (
                    self._side(ladder, one.first, points[0]),
                    self._side(ladder, one.second, points[1]),
                )
                yield EvidencePairing(ladder, number, *first, *second, None, "")
            for seed, rounds in byes.items():
                if number in rounds:
                    first = self._side(ladder, seed, None)
                    yield EvidencePairing(ladder, number, *first, None, None, None, None, "bye")

    def _side(
        self, ladder: str, seed: int | None, points: float | None
    ) -> tuple[int | None, str | None, float | None]:
        if seed is None:
            return None, None, None
        return seed, self._seeded(ladder, seed), points

    def _seeded(self, ladder: str, seed: int) -> str:
        return self._players.name(self._players.entered[ladder][seed - 1])


def _of_round(met: Iterable[MeetingResult], number: int) -> Iterator[MeetingResult]:
    return (one for one in met if one.round == number)


def _numbers(score: GameScore) -> tuple[int, int, int, int, int]:
    return score.games, score.wins, score.draws, score.losses, score.not_played
