"""Opens zips and checks them against the limits of bundles, before anything is unpacked.

An uploaded zip is assumed to be hostile. A zip that different readers may read differently (data around
the archive or between its entries, overlapping entries, zip64 at these sizes) is refused, so that the
files that run are the files that were inspected. The site checks only the central directory, in its own
process; ``check_layout`` reads the header before each entry's data when the zip is unpacked.
"""

from __future__ import annotations

import io
import os
import stat
import struct
import unicodedata
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import PurePosixPath
from typing import BinaryIO

from engines.bundles.manifest import BundleError, shortened

MAX_ZIP_BYTES = 64 * 1024 * 1024
"""The default limit; a site may set another."""
MAX_UNPACKED_BYTES = 256 * 1024 * 1024
MAX_PATHS = 2000
"""Files and folders, including folders that only occur in a file's path."""
MAX_DEPTH = 16
MAX_PATH_BYTES = 1024
MAX_PART_BYTES = 255
MAX_DIRECTORY_BYTES = 2 * 1024 * 1024
"""The limit of the central directory, which is read before its entries can be counted."""
MAX_RATIO = 200
FREE_OF_RATIO_BYTES = 1024 * 1024
"""An entry up to this unpacked size may have any compression ratio."""

_END = struct.Struct("<4s4H2LH")
_END_SIGNATURE = b"PK\x05\x06"
_ZIP64_LOCATOR_SIGNATURE = b"PK\x06\x07"
_ZIP64_LOCATOR_BYTES = 20
_LOCAL = struct.Struct("<4s5H3L2H")
_LOCAL_SIGNATURE = b"PK\x03\x04"
_ENCRYPTED_FLAGS = 0x1 | 0x40 | 0x2000
_UTF8_FLAG = 0x800
_DESCRIPTOR_FLAG = 0x8
_DESCRIPTOR_BYTES = (12, 16, 20, 24)
"""Sizes of the data descriptor that may follow an entry: with or without a signature, 32 or 64 bits."""

OTHER_FORMS = {
    b"\x1f\x8b": "a gzip archive (.tar.gz)",
    b"BZh": "a bzip2 archive (.tar.bz2)",
    b"\xfd7zXZ": "an xz archive (.tar.xz)",
    b"\x28\xb5\x2f\xfd": "a zstd archive (.tar.zst)",
    b"7z\xbc\xaf\x27\x1c": "a 7z archive",
    b"Rar!": "a RAR archive",
}
"""The first bytes of other formats."""
_TAR, _TAR_AT = b"ustar", 257

_OVERLAPS = "overlaps another part of the zip"


def as_file(source: bytes | BinaryIO) -> BinaryIO:
    return io.BytesIO(source) if isinstance(source, bytes) else source


@contextmanager
def read_zip(file: BinaryIO, *, max_bytes: int | None = None) -> Iterator[zipfile.ZipFile]:
    """The archive in ``file``; errors of ``zipfile`` inside the block are raised as ``BundleError``."""
    count = _check_end(file, max_bytes)
    with zip_errors("the zip"), zipfile.ZipFile(file) as archive:
        if len(archive.infolist()) != count:
            found = len(archive.infolist())
            raise BundleError(f"the zip declares {count} entries, but has {found}")
        yield archive


@contextmanager
def zip_errors(what: str) -> Iterator[None]:
    """Raises errors of ``zipfile`` inside the block as a ``BundleError`` about ``what``."""
    try:
        yield
    except UnicodeDecodeError as error:
        raise BundleError(f"{what} has a name that is not UTF-8: {shortened(repr(error.object))}") from None
    except (zipfile.BadZipFile, zlib.error, EOFError, struct.error) as error:
        raise BundleError(f"{what} is damaged: {shortened(str(error) or 'it ends too early')}") from None
    except (NotImplementedError, RuntimeError) as error:
        raise BundleError(f"{what} cannot be read: {shortened(str(error))}") from None


def _refuse(what: str, faults: Mapping[str, bool]) -> None:
    """Raise ``BundleError`` about ``what`` for the first of ``faults`` that it has."""
    for fault, has_it in faults.items():
        if has_it:
            raise BundleError(f"{what} {fault}")


def _check_end(file: BinaryIO, max_bytes: int | None) -> int:
    """Check the zip's end record before ``zipfile`` reads the entries; returns the number of entries.

    Also checks that the archive fills the whole file and is not zip64, since readers differ about the
    entries of other files.
    """
    size = file.seek(0, os.SEEK_END)
    if max_bytes is not None and size > max_bytes:
        raise BundleError(f"the zip is {size} bytes, more than {max_bytes}")
    tail_start = max(0, size - _END.size - 0xFFFF - _ZIP64_LOCATOR_BYTES)
    file.seek(tail_start)
    tail = file.read()
    at = tail.rfind(_END_SIGNATURE)
    if at < 0 or len(tail) - at < _END.size:
        raise BundleError(f"this is not a zip file{_explain_other(file)}")
    _, disk, first_disk, here, count, length, offset, comment = _END.unpack_from(tail, at)
    before_end = tail[max(0, at - _ZIP64_LOCATOR_BYTES) :]
    is_whole = at + _END.size + comment == len(tail) and offset + length == tail_start + at
    faults = {
        "is in the zip64 format, which bundles do not need": before_end.startswith(_ZIP64_LOCATOR_SIGNATURE),
        "is one part of a multi-part archive": bool(disk or first_disk or here != count),
        "has data before or after the archive": not is_whole,
        f"has {count} entries, more than {MAX_PATHS}": count > MAX_PATHS,
    }
    _refuse("the zip", faults)
    if length > MAX_DIRECTORY_BYTES:
        raise BundleError(f"the zip's directory is {length} bytes, more than {MAX_DIRECTORY_BYTES}")
    return int(count)


def _explain_other(file: BinaryIO) -> str:
    """What a file that is not a zip looks like, as the rest of a sentence."""
    file.seek(0)
    beginning = file.read(_TAR_AT + len(_TAR))
    if beginning.startswith(_LOCAL_SIGNATURE):
        return ": its end is missing, upload it again as a whole"
    forms = [form for magic, form in OTHER_FORMS.items() if beginning.startswith(magic)]
    forms += ["a tar archive"] if beginning[_TAR_AT:] == _TAR else []
    return f" but {forms[0]}: make a .zip, another name is not enough" if forms else ""


def check_entries(archive: zipfile.ZipFile) -> dict[str, zipfile.ZipInfo]:
    """Check each entry and all entries together; returns the files by name."""
    files: dict[str, zipfile.ZipInfo] = {}
    folders: set[str] = set()
    seen: set[str] = set()
    for entry in archive.infolist():
        name = _checked_name(entry)
        if name in seen:
            raise BundleError(f"the zip has two entries named {shortened(name)!r}")
        seen.add(name)
        _check_kind(entry)
        if entry.is_dir():
            folders.update({name} - {""})
        else:
            files[name] = entry
        folders.update(str(folder) for folder in PurePosixPath(name).parents if folder.name)
    _check_together(files, folders)
    _check_alike(folders.union(files))
    _check_overlaps(archive)
    return files


def check_layout(file: BinaryIO, archive: zipfile.ZipFile) -> None:
    """Check that the entries fill the file from its start to the directory, in sequence and without gaps.

    Reads the header before each entry's data, which the directory does not contain: the data may overlap
    the next entry, or leave a gap with content that another reader finds.
    """
    for entry, end in _spans(archive):
        file.seek(entry.header_offset)
        header = file.read(_LOCAL.size)
        if len(header) < _LOCAL.size or not header.startswith(_LOCAL_SIGNATURE):
            raise BundleError(f"{_named(entry)} is not where the zip's directory says")
        _, _, flags, *_, name_bytes, extra_bytes = _LOCAL.unpack(header)
        gap = end - entry.header_offset - _LOCAL.size - name_bytes - extra_bytes - entry.compress_size
        is_descriptor = bool(flags & _DESCRIPTOR_FLAG) and gap in _DESCRIPTOR_BYTES
        faults = {
            _OVERLAPS: gap < 0,
            f"is followed by {gap} bytes that belong to no entry": gap > 0 and not is_descriptor,
        }
        _refuse(_named(entry), faults)


def _checked_name(entry: zipfile.ZipInfo) -> str:
    """The entry's path, plain and relative, without the final slash of a folder and a first ``./``.

    Empty for ``./``, the folder of the bundle itself.
    """
    raw = entry.orig_filename
    name = raw.removesuffix("/").removeprefix("./") if raw != "./" else ""
    parts = name.split("/")
    is_long = len(raw.encode()) > MAX_PATH_BYTES or any(len(part.encode()) > MAX_PART_BYTES for part in parts)
    faults = {
        "has a character in its name that is not allowed": not raw.isprintable() or raw != entry.filename,
        "has a name that is not marked as UTF-8: rename the file with letters of ASCII": not (
            raw.isascii() or entry.flag_bits & _UTF8_FLAG
        ),
        "has a backslash in its name, as from Windows PowerShell 5: make the zip with the Explorer (Send to, "
        "Compressed folder), PowerShell 7, or python3 -m zipfile -c": "\\" in raw,
        "has an absolute path": name.startswith("/") or name[1:2] == ":",
        "points outside the bundle": ".." in parts,
        "is not a plain path": ("" in parts or "." in parts) and raw != "./",
        f"is nested deeper than {MAX_DEPTH}": len(parts) > MAX_DEPTH,
        "has too long a name": is_long,
    }
    _refuse(f"entry {shortened(raw)!r}", faults)
    return name


def _check_kind(entry: zipfile.ZipInfo) -> None:
    kind = stat.S_IFMT(entry.external_attr >> 16)
    is_folder = entry.is_dir()
    is_readable = entry.compress_type in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
    most_bytes = max(FREE_OF_RATIO_BYTES, MAX_RATIO * entry.compress_size)
    faults = {
        "is a symbolic link": kind == stat.S_IFLNK,
        "is neither a file nor a folder": kind not in (0, stat.S_IFREG, stat.S_IFDIR),
        "is a folder by its name only, or by its mode only": kind != 0
        and is_folder != (kind == stat.S_IFDIR),
        "is encrypted": bool(entry.flag_bits & _ENCRYPTED_FLAGS),
        "is neither stored nor deflated": not is_readable,
        "is a folder with content": is_folder and entry.file_size > 0,
        f"unpacks to more than {MAX_RATIO} times its size": entry.file_size > most_bytes,
    }
    _refuse(_named(entry), faults)


def _check_together(files: Mapping[str, zipfile.ZipInfo], folders: set[str]) -> None:
    both, count = folders.intersection(files), len(files) + len(folders)
    size = sum(entry.file_size for entry in files.values())
    faults = {
        f"has {shortened(min(both, default=''))!r} both as a file and as a folder": bool(both),
        f"has {count} files and folders, more than {MAX_PATHS}": count > MAX_PATHS,
        f"unpacks to {size} bytes, more than {MAX_UNPACKED_BYTES}": size > MAX_UNPACKED_BYTES,
    }
    _refuse("the zip", faults)


def _check_alike(paths: Iterable[str]) -> None:
    """Refuse two paths that some file system treats as equal."""
    known: dict[str, str] = {}
    for path in sorted(paths):
        other = known.setdefault(unicodedata.normalize("NFC", path).casefold(), path)
        if other != path:
            raise BundleError(
                f"entries {shortened(other)!r} and {shortened(path)!r} differ only in case or accents"
            )


def _check_overlaps(archive: zipfile.ZipFile) -> None:
    """Refuse entries that overlap each other or the directory."""
    for entry, end in _spans(archive):
        if entry.header_offset + _LOCAL.size + len(entry.filename.encode()) + entry.compress_size > end:
            raise BundleError(f"{_named(entry)} {_OVERLAPS}")


def _spans(archive: zipfile.ZipFile) -> Iterator[tuple[zipfile.ZipInfo, int]]:
    """The entries in file order, each with the offset where the next entry or the directory begins."""
    entries = sorted(archive.infolist(), key=lambda entry: entry.header_offset)
    if entries and entries[0].header_offset:
        raise BundleError("the zip has data before or after the archive")
    ends = [entry.header_offset for entry in entries[1:]] + [archive.start_dir]
    yield from zip(entries, ends, strict=True)


def _named(entry: zipfile.ZipInfo) -> str:
    return f"entry {shortened(entry.filename)!r}"
