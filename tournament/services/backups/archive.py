"""Writes the backup of a site, also while games are played, and checks one.

It is a zip archive, the same for every kind of database: ``tables/TABLE.jsonl`` (see ``rows``) as of one
moment, then ``bundles/SHA256.zip``, which never change, ``secret_key``, and last ``about.json``. What Redis
holds is left out: the record keeper sends lost games again.
"""

from __future__ import annotations

import datetime
import fcntl
import hashlib
import json
import os
import re
import shutil
import tarfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import BinaryIO
from zipfile import ZIP_DEFLATED, ZIP_STORED, BadZipFile, ZipFile

from django.conf import settings
from django.db import connection
from django.db.migrations.recorder import MigrationRecorder

from engines import __version__
from tournament.models import BotVersion, Bundle
from tournament.services.backups import rows
from tournament.services.backups.rows import BackupError

FORMAT = 2
ABOUT, SECRET_KEY, TABLES, BUNDLES = "about.json", "secret_key", "tables/", "bundles/"
MAX_TEXT_BYTES = 1024 * 1024
"""Of ``about.json`` and ``secret_key``."""
LEVEL = 1
"""Of zlib: higher levels take longer than the rest together."""
DRAFT = ".backup.part"
"""What a killed backup leaves in its folder; the next one in that folder replaces it."""
_NAME = re.compile(r"about\.json|secret_key|tables/[a-z]\w{0,99}\.jsonl|bundles/[0-9a-f]{64}\.zip")

Progress = Callable[[str, int, int], None]
"""Called with what is done now, and how much of how much."""


@dataclass(frozen=True, slots=True)
class About:
    """What a backup says of itself."""

    release: str
    created: str
    """ISO 8601, UTC."""
    migrations: dict[str, str]
    """The last applied migration of each app."""
    format: int = FORMAT


def write_backup(path: Path, progress: Progress) -> int:
    """Write a backup that replaces ``path`` when it is whole; returns its size in bytes.

    Raises ``BackupError``, ``OSError`` or ``django.db.Error``; a file that was there before then stays.
    """
    with _draft(path.with_name(DRAFT)) as file:
        write_archive(file, progress)
        file.flush()
        os.fsync(file.fileno())
        os.replace(path.with_name(DRAFT), path)
        return file.tell()


def write_archive(file: BinaryIO, progress: Progress) -> None:
    """Write a backup into a file or a pipe. Raises as ``write_backup``."""
    now = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
    with ZipFile(file, "w", ZIP_DEFLATED, compresslevel=LEVEL) as archive:
        with rows.snapshot():
            about = About(__version__, now, applied_migrations())
            tables = rows.tables()
            for number, table in enumerate(tables):
                progress("copying the tables", number, len(tables))
                with archive.open(f"{TABLES}{table}.jsonl", "w", force_zip64=True) as member:
                    rows.write_table(table, member)
            bundles = sorted(Bundle.objects.values_list("sha256", flat=True))
        for number, sha256 in enumerate(bundles):
            progress("copying the bundles", number, len(bundles))
            _add_bundle(archive, sha256)
        archive.writestr(SECRET_KEY, settings.SECRET_KEY)
        archive.writestr(ABOUT, json.dumps(asdict(about), indent=1))


def applied_migrations() -> dict[str, str]:
    """The last applied migration of each app; empty for a database without tables."""
    latest: dict[str, str] = {}
    for app, name in MigrationRecorder(connection).applied_migrations():
        latest[app] = max(latest.get(app, ""), name)
    return latest


@contextmanager
def _draft(path: Path) -> Iterator[BinaryIO]:
    """A new file that only this process writes; removed after an exception."""
    with open(path, "r+b", opener=lambda name, _: os.open(name, os.O_RDWR | os.O_CREAT, 0o600)) as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            is_ours = os.path.samestat(os.fstat(file.fileno()), path.stat())
        except (BlockingIOError, FileNotFoundError):
            is_ours = False
        if not is_ours:
            raise BackupError(f"another backup is being written in {path.parent}")
        file.truncate()
        try:
            yield file
        except BaseException:
            path.unlink()
            raise


def _add_bundle(archive: ZipFile, sha256: str) -> None:
    """Copy a bundle; those of refused versions are deleted at any time and may be missing."""
    path = Bundle(sha256=sha256).path
    try:
        archive.write(path, f"{BUNDLES}{sha256}.zip", ZIP_STORED)
    except FileNotFoundError:
        if BotVersion.objects.filter(bundle=sha256).exclude(state=BotVersion.State.REFUSED).exists():
            raise BackupError(f"the bundle {path} is missing, but a version needs it") from None


def check_archive(path: Path, progress: Progress) -> About:
    """Read all of a backup; returns what it says of itself. Writes nothing.

    Raises ``BackupError`` for a file that is no backup, is cut off, holds anything else than what was
    written, or is too large for the disk of the data folder, and ``OSError`` if it cannot be read.
    """
    if not path.is_dir() and tarfile.is_tarfile(path):
        raise BackupError(
            f"{str(path)!r} is a tar archive, the former form of backups: restore it with the checkout that"
            " wrote it, and let the `./arena up` of this release update that site"
        )
    try:
        with ZipFile(path) as archive:
            _check_members(archive)
            _check_contents(archive, progress)
            return _read_about(archive.read(ABOUT))
    except BackupError as error:
        raise BackupError(f"{str(path)!r} is no backup of Duarena, or damaged: {error}") from None
    except (BadZipFile, zlib.error, EOFError, RuntimeError, ValueError) as error:
        raise BackupError(f"{str(path)!r} is no backup, or a part of one: {error}") from None


def _check_members(archive: ZipFile) -> None:
    sizes: dict[str, int] = {}
    for member in archive.infolist():
        if not _NAME.fullmatch(member.filename) or member.filename in sizes:
            raise BackupError(f"it holds {member.filename[:80]!r}")
        sizes[member.filename] = member.file_size
    for name in (ABOUT, SECRET_KEY):
        if not 0 < sizes.get(name, 0) <= MAX_TEXT_BYTES:
            raise BackupError(f"{name!r} is missing, empty or larger than {MAX_TEXT_BYTES:,} bytes")
    stored_here = ("",) if connection.vendor == "sqlite" else (BUNDLES,)
    needed = sum(size for name, size in sizes.items() if name.startswith(stored_here))
    if needed > (free := shutil.disk_usage(settings.DATA).free):
        raise BackupError(f"it unpacks to {needed:,} bytes, but {settings.DATA} has room for {free:,}")


def _check_contents(archive: ZipFile, progress: Progress) -> None:
    """Read every member, so that ``ZipFile`` compares it with its checksum."""
    members = archive.infolist()
    for number, member in enumerate(members):
        progress("checking the backup", number, len(members))
        with archive.open(member) as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()  # type: ignore[arg-type]
        if member.filename.startswith(BUNDLES) and member.filename != f"{BUNDLES}{digest}.zip":
            raise BackupError(f"the content of {member.filename!r} has another SHA-256")
    if not archive.read(SECRET_KEY).decode().strip():
        raise BackupError(f"{SECRET_KEY!r} is empty")


def _read_about(content: bytes) -> About:
    try:
        fields = json.loads(content)
        if fields.get("format") != FORMAT:
            raise BackupError(f"its format is {fields.get('format')!r:.80}, and this release reads {FORMAT}")
        about = About(**fields)
        texts = (about.release, about.created, *about.migrations, *about.migrations.values())
        if not all(isinstance(text, str) and text.isprintable() for text in texts):
            raise TypeError("every value is a printable text")
    except (ValueError, TypeError, AttributeError, RecursionError) as error:
        raise BackupError(f"{ABOUT!r} is malformed: {error}") from None
    return about
