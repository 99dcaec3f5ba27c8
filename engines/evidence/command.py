"""``python3 -m engines evidence``: recomputes what an archive of evidence publishes, with Python alone."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Final

from engines.console import complain
from engines.evidence.archive import EvidenceArchive, check_files, open_archive
from engines.evidence.chain import check_chain
from engines.evidence.checks import check_content
from engines.evidence.report import EvidenceReport
from engines.evidence.strict_json import FormatError
from engines.http_client import AddressError, AnswerTooLong, ErrorAnswer, HttpClient, NoAnswer
from engines.visible import visible

MAX_DOWNLOAD: Final = 16 * 1024**3
TIMEOUT_SECONDS: Final = 60.0


def run(file: str, other: str | None) -> int:
    """Check an archive, if given beside another revision; returns the exit code."""
    report = EvidenceReport(lambda line: print(line, flush=True))
    try:
        with ExitStack() as stack:
            archive = stack.enter_context(opened(file))
            previous = stack.enter_context(opened(other)) if other else None
            check_archive(archive, previous, report)
    except (FormatError, AddressError) as error:
        return complain(visible(str(error), 1000))
    except OSError as error:
        return complain(f"cannot read {visible(str(error.filename or file))!r}: {error.strerror}")
    print(_summary(report))
    return report.exit_code


def check_archive(archive: EvidenceArchive, previous: EvidenceArchive | None, report: EvidenceReport) -> None:
    """Everything about an archive; raises ``FormatError`` where it cannot be read."""
    manifest = archive.manifest
    report.write(
        visible(
            f"evidence of the {manifest.kind} {manifest.title!r} of {manifest.site},"
            f" revision {manifest.revision} of {manifest.at}, manifest {archive.sha256}"
        )
    )
    check_files(archive, report)
    check_chain(archive, previous, report)
    check_content(archive, report)


@contextmanager
def opened(name: str) -> Iterator[EvidenceArchive]:
    """The archive of a file, folder or address; raises ``FormatError``, ``AddressError`` and ``OSError``."""
    with ExitStack() as stack:
        path = Path(name)
        if name.startswith(("http://", "https://")):
            path = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="duarena-")), "evidence.zip")
            _download(name, path)
        yield stack.enter_context(open_archive(path))


def _download(address: str, path: Path) -> None:
    try:
        with path.open("wb") as file:
            for piece in HttpClient(timeout=TIMEOUT_SECONDS).stream(address, MAX_DOWNLOAD):
                file.write(piece)
    except ErrorAnswer as error:
        why = error.sentence or f"status {error.status}"
        raise FormatError(f"{address} cannot be fetched: {why}") from None
    except (NoAnswer, AnswerTooLong) as error:
        raise FormatError(f"{address} cannot be fetched: {error}") from None


def _summary(report: EvidenceReport) -> str:
    differences = sum(check.differences for check in report.checks)
    skipped = sum(check.skipped for check in report.checks)
    found = f"{differences} differences" if differences else "everything that was checked agrees"
    return f"{found}; {skipped} not checked" if skipped else found
