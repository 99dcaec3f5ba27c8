"""All checks of the content of an archive, in one pass through its games."""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Sequence
from typing import Final

from engines.evidence.archive import EvidenceArchive
from engines.evidence.estimate_check import EstimateCheck
from engines.evidence.format import (
    EvidenceCorrection,
    EvidenceDocument,
    EvidenceEntry,
    EvidenceEvent,
    EvidenceGame,
    EvidenceKind,
    parse_version,
)
from engines.evidence.lists import AttemptCheck, VersionCheck, WorkerCheck, read_entries
from engines.evidence.played_games import (
    CorrectionCheck,
    GameCheck,
    HeaderCheck,
    RatedCheck,
    RepeatCheck,
    ReplayCheck,
    StateCheck,
)
from engines.evidence.rating_checks import RatingCheck, check_constants
from engines.evidence.reading import SCHEDULE, read_games
from engines.evidence.report import EvidenceReport
from engines.evidence.round_checks import RoundPairCheck
from engines.evidence.schedule_checks import (
    OVER,
    PAIR_FORMATS,
    CyclePairCheck,
    LadderPairCheck,
    Players,
    UnplannedPairCheck,
    check_size,
)
from engines.evidence.strict_json import FormatError
from engines.evidence.table_checks import TableCheck
from engines.formats import FORMATS
from engines.formats.rated import Unrated
from engines.rules.base import quote

STEP: Final = 200
"""Games between two changes of the progress bar."""


def check_content(archive: EvidenceArchive, report: EvidenceReport) -> None:
    """Raises ``FormatError`` where a file cannot be read."""
    document, kind = archive.document(), archive.manifest.kind
    _check_document(archive, document)
    scales = check_constants(document.ladders, kind, report)
    events = {event.name: event for event in document.events}
    entries = read_entries(archive)
    codes = {one.code: one.rules_version for one in document.ladders}
    replay = ReplayCheck(report, codes)
    ratings = RatingCheck(report, archive, scales, codes)
    versions = VersionCheck(report, archive, entries)
    workers = WorkerCheck(report, archive)
    checks = [
        StateCheck(report, kind, events),
        replay,
        HeaderCheck(report, archive.manifest.site, events),
        CorrectionCheck(report, archive.rows("corrections.jsonl", EvidenceCorrection)),
        RepeatCheck(report, kind),
        RatedCheck(report, events, versions.versions),
        versions,
        workers,
        AttemptCheck(report, archive),
        *_of_kind(archive, document, entries, report, ratings),
        ratings,
    ]
    known = frozenset(entry.version for entry in entries) if kind is EvidenceKind.TOURNAMENT else None
    for number, (row, record) in enumerate(read_games(archive, replay.check), 1):
        if number % STEP == 0:
            report.progress(f"{number} games", number, workers.games)
        _check_row(row, events, codes, known)
        for check in checks:
            check.add(row, record)
    for check in checks:
        report.progress(f"{check.name} of {workers.games} games", 1, 1)
        check.end()


def _of_kind(
    archive: EvidenceArchive,
    document: EvidenceDocument,
    entries: Sequence[EvidenceEntry],
    report: EvidenceReport,
    ratings: RatingCheck,
) -> Iterator[GameCheck]:
    """The schedule and the tables of a tournament, or the pairs and the estimate of a ladder."""
    events = {event.name: event for event in document.events}
    is_known = not ratings.unknown
    if archive.manifest.kind is EvidenceKind.LADDER:
        yield (LadderPairCheck if is_known else UnplannedPairCheck)(report, events)
        yield EstimateCheck(report, archive)
        return
    players = Players.of(document.events[0], entries)
    if not is_known:
        yield UnplannedPairCheck(report, events)
    elif players.form.is_staged:
        yield RoundPairCheck(report, players, archive.rows("corrections.jsonl", EvidenceCorrection))
    else:
        yield CyclePairCheck(report, players)
    yield TableCheck(report, archive, players, ratings)


def _check_document(archive: EvidenceArchive, document: EvidenceDocument) -> None:
    manifest = archive.manifest
    names = [event.name for event in document.events]
    if len(set(names)) < len(names):
        raise FormatError("event.json has two events of one name")
    codes = tuple(one.code for one in document.ladders)
    if manifest.kind is EvidenceKind.LADDER and codes != (manifest.name,):
        raise FormatError(f"event.json does not have the ladder {quote(manifest.name)} alone")
    if manifest.kind is EvidenceKind.TOURNAMENT:
        if names != [manifest.name]:
            raise FormatError(f"event.json has the events {names}, not {quote(manifest.name)} alone")
        (event,) = document.events
        if event.state not in OVER:
            raise FormatError(f"event.json: the tournament is {event.state}, and not over")
        if not codes or event.ladders != codes or len(set(codes)) < len(codes):
            raise FormatError(f"event.json has the ladders {codes}, its tournament {event.ladders}")
    for event in document.events:
        _check_event(event)


def _check_event(event: EvidenceEvent) -> None:
    if event.format not in PAIR_FORMATS | FORMATS.keys():
        raise FormatError(f"this program does not know the format {quote(event.format)}")
    if not set(event.off_terms.values()) <= set(Unrated):
        raise FormatError(f"event.json: off_terms of {quote(event.name)} has an unknown word")
    check_size(event, 0)


def _check_row(
    row: EvidenceGame,
    events: Mapping[str, EvidenceEvent],
    codes: Container[str],
    known: Container[str] | None,
) -> None:
    """Raises ``FormatError``; ``codes`` are the ladders, ``known`` those who are entered."""
    try:
        for version in (row.white, row.black):
            parse_version(version)
            if known is not None and version not in known:
                raise FormatError(f"{quote(version)} is not entered")
        if row.event not in events:
            raise FormatError(f"it is of the unknown event {quote(row.event)}")
        if row.ladder not in events[row.event].ladders or row.ladder not in codes:
            raise FormatError(f"it is on the ladder {quote(row.ladder)}, which is not of the event")
    except FormatError as error:
        raise FormatError(f"{SCHEDULE}: game {quote(row.game)}: {error}") from None
