"""The file of a backup: a tar archive whose last member lists the digests of all others.

Members, in this order: ``about.json``, ``secret_key``, ``database/…``, ``bundles/….zip``, ``contents.json``.
A file without its last member, or with a member that differs from its digest, is refused as a whole.
"""

from __future__ import annotations

import hashlib
import io
import json
import re
import tarfile
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO, Any, BinaryIO, Protocol

FORMAT = 1
ABOUT, CONTENTS, SECRET_KEY, DATABASE, BUNDLES = (
    *("about.json", "contents.json", "secret_key", "database/", "bundles/"),
)
PACKED = (".gz", ".tgz")
"""Endings of file names whose archive is compressed."""
LEVEL = 1
"""Of gzip: a database shrinks to a third, at about the speed of a disk."""
MAX_TEXT_BYTES = 64 * 1024 * 1024
CHUNK_BYTES = 1024 * 1024
_NAME = re.compile(r"about\.json|contents\.json|secret_key|database/\w[\w.]{0,99}|bundles/[0-9a-f]{64}\.zip")


class BackupError(Exception):
    """A backup that cannot be written, read or restored; the text is a sentence for the operator."""


Progress = Callable[[str, int, int], None]
"""Called with what is done now, and how many bytes or rows of how many."""


@dataclass(frozen=True, slots=True)
class About:
    """What a backup says of itself."""

    release: str
    vendor: str
    """Of the database: ``sqlite`` or ``postgresql``."""
    created: str
    """ISO 8601, UTC."""
    migrations: dict[str, str]
    """The last applied migration of each app."""
    format: int = FORMAT


class Hash(Protocol):
    """A digest that is being computed."""

    def update(self, data: bytes, /) -> None: ...


class ArchiveWriter:
    """Writes the members of a backup; ``close`` writes the list of digests."""

    def __init__(self, file: BinaryIO, about: About, *, packed: bool) -> None:
        more: dict[str, Any] = {"compresslevel": LEVEL} if packed else {}
        self._tar = tarfile.open(fileobj=file, mode="w:gz" if packed else "w", **more)  # noqa: SIM115
        self._digests: dict[str, str] = {}
        self.add(ABOUT, json.dumps(asdict(about), indent=1).encode())

    def add(self, name: str, content: bytes) -> None:
        self.add_file(name, io.BytesIO(content), len(content))

    def add_file(self, name: str, content: IO[bytes], size: int) -> None:
        """Write a member of ``size`` bytes; raises ``OSError`` if the content is shorter."""
        member = tarfile.TarInfo(name)
        member.size, member.mode, member.mtime = size, 0o600, int(time.time())
        digest = hashlib.sha256()
        self._tar.addfile(member, _Hashing(content, digest))
        self._digests[name] = digest.hexdigest()

    def close(self) -> None:
        self.add(CONTENTS, json.dumps(self._digests, indent=1).encode())
        self._tar.close()


def extract(file: Path, folder: Path, progress: Progress) -> About:
    """Unpack a backup into an empty folder and check every digest.

    Raises ``BackupError`` for a file that is no backup, is cut off or was changed, ``OSError`` if it cannot
    be read or the folder not written.
    """
    digests: dict[str, str] = {}
    total = file.stat().st_size
    with file.open("rb") as stream:
        try:
            with tarfile.open(fileobj=stream, mode="r|*") as tar:
                for member in tar:
                    _check_member(file, member)
                    digests[member.name] = _unpack(tar, member, folder)
                    progress("reading", min(stream.tell(), total), total)
        except (tarfile.TarError, EOFError) as error:
            raise BackupError(f"{str(file)!r} is no backup, or a part of one: {error}") from None
    listed = _read_json(file, folder / CONTENTS, "it is cut off")
    digests.pop(CONTENTS)
    if digests != listed:
        wrong = sorted(name for name in {*digests, *listed} if digests.get(name) != listed.get(name))
        raise BackupError(f"{str(file)!r} is damaged: {wrong[0]!r} is not what was written")
    return _read_about(file, _read_json(file, folder / ABOUT, "it does not say what it holds"))


def _check_member(file: Path, member: tarfile.TarInfo) -> None:
    if not member.isreg() or not _NAME.fullmatch(member.name):
        raise BackupError(f"{str(file)!r} is no backup of Duarena: it holds {member.name[:80]!r}")


def _unpack(tar: tarfile.TarFile, member: tarfile.TarInfo, folder: Path) -> str:
    """Write a member's content under its name; returns the digest."""
    path = folder / member.name
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    content = tar.extractfile(member)
    assert content is not None
    digest = hashlib.sha256()
    with path.open("xb") as written:
        while chunk := content.read(CHUNK_BYTES):
            digest.update(chunk)
            written.write(chunk)
    path.chmod(0o600)
    return digest.hexdigest()


def _read_json(file: Path, path: Path, if_missing: str) -> dict[str, Any]:
    if not path.exists():
        raise BackupError(f"{str(file)!r} is not a whole backup: {if_missing}")
    try:
        found = json.loads(path.read_bytes())
    except ValueError as error:
        raise BackupError(f"{str(file)!r} is damaged: {path.name}: {error}") from None
    if not isinstance(found, dict):
        raise BackupError(f"{str(file)!r} is damaged: {path.name} is no object")
    return found


def _read_about(file: Path, fields: Mapping[str, Any]) -> About:
    if fields.get("format") != FORMAT:
        raise BackupError(
            f"{str(file)!r} has the format {fields.get('format')!r}; this release reads {FORMAT}"
        )
    try:
        about = About(**fields)
    except TypeError as error:
        raise BackupError(f"{str(file)!r} is damaged: {ABOUT}: {error}") from None
    return about


class _Hashing:
    """A file that is read and hashed."""

    def __init__(self, file: IO[bytes], digest: Hash) -> None:
        self._file, self._digest = file, digest

    def read(self, size: int = -1) -> bytes:
        chunk = self._file.read(size)
        self._digest.update(chunk)
        return chunk
