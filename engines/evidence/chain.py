"""Checks that a revision follows the one before: it names its manifest, and changes no record."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import zip_longest

from engines.evidence.archive import PIECE, EvidenceArchive
from engines.evidence.format import MANIFEST, RECORDS
from engines.evidence.report import EvidenceCheck, EvidenceReport


def check_chain(archive: EvidenceArchive, previous: EvidenceArchive | None, report: EvidenceReport) -> None:
    """``previous`` is another revision that the user has, the one before or a later one."""
    manifest = archive.manifest
    with report.check("revision") as check:
        if manifest.revision < 1 or (manifest.revision == 1) != (manifest.previous is None):
            check.differs(f"{MANIFEST}: revision {manifest.revision} with the previous {manifest.previous}")
        if previous is not None:
            _compare(archive, previous, check)
        elif manifest.previous is None:
            check.ok("the first revision")
        else:
            check.skip(f"revision {manifest.revision} names one before it: give that with --previous")


def _compare(archive: EvidenceArchive, previous: EvidenceArchive, check: EvidenceCheck) -> None:
    new, old = archive.manifest, previous.manifest
    for name in ("kind", "site", "name"):
        mine, theirs = getattr(new, name), getattr(old, name)
        if mine != theirs:
            check.differs(f"{name} is {mine!r}, that of the previous revision {theirs!r}")
    if archive.sha256 == previous.sha256:
        check.differs(f"{previous.name} is the same revision, {new.revision}")
        return
    if new.revision <= old.revision:
        check.differs(
            f"revision {new.revision} is older than {previous.name}, which is revision {old.revision}"
        )
        return
    if new.revision > old.revision + 1:
        missing = new.revision - old.revision - 1
        check.skip(f"{missing} revisions between {old.revision} and {new.revision} are not given")
    elif new.previous != previous.sha256:
        check.differs(f"it names the previous manifest {new.previous}, {previous.name} has {previous.sha256}")
    follows = f"revision {new.revision} follows {old.revision}"
    if RECORDS not in previous.names:
        check.ok(f"{follows}, whose manifest alone is given: {new.reason}")
        return
    if not _begins_with(archive, previous):
        check.differs(
            f"{RECORDS} does not begin with the records of revision {old.revision}, which never change"
        )
    check.ok(f"{follows}, and no record has changed: {new.reason}")


def _begins_with(archive: EvidenceArchive, previous: EvidenceArchive) -> bool:
    """Whether the older records are the beginning of the newer ones."""
    pairs = zip_longest(_pieces(archive), _pieces(previous), fillvalue=b"")
    return all(mine.startswith(theirs) for mine, theirs in pairs)


def _pieces(archive: EvidenceArchive) -> Iterator[bytes]:
    """Pieces of one size but for the last."""
    with archive.open(RECORDS) as file:
        while piece := file.read(PIECE):
            yield piece
