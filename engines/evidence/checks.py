"""All checks of the content of an archive, in one pass through its games."""

from __future__ import annotations

from engines.evidence.archive import EvidenceArchive
from engines.evidence.estimate_check import EstimateCheck
from engines.evidence.format import (
    EvidenceCorrection,
    EvidenceDocument,
    EvidenceGame,
    EvidenceKind,
    parse_version,
)
from engines.evidence.lists import AttemptCheck, VersionCheck, WorkerCheck, read_entries
from engines.evidence.played_games import CorrectionCheck, GameCheck, HeaderCheck, RepeatCheck, ReplayCheck
from engines.evidence.rating_checks import RatingCheck, check_constants
from engines.evidence.reading import SCHEDULE, read_games
from engines.evidence.report import EvidenceReport
from engines.evidence.strict_json import FormatError
from engines.rules.base import quote


def check_content(archive: EvidenceArchive, report: EvidenceReport) -> None:
    """Raises ``FormatError`` where a file cannot be read."""
    document, kind = archive.document(), archive.manifest.kind
    _check_document(archive, document)
    scales = check_constants(document.ladders, kind, report)
    replay = ReplayCheck(report)
    checks: list[GameCheck] = [
        replay,
        HeaderCheck(report, archive.manifest.site, {event.name: event for event in document.events}),
        CorrectionCheck(report, archive.rows("corrections.jsonl", EvidenceCorrection)),
        RepeatCheck(report),
        VersionCheck(report, archive, read_entries(archive)),
        WorkerCheck(report, archive),
        AttemptCheck(report, archive),
        RatingCheck(report, archive, scales),
    ]
    if kind is EvidenceKind.LADDER:
        checks.append(EstimateCheck(report, archive))
    else:
        with report.check("tables") as tables:
            tables.skip("standings, crosstable and pairings are not computed by this release")
    known = {event.name for event in document.events}
    for row, record in read_games(archive, replay.check):
        _check_row(row, known)
        for check in checks:
            check.add(row, record)
    for check in checks:
        check.end()


def _check_document(archive: EvidenceArchive, document: EvidenceDocument) -> None:
    manifest = archive.manifest
    names = [event.name for event in document.events]
    if len(set(names)) < len(names):
        raise FormatError("event.json has two events of one name")
    if manifest.kind is EvidenceKind.TOURNAMENT and names != [manifest.name]:
        raise FormatError(f"event.json has the events {names}, not {quote(manifest.name)} alone")
    if manifest.kind is EvidenceKind.LADDER and [one.code for one in document.ladders] != [manifest.name]:
        raise FormatError(f"event.json does not have the ladder {quote(manifest.name)} alone")


def _check_row(row: EvidenceGame, known: set[str]) -> None:
    try:
        parse_version(row.white)
        parse_version(row.black)
        if row.event not in known:
            raise FormatError(f"it is of the unknown event {quote(row.event)}")
    except FormatError as error:
        raise FormatError(f"{SCHEDULE}: game {quote(row.game)}: {error}") from None
