"""Inspects, stores, unpacks and makes bundles, the zips of bots.

``engines.bundles.archive`` checks the zip, ``engines.bundles.manifest`` its ``bot.toml``. Unpacking
measures the sizes again, because the sizes in a zip may be false.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import os
import shutil
import stat
import tempfile
import time
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import BinaryIO

from engines.bundles import is_sha256
from engines.bundles.archive import (
    MAX_UNPACKED_BYTES,
    MAX_ZIP_BYTES,
    as_file,
    check_entries,
    check_layout,
    read_zip,
    zip_errors,
)
from engines.bundles.manifest import (
    BEGINNING_BYTES,
    ELF,
    MANIFEST_NAME,
    MAX_MANIFEST_BYTES,
    BundleError,
    FindInterpreter,
    Manifest,
    check_command,
    explain_misnamed,
    explain_unstartable,
    parse_manifest,
)
from engines.files import atomic_file

__all__ = [
    "BundleError",
    "Manifest",
    "bundle_path",
    "drop_bundle",
    "fetch_bundle",
    "forget_dropped",
    "hash_bundle",
    "inspect_bundle",
    "pack_bundle",
    "read_manifest",
    "store_bundle",
    "unpack_bundle",
]

CHUNK_BYTES = 1024 * 1024
UNUSED_SECONDS = 7 * 24 * 3600
"""Unpacked bundles are kept for so long after the last start of their engine; no game takes longer."""
UNIX_SYSTEMS = (3, 19)
"""The makers of entries with a Unix mode: Unix and macOS."""


def inspect_bundle(
    source: bytes | BinaryIO,
    *,
    max_bytes: int = MAX_ZIP_BYTES,
    find: FindInterpreter | None = None,
) -> Manifest:
    """Check a zip without unpacking it; returns its manifest, raises ``BundleError``.

    Reads only the central directory, ``bot.toml`` and the program's first bytes, so it is quick for any
    upload. A file object stays open, at any offset. ``find`` looks up interpreters; None is
    ``find_interpreter``.
    """
    with read_zip(as_file(source), max_bytes=max_bytes) as archive:
        files = check_entries(archive)
        manifest = _read_manifest(archive, files)
        check_command(manifest, files, find)
        _check_program(archive, files, manifest.program)
        return manifest


def bundle_path(store: Path, sha256: str) -> Path:
    """The path of a bundle in a store folder; raises ``BundleError`` if ``sha256`` is not a hash."""
    if not is_sha256(sha256):
        raise BundleError(f"{sha256!r} is not the SHA-256 of a bundle")
    return store / sha256[:2] / f"{sha256}.zip"


def hash_bundle(source: bytes | BinaryIO) -> tuple[str, int]:
    """The SHA-256 of a zip in hex, and its size in bytes. Reads it in pieces."""
    digest, size = hashlib.sha256(), 0
    for chunk in _chunks(as_file(source)):
        digest.update(chunk)
        size += len(chunk)
    return digest.hexdigest(), size


def store_bundle(store: Path, source: bytes | BinaryIO) -> str:
    """Put a zip into a store folder atomically; returns its SHA-256. May be repeated."""
    sha256, _ = hash_bundle(source)
    path = bundle_path(store, sha256)
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        with atomic_file(path, mode=0o644) as stored:
            stored.writelines(_chunks(as_file(source)))
    return sha256


def drop_bundle(store: Path, sha256: str) -> None:
    """Delete a bundle from a store folder. May be repeated."""
    bundle_path(store, sha256).unlink(missing_ok=True)


def forget_dropped(store: Path, cache: Path) -> None:
    """Remove bundles from a cache that are no longer in the store, because they were refused.

    No engine of such a bundle starts. If the same bytes are uploaded again at this moment, a start that
    finds no folder gives a void and does not count against the bot. A bundle whose folder in the store is
    missing is kept. May be repeated.
    """
    for folder in cache.glob("[0-9a-f]" * 64):
        stored = bundle_path(store, folder.name)
        if stored.parent.is_dir() and not stored.exists():
            _remove_aside(folder)


def fetch_bundle(sha256: str, *, store: Path, cache: Path) -> Path:
    """The folder with an unpacked bundle: from the cache, else unpacked from the store.

    Several workers may call it at once. Raises ``BundleError`` if the bundle is refused,
    ``FileNotFoundError`` if the store does not have it.
    """
    source = bundle_path(store, sha256)
    folder = cache / sha256
    if not folder.is_dir():
        unpacked = unpack_bundle(source, sha256, cache)
        forget_unused(store, cache, time.time())  # not before: it may have been the wanted one
        return unpacked
    with contextlib.suppress(OSError):
        os.utime(folder)  # it is used
    return folder


def forget_unused(store: Path, cache: Path, now: float) -> None:
    """Remove bundles from a cache that were not used for ``UNUSED_SECONDS``, with their zips if it has these.

    A store elsewhere, such as the site's, stays as it is. May be repeated.
    """
    for pattern in ("[0-9a-f]" * 64, ".*-*"):  # also what killed processes left
        for folder in cache.glob(pattern):
            if _is_unused(folder, now):
                _remove_aside(folder)
    if not store.is_relative_to(cache):
        return
    for path in store.glob("??/*.zip"):
        if not (cache / path.stem).is_dir() and _is_unused(path, now):
            with contextlib.suppress(OSError):  # one that stays must not keep an engine from starting
                path.unlink()


def _is_unused(path: Path, now: float) -> bool:
    with contextlib.suppress(OSError):
        return path.stat().st_mtime < now - UNUSED_SECONDS
    return False


def _remove_aside(folder: Path) -> None:
    """Remove a folder of the cache, which is out of the way at once."""
    aside = Path(tempfile.mkdtemp(prefix=".dropped-", dir=folder.parent))
    with contextlib.suppress(OSError):  # another worker was first
        folder.rename(aside / folder.name)
    shutil.rmtree(aside, ignore_errors=True)


def read_manifest(folder: Path) -> Manifest:
    """The manifest of an unpacked bundle; raises ``BundleError`` and ``OSError``."""
    with (folder / MANIFEST_NAME).open("rb") as file:
        return parse_manifest(file.read(MAX_MANIFEST_BYTES + 1))


def unpack_bundle(source: Path, sha256: str, cache: Path) -> Path:
    """Unpack a zip into ``cache`` under its hash, atomically.

    Every file is read-only. The command's program is executable, and each file that is executable in the zip;
    a zip from Windows does not say, and there scripts with ``#!`` and Linux programs are. Raises
    ``BundleError`` for a refused zip and for a zip with another hash.
    """
    cache.mkdir(parents=True, exist_ok=True)
    folder = Path(tempfile.mkdtemp(prefix=f".{sha256[:12]}-", dir=cache))
    try:
        with source.open("rb") as file:
            if (found := hash_bundle(file)[0]) != sha256:
                raise BundleError(f"the bundle's SHA-256 is {found}, not {sha256}")
            _unpack(file, folder)
        return _move_into_place(folder, cache / sha256)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def pack_bundle(files: Mapping[str, bytes]) -> bytes:
    """A zip of ``files``; the same files give the same bytes and hash.

    Files are stored, not deflated: the output of deflate depends on the library's version.
    """
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED) as archive:
        for name in sorted(files):
            entry = zipfile.ZipInfo(name, date_time=(1980, 1, 1, 0, 0, 0))
            entry.create_system = 3
            entry.external_attr = (stat.S_IFREG | 0o644) << 16
            archive.writestr(entry, files[name])
    return buffer.getvalue()


def _read_manifest(archive: zipfile.ZipFile, files: Mapping[str, zipfile.ZipInfo]) -> Manifest:
    if MANIFEST_NAME not in files:
        raise BundleError(
            f"the zip has no {MANIFEST_NAME} at its top{explain_misnamed(files) or _inner_zip(files)}"
        )
    with zip_errors(f"entry {MANIFEST_NAME!r}"), archive.open(files[MANIFEST_NAME]) as file:
        return parse_manifest(file.read(MAX_MANIFEST_BYTES + 1))


def _inner_zip(files: Mapping[str, zipfile.ZipInfo]) -> str:
    inner = [name for name in files if name.casefold().endswith(".zip")]
    return f", but it has {inner[0]!r}: upload that zip itself" if len(inner) == 1 else ""


def _check_program(archive: zipfile.ZipFile, files: Mapping[str, zipfile.ZipInfo], program: str) -> None:
    """Raise ``BundleError`` for a program of the bundle that Linux cannot start."""
    if program in files:
        wrong = explain_unstartable(program, _beginning(archive, files[program]))
        if wrong is not None:
            raise BundleError(wrong)


def _beginning(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> bytes:
    with zip_errors(f"entry {entry.filename!r}"), archive.open(entry) as file:
        return file.read(BEGINNING_BYTES)


def _chunks(file: BinaryIO) -> Iterator[bytes]:
    """The content of a file from its start, in pieces."""
    file.seek(0)
    while chunk := file.read(CHUNK_BYTES):
        yield chunk


def _unpack(file: BinaryIO, folder: Path) -> None:
    with read_zip(file) as archive:
        files = check_entries(archive)
        check_layout(file, archive)
        program = _read_manifest(archive, files).program
        left = MAX_UNPACKED_BYTES
        for name, entry in files.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            left -= _unpack_file(archive, entry, path, left)
            path.chmod(0o555 if name == program or _is_executable(entry, path) else 0o444)
    folder.chmod(0o755)


def _is_executable(entry: zipfile.ZipInfo, path: Path) -> bool:
    """Whether a file is executable in the zip; from its content where the zip's maker knows no such bit."""
    mode = entry.external_attr >> 16
    if entry.create_system in UNIX_SYSTEMS and mode:
        return bool(mode & stat.S_IXUSR)
    with path.open("rb") as file:
        return file.read(len(ELF)).startswith((ELF, b"#!"))


def _unpack_file(archive: zipfile.ZipFile, entry: zipfile.ZipInfo, path: Path, limit: int) -> int:
    """Write one file and return its real size, which may differ from the size in the directory."""
    size = 0
    with zip_errors(f"entry {entry.filename!r}"), archive.open(entry) as packed, path.open("xb") as file:
        while chunk := packed.read(CHUNK_BYTES):
            size += len(chunk)
            if size > limit:
                raise BundleError(f"the zip unpacks to more than {MAX_UNPACKED_BYTES} bytes")
            file.write(chunk)
    if size != entry.file_size:
        raise BundleError(
            f"entry {entry.filename!r} is {size} bytes, not {entry.file_size} as its header says"
        )
    return size


def _move_into_place(folder: Path, target: Path) -> Path:
    try:
        folder.rename(target)
    except OSError:
        # Another worker was first; its folder has the same content.
        if not target.is_dir():
            raise
    return target
