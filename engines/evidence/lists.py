"""Checks of the short lists beside the schedule: versions with their bundles, entries, attempts, workers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from engines.evidence.archive import SHA256, EvidenceArchive
from engines.evidence.format import (
    BUNDLES,
    EvidenceAttempt,
    EvidenceEntry,
    EvidenceGame,
    EvidenceKind,
    EvidenceState,
    EvidenceVersion,
    EvidenceWorker,
    parse_version,
)
from engines.evidence.played_games import GameCheck
from engines.evidence.report import EvidenceReport
from engines.records import Record
from engines.rules.base import quote

VERSIONS, ENTRIES, ATTEMPTS, WORKERS = (
    f"{name}.jsonl" for name in ("versions", "entries", "attempts", "workers")
)


def read_entries(archive: EvidenceArchive) -> list[EvidenceEntry]:
    """None for a ladder."""
    if archive.manifest.kind is EvidenceKind.LADDER:
        return []
    return list(archive.rows(ENTRIES, EvidenceEntry))


class VersionCheck(GameCheck):
    """Checks that every player is a known version, and that the published bundles are there."""

    name = "versions"

    def __init__(
        self, report: EvidenceReport, archive: EvidenceArchive, entries: Sequence[EvidenceEntry]
    ) -> None:
        super().__init__(report)
        self.versions: dict[str, EvidenceVersion] = {}
        for one in archive.rows(VERSIONS, EvidenceVersion):
            parse_version(one.version)
            if one.version in self.versions:
                self.check.differs(f"{VERSIONS} has {quote(one.version)} twice")
            if not SHA256.fullmatch(one.bundle_sha256):
                shown = quote(one.bundle_sha256)
                self.check.differs(f"{VERSIONS}: {quote(one.version)} has the SHA-256 {shown}, which is none")
            self.versions[one.version] = one
        self._playing = {entry.version for entry in entries}
        self._check_bundles(archive)
        for number, entry in enumerate(entries, 1):
            if entry.number != number:
                self.check.differs(f"{ENTRIES}:{number}: number is {entry.number}")

    def _check_bundles(self, archive: EvidenceArchive) -> None:
        """Whether they have their SHA-256 is a check of the archive."""
        expected = {
            f"{BUNDLES}{one.bundle_sha256}.zip": one for one in self.versions.values() if one.published
        }
        files = archive.manifest.files
        for name, version in expected.items():
            if name not in files:
                self.check.differs(f"{quote(version.version)} is published, but {name} is not there")
            elif files[name].bytes != version.bytes:
                found = files[name].bytes
                self.check.differs(f"{name} has {found} bytes, {VERSIONS} says {version.bytes}")
        for name in files:
            if name.startswith(BUNDLES) and name not in expected:
                self.check.differs(f"{name} is the bundle of no published version")

    def add(self, row: EvidenceGame, record: Record | None) -> None:
        self._playing.update((row.white, row.black))

    def end(self) -> None:
        for version in sorted(self._playing - self.versions.keys()):
            self.check.differs(f"{VERSIONS} has no {quote(version)}, which takes part")
        for version in sorted(self.versions.keys() - self._playing):
            self.check.differs(f"{VERSIONS} has {quote(version)}, which takes no part")
        published = sum(one.published for one in self.versions.values())
        self.check.ok(f"{len(self.versions)} versions, {published} with their published bundles")
        super().end()


class WorkerCheck(GameCheck):
    """Counts the games of each worker."""

    name = "workers"

    def __init__(self, report: EvidenceReport, archive: EvidenceArchive) -> None:
        super().__init__(report)
        self._workers: dict[str, EvidenceWorker] = {}
        for one in archive.rows(WORKERS, EvidenceWorker):
            if one.worker in self._workers:
                self.check.differs(f"{WORKERS} has {quote(one.worker)} twice")
            self._workers[one.worker] = one
        self._games: Counter[str] = Counter()

    @property
    def games(self) -> int:
        """How many games the list has, before they are counted."""
        return sum(one.games for one in self._workers.values())

    def add(self, row: EvidenceGame, record: Record | None) -> None:
        if row.state is EvidenceState.DONE:
            self._games[row.worker] += 1

    def end(self) -> None:
        for worker in sorted(self._games.keys() | self._workers.keys()):
            found = self._workers[worker].games if worker in self._workers else 0
            if found != self._games[worker]:
                counted = self._games[worker]
                self.check.differs(f"{WORKERS}: {quote(worker)} has {found} games, the schedule {counted}")
        self.check.ok(f"{len(self._workers)} workers with {self._games.total()} games")
        super().end()


class AttemptCheck(GameCheck):
    """Checks that attempts without a result are attempts at games of the schedule."""

    name = "attempts"

    def __init__(self, report: EvidenceReport, archive: EvidenceArchive) -> None:
        super().__init__(report)
        self._attempts = Counter(one.game for one in archive.rows(ATTEMPTS, EvidenceAttempt))
        self._unknown = set(self._attempts)

    def add(self, row: EvidenceGame, record: Record | None) -> None:
        self._unknown.discard(row.game)

    def end(self) -> None:
        for game in sorted(self._unknown):
            self.check.differs(f"{ATTEMPTS} has {quote(game)}, which is not in the schedule")
        self.check.ok(f"{self._attempts.total()} void or lost attempts at games of the schedule")
        super().end()
