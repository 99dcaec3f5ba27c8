"""Reads schedule and records together, game by game, so that archives of any size take little memory."""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import Final

from engines.evidence.archive import EvidenceArchive
from engines.evidence.format import MAX_LINE, RECORDS, EvidenceGame, EvidenceState
from engines.evidence.report import EvidenceCheck
from engines.evidence.strict_json import FormatError
from engines.records import Record, RecordError, read_records
from engines.rules.base import quote

SCHEDULE: Final = "schedule.jsonl"
MAX_RECORD: Final = 16 * 1024 * 1024
"""Characters of a record."""


def read_evidence_records(archive: EvidenceArchive) -> Iterator[Record | RecordError]:
    """The records in the order of the file; raises ``FormatError`` for one that is too long."""
    with archive.open(RECORDS) as file:
        # Bytes that are not UTF-8 appear as \xff, as in ``python3 -m engines verify``.
        lines = _Lines(io.TextIOWrapper(file, "utf-8", "backslashreplace"))
        for record in read_records(lines, RECORDS):
            lines.taken = 0
            yield record


class _Lines:
    """The lines of a file; a game without an end does not fill the memory."""

    def __init__(self, file: io.TextIOWrapper) -> None:
        self._file = file
        self._number = 0
        self.taken = 0
        """Characters since the last game."""

    def __iter__(self) -> Iterator[str]:
        while line := self._file.readline(MAX_LINE):
            self._number += 1
            self.taken += len(line)
            if self.taken > MAX_RECORD:
                raise FormatError(f"{RECORDS}:{self._number}: a record has more than {MAX_RECORD} characters")
            yield line


def read_games(
    archive: EvidenceArchive, check: EvidenceCheck
) -> Iterator[tuple[EvidenceGame, Record | None]]:
    """Each game of the schedule with its record, None if it has none.

    ``check`` gets records that are missing, unreadable or twice, that belong to no game, or are out of order.
    """
    records = _Records(archive, check)
    for row in archive.rows(SCHEDULE, EvidenceGame):
        yield row, records.take(row.game) if row.state is EvidenceState.DONE else None
    records.end()


class _Records:
    """The records in their order; the first one out of place has all keys of the schedule loaded."""

    def __init__(self, archive: EvidenceArchive, check: EvidenceCheck) -> None:
        self._archive, self._check = archive, check
        self._records = read_evidence_records(archive)
        self._next: Record | None = None
        self._places: dict[str, int] | None = None
        self._taken = -1
        """The place of the last game of the schedule that was asked for."""

    def take(self, game: str) -> Record | None:
        self._taken += 1
        while (record := self._peek()) is not None:
            identifier = record.header("GameId")
            if identifier == game:
                self._next = None
                return record
            place = self._place_of(identifier)
            if place is not None and place > self._taken:
                break  # the record of a later game
            self._refuse(record, place)
        self._check.differs(f"{RECORDS} has no record of game {quote(game)}")
        return None

    def end(self) -> None:
        """Name the records after the last game."""
        while (record := self._peek()) is not None:
            self._refuse(record, self._place_of(record.header("GameId")))

    def _peek(self) -> Record | None:
        while self._next is None and (record := next(self._records, None)) is not None:
            if isinstance(record, RecordError):
                self._check.differs(str(record))
            else:
                self._next = record
        return self._next

    def _refuse(self, record: Record, place: int | None) -> None:
        assert record.source is not None
        where, identifier = record.source.at(), quote(record.header("GameId"))
        if place is None:
            self._check.differs(f"{where}: GameId {identifier} is that of no finished game of the schedule")
        else:
            self._check.differs(f"{where}: GameId {identifier} stands twice, or out of order")
        self._next = None

    def _place_of(self, game: str) -> int | None:
        if self._places is None:
            rows = self._archive.rows(SCHEDULE, EvidenceGame)
            done = (row.game for row in rows if row.state is EvidenceState.DONE)
            self._places = {key: place for place, key in enumerate(done)}
        return self._places.get(game)
