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
from pathlib import Path
from typing import BinaryIO

from workers.bundles.manifest import BundleError

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


@contextmanager
def opened(source: bytes | BinaryIO | Path) -> Iterator[BinaryIO]:
    if isinstance(source, Path):
        with source.open("rb") as file:
            yield file
    elif isinstance(source, bytes):
        yield io.BytesIO(source)
    else:
        yield source


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
        raise BundleError(f"{what} has a name that is not UTF-8: {_shortened(repr(error.object))}") from None
    except (zipfile.BadZipFile, zlib.error, EOFError, struct.error) as error:
        raise BundleError(f"{what} is damaged: {_shortened(str(error) or 'it ends too early')}") from None
    except (NotImplementedError, RuntimeError) as error:
        raise BundleError(f"{what} cannot be read: {_shortened(str(error))}") from None


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
        raise BundleError("this is not a zip file")
    _, disk, first_disk, here, count, length, offset, comment = _END.unpack_from(tail, at)
    if tail[max(0, at - _ZIP64_LOCATOR_BYTES) :].startswith(_ZIP64_LOCATOR_SIGNATURE):
        raise BundleError("the zip is in the zip64 format, which bundles do not need")
    if disk or first_disk or here != count:
        raise BundleError("the zip is one part of a multi-part archive")
    if at + _END.size + comment != len(tail) or offset + length != tail_start + at:
        raise BundleError("the zip has data before or after the archive")
    if count > MAX_PATHS:
        raise BundleError(f"the zip has {count} entries, more than {MAX_PATHS}")
    if length > MAX_DIRECTORY_BYTES:
        raise BundleError(f"the zip's directory is {length} bytes, more than {MAX_DIRECTORY_BYTES}")
    return int(count)


def check_entries(archive: zipfile.ZipFile) -> dict[str, zipfile.ZipInfo]:
    """Check each entry and all entries together; returns the files by name."""
    files: dict[str, zipfile.ZipInfo] = {}
    folders: set[str] = set()
    seen: set[str] = set()
    for entry in archive.infolist():
        name = _checked_name(entry)
        if name in seen:
            raise BundleError(f"the zip has two entries named {_shortened(name)!r}")
        seen.add(name)
        _check_kind(entry)
        if entry.is_dir():
            folders.add(name)
        else:
            files[name] = entry
        folders.update(_parents(name))
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
            raise BundleError(f"entry {_shortened(entry.filename)!r} is not where the zip's directory says")
        _, _, flags, *_, name_bytes, extra_bytes = _LOCAL.unpack(header)
        gap = end - entry.header_offset - _LOCAL.size - name_bytes - extra_bytes - entry.compress_size
        if gap < 0:
            raise BundleError(f"entry {_shortened(entry.filename)!r} overlaps another part of the zip")
        if gap and not (flags & _DESCRIPTOR_FLAG and gap in _DESCRIPTOR_BYTES):
            raise BundleError(
                f"entry {_shortened(entry.filename)!r} is followed by {gap} bytes that belong to no entry"
            )


def _checked_name(entry: zipfile.ZipInfo) -> str:
    """The entry's path, plain and relative, without the final slash of a folder."""
    raw = entry.orig_filename
    name = raw.removesuffix("/")
    if not raw.isprintable() or raw != entry.filename:
        raise BundleError(f"entry {_shortened(raw)!r} has a character in its name that is not allowed")
    if not (raw.isascii() or entry.flag_bits & _UTF8_FLAG):
        raise BundleError(f"entry {_shortened(raw)!r} has a name that is not marked as UTF-8")
    if "\\" in raw:
        raise BundleError(f"entry {_shortened(raw)!r} has a backslash in its name")
    if raw.startswith("/") or name[1:2] == ":":
        raise BundleError(f"entry {_shortened(raw)!r} has an absolute path")
    parts = name.split("/")
    if ".." in parts:
        raise BundleError(f"entry {_shortened(raw)!r} points outside the bundle")
    if "" in parts or "." in parts:
        raise BundleError(f"entry {_shortened(raw)!r} is not a plain path")
    if len(parts) > MAX_DEPTH:
        raise BundleError(f"entry {_shortened(raw)!r} is nested deeper than {MAX_DEPTH}")
    if len(raw.encode()) > MAX_PATH_BYTES or any(len(part.encode()) > MAX_PART_BYTES for part in parts):
        raise BundleError(f"entry {_shortened(raw)!r} has too long a name")
    return name


def _check_kind(entry: zipfile.ZipInfo) -> None:
    name = _shortened(entry.filename)
    kind = stat.S_IFMT(entry.external_attr >> 16)
    if kind == stat.S_IFLNK:
        raise BundleError(f"entry {name!r} is a symbolic link")
    if kind not in (0, stat.S_IFREG, stat.S_IFDIR):
        raise BundleError(f"entry {name!r} is neither a file nor a folder")
    if kind and entry.is_dir() != (kind == stat.S_IFDIR):
        raise BundleError(f"entry {name!r} is a folder by its name only, or by its mode only")
    if entry.flag_bits & _ENCRYPTED_FLAGS:
        raise BundleError(f"entry {name!r} is encrypted")
    if entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise BundleError(f"entry {name!r} is neither stored nor deflated")
    if entry.is_dir() and entry.file_size:
        raise BundleError(f"entry {name!r} is a folder with content")
    if entry.file_size > max(FREE_OF_RATIO_BYTES, MAX_RATIO * entry.compress_size):
        raise BundleError(f"entry {name!r} unpacks to more than {MAX_RATIO} times its size")


def _check_together(files: Mapping[str, zipfile.ZipInfo], folders: set[str]) -> None:
    both = folders.intersection(files)
    if both:
        raise BundleError(f"the zip has {_shortened(min(both))!r} both as a file and as a folder")
    if len(files) + len(folders) > MAX_PATHS:
        raise BundleError(f"the zip has {len(files) + len(folders)} files and folders, more than {MAX_PATHS}")
    size = sum(entry.file_size for entry in files.values())
    if size > MAX_UNPACKED_BYTES:
        raise BundleError(f"the zip unpacks to {size} bytes, more than {MAX_UNPACKED_BYTES}")


def _check_alike(paths: Iterable[str]) -> None:
    """Refuse two paths that some file system treats as equal."""
    known: dict[str, str] = {}
    for path in sorted(paths):
        other = known.setdefault(unicodedata.normalize("NFC", path).casefold(), path)
        if other != path:
            raise BundleError(
                f"entries {_shortened(other)!r} and {_shortened(path)!r} differ only in case or accents"
            )


def _check_overlaps(archive: zipfile.ZipFile) -> None:
    """Refuse entries that overlap each other or the directory."""
    for entry, end in _spans(archive):
        if entry.header_offset + _LOCAL.size + len(entry.filename.encode()) + entry.compress_size > end:
            raise BundleError(f"entry {_shortened(entry.filename)!r} overlaps another part of the zip")


def _spans(archive: zipfile.ZipFile) -> Iterator[tuple[zipfile.ZipInfo, int]]:
    """The entries in file order, each with the offset where the next entry or the directory begins."""
    entries = sorted(archive.infolist(), key=lambda entry: entry.header_offset)
    if entries and entries[0].header_offset:
        raise BundleError("the zip has data before or after the archive")
    ends = [entry.header_offset for entry in entries[1:]] + [archive.start_dir]
    yield from zip(entries, ends, strict=True)


def _parents(name: str) -> Iterator[str]:
    while "/" in name:
        name = name.rpartition("/")[0]
        yield name


def _shortened(text: str) -> str:
    return text if len(text) <= 120 else text[:117] + "..."
