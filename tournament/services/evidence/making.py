"""Makes the archives of evidence that are due, in short steps.

An archive is written into a draft, which gets its name when it is whole, in the transaction that stores its
row. A keeper that is killed begins again, and the same state gives the same bytes.
"""

from __future__ import annotations

import datetime
import hashlib
import logging
import os
import secrets
from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import BinaryIO, Protocol

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from engines.evidence.format import EvidenceFile, EvidenceManifest
from tournament.models import Evidence
from tournament.services.evidence.archive import ArchiveWriter
from tournament.services.evidence.ladders import LadderEvidence, drop_old_files, due_ladders
from tournament.services.evidence.tournaments import (
    Files,
    TournamentEvidence,
    due_tournaments,
    has_evidence,
)
from tournament.services.stepwise import StepwiseMaker

SYNC_BYTES = 8 << 20
"""Bytes that are written to the disk, or read for the SHA-256, at once."""
DRAFT = ".draft"
"""The archive that is being written, with a number of its own; what a killed keeper leaves of it is deleted.

If a second keeper began before the first had noticed that it lost its lock, the first fails."""

log = logging.getLogger("tournament.evidence")

_Key = tuple[int | str, int, datetime.datetime | None]
"""A tournament, its ``revision`` and its end; or the code of a ladder."""


class EvidenceSource(Protocol):
    """The next revision of the evidence of something, as it was at one moment."""

    def is_current(self) -> bool: ...

    def row(self) -> Evidence: ...

    def files(self) -> Files: ...

    def manifest_of(self, files: Mapping[str, EvidenceFile]) -> EvidenceManifest: ...


class EvidenceMaker(StepwiseMaker[_Key]):
    """Makes the archives that are due."""

    log = log

    def due(self) -> Iterator[_Key]:
        yield from due_tournaments().values_list("pk", "revision", "finished_at")
        yield from ((code, 0, None) for code in due_ladders(timezone.now()))

    def begin(self, key: _Key) -> Iterator[None] | None:
        source = _source_of(key[0])
        return None if source is None else make(source)


def _source_of(subject: int | str) -> EvidenceSource | None:
    """The next revision; None of a tournament that has no evidence."""
    if isinstance(subject, str):
        return LadderEvidence.next_of(subject)
    source = TournamentEvidence.next_of(subject)
    return source if has_evidence(source.tournament) else None


def make(source: EvidenceSource) -> Iterator[None]:
    """Write an archive and store its row, unless its subject changes meanwhile; pauses after each chunk."""
    settings.EVIDENCE.mkdir(parents=True, exist_ok=True)
    for left in settings.EVIDENCE.glob(f"{DRAFT}*"):
        left.unlink(missing_ok=True)
    draft, synced = settings.EVIDENCE / f"{DRAFT}-{secrets.token_hex(4)}", 0
    with draft.open("w+b") as file, closing(ArchiveWriter(file)) as archive:
        for path, chunks in source.files():
            with closing(archive.add(path, chunks, is_packed=path.endswith(".zip"))) as steps:
                for _ in steps:
                    yield
                    if file.tell() > synced + SYNC_BYTES:
                        synced = file.tell()
                        _sync(file)
                        yield
        manifest, signature = archive.finish(source.manifest_of)
        _sync(file)
        yield
        file.seek(0)
        digest = hashlib.sha256()
        while chunk := file.read(SYNC_BYTES):
            digest.update(chunk)
            yield
        row = source.row()
        row.sha256, row.size = digest.hexdigest(), file.tell()
        row.manifest_sha256 = hashlib.sha256(manifest).hexdigest()
        row.manifest, row.signature = manifest.decode(), signature.decode()
    _store(source, draft, row)
    if row.ladder_id is not None:
        drop_old_files(row.ladder_id)


def _sync(file: BinaryIO) -> None:
    file.flush()
    os.fsync(file.fileno())


@transaction.atomic
def _store(source: EvidenceSource, draft: Path, row: Evidence) -> None:
    """Give the archive its name, and store its row; nothing if the subject has changed since."""
    if not source.is_current():
        return
    row.path.parent.mkdir(exist_ok=True)
    draft.replace(row.path)
    row.made_at = timezone.now()
    row.save()
    log.info("the evidence of %s is made, %d bytes", row, row.size)
