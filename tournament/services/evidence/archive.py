"""Writes an archive of evidence: the same files always give the same bytes."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Generator, Iterable, Mapping
from typing import BinaryIO
from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipFile, ZipInfo

from engines.evidence.format import (
    MANIFEST,
    SIGNATURE,
    EvidenceFile,
    EvidenceManifest,
    write_document,
)
from tournament.services.signing import sign

_MODE = 0o100644 << 16


class ArchiveWriter:
    """A zip whose members are written one after the other, and then its manifest."""

    def __init__(self, file: BinaryIO) -> None:
        self._zip = ZipFile(file, "w", ZIP_DEFLATED)
        self._files: dict[str, EvidenceFile] = {}

    def add(self, path: str, chunks: Iterable[bytes], *, is_packed: bool = False) -> Generator[None]:
        """Write a member; pauses after each chunk. ``is_packed``: its content is compressed already."""
        digest, size = hashlib.sha256(), 0
        with self._zip.open(_member(path, is_packed=is_packed), "w", force_zip64=True) as member:
            for chunk in chunks:
                digest.update(chunk)
                size += len(chunk)
                member.write(chunk)
                yield
        self._files[path] = EvidenceFile(digest.hexdigest(), size)

    def close(self) -> None:
        """Abandon what is not finished; call it before the file is closed."""
        self._zip.fp = None

    def finish(
        self, manifest: Callable[[Mapping[str, EvidenceFile]], EvidenceManifest]
    ) -> tuple[bytes, bytes]:
        """Write the manifest, made from the files written, and its signature; returns both."""
        content = write_document(manifest(dict(sorted(self._files.items()))))
        signature = sign(content)
        self._zip.writestr(_member(MANIFEST, is_packed=False), content)
        self._zip.writestr(_member(SIGNATURE, is_packed=False), signature)
        self._zip.close()
        return content, signature


def _member(path: str, *, is_packed: bool) -> ZipInfo:
    """A file of 1980, so that the archive does not depend on when it was made."""
    member = ZipInfo(path)
    member.compress_type = ZIP_STORED if is_packed else ZIP_DEFLATED
    member.create_system, member.external_attr = 3, _MODE
    return member
