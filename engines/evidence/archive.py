"""Opens an archive of evidence, a zip or a folder, and checks it against its manifest.

Nothing in it is trusted: names, sizes and counts are limited before anything is read, and no file is written.
"""

from __future__ import annotations

import hashlib
import os
import re
import stat
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Final, cast

from engines.bundles.archive import FREE_OF_RATIO_BYTES, MAX_RATIO
from engines.evidence.format import (
    BUNDLES,
    EVENT,
    FORMAT,
    MANIFEST,
    MAX_DOCUMENT,
    RECORDS,
    SIGNATURE,
    TABLES,
    EvidenceDocument,
    EvidenceManifest,
    read_document,
    read_lines,
)
from engines.evidence.report import EvidenceReport
from engines.evidence.strict_json import FormatError, Row
from engines.rules.base import quote
from engines.visible import visible

MAX_FILES: Final = 50_000
MAX_DIRECTORY_BYTES: Final = 16 * 1024 * 1024
"""The limit of a zip's directory, which is read before its entries can be counted."""
MAX_BYTES: Final = 256 * 1024**3
"""The limit of all files together, unpacked."""
MAX_SIGNATURE_BYTES: Final = 64 * 1024
PIECE: Final = 1024 * 1024

_END = struct.Struct("<4s4H2LH")
_END64_LOCATOR = struct.Struct("<4sLQL")
_END64 = struct.Struct("<4sQ2H2L4Q")
_BUNDLE = re.compile(rf"{BUNDLES}[0-9a-f]{{64}}\.zip")
SHA256 = re.compile(r"[0-9a-f]{64}")
_PREFIX = "archive"
"""The check that is about the files of the archive, not about their content."""

OpenFile = Callable[[str], BinaryIO]


@dataclass(frozen=True, slots=True)
class EvidenceArchive:
    """An archive whose manifest is read; its other files are read by those who check them."""

    name: str
    """As the user gave it."""
    manifest: EvidenceManifest
    manifest_bytes: bytes
    names: frozenset[str]
    """The files that are there, whether they are listed or not."""
    _open: OpenFile

    @property
    def sha256(self) -> str:
        """That of the manifest, by which the next revision names this one."""
        return hashlib.sha256(self.manifest_bytes).hexdigest()

    @property
    def tables(self) -> Mapping[str, type]:
        """The files of JSON lines that it must have."""
        return TABLES[self.manifest.kind]

    @contextmanager
    def open(self, name: str) -> Iterator[BinaryIO]:
        """The content of a listed file; raises ``FormatError`` where it cannot be read."""
        with _errors_of(name), ExitStack() as stack:
            yield stack.enter_context(self._open(name))

    def rows(self, name: str, kind: type[Row]) -> Iterator[Row]:
        """The rows of a file of JSON lines; raises ``FormatError``."""
        with self.open(name) as file:
            yield from read_lines(kind, file, name)

    def read(self, name: str, most: int) -> bytes:
        """All of a file of at most so many bytes; raises ``FormatError``."""
        with self.open(name) as file:
            content = file.read(most + 1)
        if len(content) > most:
            raise FormatError(f"{name} has more than {most} bytes")
        return content

    def document(self) -> EvidenceDocument:
        return read_document(EvidenceDocument, self.read(EVENT, MAX_DOCUMENT), EVENT)


@contextmanager
def open_archive(path: Path) -> Iterator[EvidenceArchive]:
    """The archive in a zip or a folder; raises ``FormatError`` if it is none, and ``OSError``.

    A manifest alone is an archive without its other files, which is enough for the chain of revisions.
    """
    with ExitStack() as stack:
        if path.is_dir():
            names, opener = _names_in(path), _opener_in(path)
        elif _begins(path).startswith(b"{"):
            names, opener = {MANIFEST}, lambda _: path.open("rb")
        else:
            archive = stack.enter_context(_open_zip(stack.enter_context(path.open("rb"))))
            names, opener = {entry.filename for entry in archive.infolist()}, _opener_of(archive)
        if MANIFEST not in names:
            raise FormatError(f"{visible(str(path))} has no {MANIFEST}: it is no evidence")
        with _errors_of(MANIFEST), opener(MANIFEST) as file:
            content = file.read(MAX_DOCUMENT + 1)
        if len(content) > MAX_DOCUMENT:
            raise FormatError(f"{MANIFEST} has more than {MAX_DOCUMENT} bytes")
        manifest = _checked_manifest(read_document(EvidenceManifest, content, MANIFEST))
        yield EvidenceArchive(visible(str(path)), manifest, content, frozenset(names), opener)


def _begins(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(1)


def _names_in(folder: Path) -> set[str]:
    """The files; refuses links, which may lead out of the folder, and devices, which may never end."""
    found: set[str] = set()
    entries = 0
    for where, folders, files in os.walk(folder):
        entries += len(folders) + len(files)
        if entries > MAX_FILES:
            raise FormatError(f"the folder has more than {MAX_FILES} files")
        for name in (*folders, *files):
            path = Path(where, name)
            mode = path.lstat().st_mode
            shown = path.relative_to(folder).as_posix()
            if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
                raise FormatError(f"{quote(visible(shown))} of the folder is no file")
            if stat.S_ISREG(mode):
                found.add(shown)
    return found


def _opener_in(folder: Path) -> OpenFile:
    return lambda name: (folder / name).open("rb")


def _opener_of(archive: zipfile.ZipFile) -> OpenFile:
    return lambda name: cast(BinaryIO, archive.open(name))


@contextmanager
def _errors_of(name: str) -> Iterator[None]:
    """Raises errors of ``zipfile`` and of files inside the block as a ``FormatError`` about a file."""
    try:
        yield
    except (
        zipfile.BadZipFile,
        zlib.error,
        EOFError,
        struct.error,
        NotImplementedError,
        RuntimeError,
    ) as error:
        raise FormatError(f"{name} is damaged: {visible(str(error) or 'it ends too early', 200)}") from None
    except OSError as error:
        raise FormatError(f"cannot read {name}: {error.strerror}") from None


@contextmanager
def _open_zip(file: BinaryIO) -> Iterator[zipfile.ZipFile]:
    _check_directory(file)
    with _errors_of("the zip"):
        archive = zipfile.ZipFile(file)
    with archive:
        _check_entries(archive)
        yield archive


def _check_directory(file: BinaryIO) -> None:
    """Refuse a zip with a large directory, all of which ``zipfile`` reads into memory."""
    size = file.seek(0, os.SEEK_END)
    start = max(0, size - _END.size - 0xFFFF - _END64_LOCATOR.size)
    file.seek(start)
    tail = file.read()
    at = tail.rfind(b"PK\x05\x06")
    if at < 0 or len(tail) - at < _END.size:
        raise FormatError("it is neither a zip nor a folder of evidence")
    *_, entries, length, _, _ = _END.unpack_from(tail, at)
    locator = tail[max(0, at - _END64_LOCATOR.size) : at]
    if locator.startswith(b"PK\x06\x07") and len(locator) == _END64_LOCATOR.size:
        file.seek(min(_END64_LOCATOR.unpack(locator)[2], size))
        end = file.read(_END64.size)
        if len(end) == _END64.size:
            *_, entries, length, _ = _END64.unpack(end)
    file.seek(0)
    if entries > MAX_FILES or length > MAX_DIRECTORY_BYTES:
        raise FormatError(f"the zip's directory has {entries} entries in {length} bytes, which is too much")


def _check_entries(archive: zipfile.ZipFile) -> None:
    seen: set[str] = set()
    for entry in archive.infolist():
        shown = quote(visible(entry.orig_filename))
        if entry.filename in seen:
            raise FormatError(f"the zip has two files named {shown}")
        if entry.is_dir() or entry.filename != entry.orig_filename:
            raise FormatError(f"the zip has the entry {shown}, which is no file of evidence")
        if entry.flag_bits & 0x1 or entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise FormatError(f"{shown} of the zip is neither stored nor deflated")
        if entry.file_size > max(FREE_OF_RATIO_BYTES, MAX_RATIO * entry.compress_size):
            raise FormatError(f"{shown} of the zip unpacks to more than {MAX_RATIO} times its size")
        seen.add(entry.filename)


def _checked_manifest(manifest: EvidenceManifest) -> EvidenceManifest:
    """The manifest if this program can read what it lists; raises ``FormatError``."""
    if manifest.evidence != FORMAT:
        raise FormatError(
            f"{MANIFEST}: it has form {manifest.evidence} of evidence, this program has {FORMAT}"
        )
    expected = {EVENT, RECORDS, *TABLES[manifest.kind]}
    if missing := sorted(expected - manifest.files.keys()):
        raise FormatError(f"{MANIFEST} does not list {missing[0]}")
    for name, file in manifest.files.items():
        if name not in expected and not _BUNDLE.fullmatch(name):
            raise FormatError(f"{MANIFEST} lists {quote(name)}, which is no file of evidence")
        if not SHA256.fullmatch(file.sha256) or file.bytes < 0:
            raise FormatError(f"{MANIFEST}: {name} has no SHA-256, or no number of bytes")
    if len(manifest.files) > MAX_FILES or sum(file.bytes for file in manifest.files.values()) > MAX_BYTES:
        raise FormatError(f"{MANIFEST} lists more than {MAX_FILES} files or {MAX_BYTES} bytes")
    return manifest


def check_files(archive: EvidenceArchive, report: EvidenceReport) -> None:
    """Check that exactly the listed files are there, each with its SHA-256."""
    listed, size = archive.manifest.files, 0
    with report.check(_PREFIX) as check:
        for name in sorted(archive.names - listed.keys() - {MANIFEST, SIGNATURE}):
            check.differs(f"{quote(name)} is not in the manifest")
        whole = sum(file.bytes for file in listed.values())
        for name, file in listed.items():
            report.progress(f"reading {name}", size, whole)
            if name not in archive.names:
                check.differs(f"{name} is missing")
                continue
            digest, length = _hash(archive, name, file.bytes)
            size += length
            if length != file.bytes:
                found = "more" if length > file.bytes else str(length)
                check.differs(f"{name} has {found} bytes, the manifest says {file.bytes}")
            elif digest != file.sha256:
                check.differs(f"{name} has the SHA-256 {digest}, the manifest says {file.sha256}")
            elif name.startswith(BUNDLES) and name != f"{BUNDLES}{digest}.zip":
                check.differs(f"{name} has the SHA-256 {digest}")
        check.ok(f"{len(listed)} files, {size} bytes, each with the SHA-256 of the manifest")


def _hash(archive: EvidenceArchive, name: str, most: int) -> tuple[str, int]:
    """The SHA-256 and the number of bytes; reading ends after one byte too many."""
    digest, length = hashlib.sha256(), 0
    with archive.open(name) as file:
        while length <= most and (piece := file.read(min(PIECE, most + 1 - length))):
            digest.update(piece)
            length += len(piece)
    return digest.hexdigest(), length
