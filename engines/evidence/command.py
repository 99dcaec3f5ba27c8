"""``python3 -m engines evidence``: recomputes what an archive of evidence publishes, with Python alone."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from engines.client.output import ProgressBar, print_json
from engines.console import complain
from engines.evidence.archive import MAX_SIGNATURE_BYTES, EvidenceArchive, check_files, open_archive
from engines.evidence.chain import check_chain
from engines.evidence.checks import check_content
from engines.evidence.format import MANIFEST, SIGNATURE, parse_moment
from engines.evidence.report import MAX_CHARACTERS, CheckFinding, EvidenceReport
from engines.evidence.signatures import SIGNERS_PATH, Signature, check_signature, host_of
from engines.evidence.strict_json import FormatError
from engines.http_client import AddressError, AnswerTooLong, ErrorAnswer, HttpClient, NoAnswer
from engines.rules.base import quote
from engines.visible import visible

MAX_DOWNLOAD: Final = 16 * 1024**3
MAX_SIGNERS: Final = 1024 * 1024
TIMEOUT_SECONDS: Final = 60.0
ADDRESSES: Final = ("http://", "https://")


def run(file: str, other: str | None, signers: Path | None, *, as_json: bool = False) -> int:
    """Check an archive; returns the exit code.

    ``other`` is another revision, ``signers`` the list of the site's keys. Of an address the list is fetched.
    ``as_json`` prints one object at the end.
    """
    bar, found = ProgressBar(), list[CheckFinding]()

    def write(line: object) -> None:
        bar.clear()
        if isinstance(line, CheckFinding):
            found.append(line)
        if not as_json:
            print(line, flush=True)

    report = EvidenceReport(write, bar.show)
    try:
        with ExitStack() as stack:
            archive = stack.enter_context(opened(file))
            previous = stack.enter_context(opened(other)) if other else None
            keys = read_signers(file, signers)
            write(_headline(archive))
            check_archive(archive, previous, keys, report)
            if as_json:
                print_json(_described(archive, found, report))
    except (FormatError, AddressError) as error:
        return complain(visible(str(error), 1000))
    except BrokenPipeError:
        raise  # nobody reads what is printed
    except OSError as error:
        return complain(f"cannot read {visible(str(error.filename or file))!r}: {error.strerror}")
    finally:
        bar.clear()
    write(_summary(report))
    return report.exit_code


def check_archive(
    archive: EvidenceArchive, previous: EvidenceArchive | None, signers: str | None, report: EvidenceReport
) -> None:
    """Everything about an archive; raises ``FormatError`` where it cannot be read."""
    check_files(archive, report)
    check_chain(archive, previous, report)
    check_signer(archive, signers, report)
    check_content(archive, report)


def check_signer(archive: EvidenceArchive, signers: str | None, report: EvidenceReport) -> None:
    """Check that the site signed the manifest, by a key that was valid then, or began later.

    ``signers`` are the keys that the user trusts, None without.
    """
    with report.check("signature") as check:
        if SIGNATURE not in archive.names:
            (check.skip if signers is None else check.differs)(
                f"there is no {SIGNATURE}: nobody vouches for it"
            )
            return
        if signers is None:
            check.skip(f"give the keys of the site, from its {SIGNERS_PATH}, with --signers")
            return
        signature = archive.read(SIGNATURE, MAX_SIGNATURE_BYTES)
        at = parse_moment(archive.manifest.at, f"{MANIFEST}: at")
        verdict, said = check_signature(archive.manifest_bytes, signature, signers, at=at)
        if verdict is Signature.GOOD and said != host_of(archive.manifest.site):
            check.skip(
                f"the manifest is signed by {said}, not {quote(archive.manifest.site)}: are they one site?"
            )
        elif verdict is Signature.GOOD:
            check.ok(f"the manifest is signed by {said}")
        elif verdict is Signature.BAD:
            check.differs(f"{SIGNATURE}: {said}")
        else:
            check.skip(said)


def read_signers(file: str, signers: Path | None) -> str | None:
    """The list of keys in a file, or that of the site of an address; None without; raises ``FormatError``."""
    if signers is not None:
        with signers.open(encoding="utf-8", errors="replace") as lines:
            return lines.read(MAX_SIGNERS)
    if not file.startswith(ADDRESSES):
        return None
    parts = urlsplit(file)
    try:
        address = f"{parts.scheme}://{parts.netloc}{SIGNERS_PATH}"
        return HttpClient(timeout=TIMEOUT_SECONDS).read(address, MAX_SIGNERS).decode("utf-8", "replace")
    except (ErrorAnswer, NoAnswer, AnswerTooLong):
        return None


@contextmanager
def opened(name: str) -> Iterator[EvidenceArchive]:
    """The archive of a file, folder or address; raises ``FormatError``, ``AddressError`` and ``OSError``."""
    with ExitStack() as stack:
        path = Path(name)
        if name.startswith(ADDRESSES):
            path = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="duarena-")), "evidence.zip")
            _download(name, path)
        yield stack.enter_context(open_archive(path))


def _download(address: str, path: Path) -> None:
    bar = ProgressBar()
    try:
        with path.open("wb") as file:
            for piece in HttpClient(timeout=TIMEOUT_SECONDS).stream(address, MAX_DOWNLOAD):
                file.write(piece)
                bar.show(f"{file.tell() // 1024} KiB of {address}", 0, 0)
    except ErrorAnswer as error:
        why = error.sentence or f"status {error.status}"
        raise FormatError(f"{address} cannot be fetched: {why}") from None
    except (NoAnswer, AnswerTooLong) as error:
        raise FormatError(f"{address} cannot be fetched: {error}") from None
    finally:
        bar.clear()


def _headline(archive: EvidenceArchive) -> str:
    manifest = archive.manifest
    what = f"evidence of the {manifest.kind} {manifest.title!r} of {manifest.site}"
    which = f"revision {manifest.revision} of {manifest.at}, manifest {archive.sha256}"
    return f"{visible(what, MAX_CHARACTERS)}, {visible(which, MAX_CHARACTERS)}"


def _described(
    archive: EvidenceArchive, found: Sequence[CheckFinding], report: EvidenceReport
) -> dict[str, object]:
    """The object for programs; its texts are not escaped, those of findings are."""
    manifest = archive.manifest
    names = ("kind", "site", "name", "title", "revision", "at")
    return {
        **{name: getattr(manifest, name) for name in names},
        "manifest_sha256": archive.sha256,
        "checks": [asdict(one) for one in found],
        "exit_code": report.exit_code,
    }


def _summary(report: EvidenceReport) -> str:
    differences = sum(check.differences for check in report.checks)
    skipped = sum(check.skipped for check in report.checks)
    found = f"{differences} differences" if differences else "everything that was checked agrees"
    return f"{found}; {skipped} not checked" if skipped else found
