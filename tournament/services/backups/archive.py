"""Writes the backup of a site, also while games are played, and checks one.

It is a zip archive, the same for every kind of database: ``tables/TABLE.jsonl`` (see ``rows``) as of one
moment, then ``bundles/SHA256.zip``, which never change, ``secret_key``, and last ``about.json``. What Redis
holds is left out: the record keeper sends lost games again.
"""

from __future__ import annotations

import datetime
import fcntl
import json
import os
import zlib
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import BinaryIO
from zipfile import ZIP_DEFLATED, ZIP_STORED, BadZipFile, ZipFile

from django.conf import settings
from django.db import connection
from django.db.migrations.recorder import MigrationRecorder

from engines.files import replacing
from engines.release import RELEASE
from tournament.models import BotVersion, Bundle
from tournament.services.backups import BackupError, Show, rows, show_nothing

FORMAT = 2
ABOUT, SECRET_KEY, TABLES = "about.json", "secret_key", "tables/"
BUNDLES, EVIDENCE = "bundles/", "evidence/"
LEVEL = 1
"""The level of zlib: higher levels take longer than the rest together."""
DRAFT = ".backup.part"
"""What a killed backup leaves in its folder; the next one in that folder replaces it."""


@dataclass(frozen=True, slots=True)
class About:
    """What a backup says of itself."""

    release: str
    """The release of the program that wrote it, with its commit: ``engines.release``."""
    created: str
    """ISO 8601, UTC."""
    migrations: dict[str, str]
    """The last applied migration of each app."""
    format: int = FORMAT


def write_backup(path: Path, show: Show = show_nothing) -> None:
    """Write a backup that replaces ``path`` when it is whole; a file that was there before stays until then.

    Raises ``BackupError``, ``OSError`` or ``django.db.Error``.
    """
    draft = path.with_name(DRAFT)
    with open(draft, "r+b", opener=lambda name, _: os.open(name, os.O_RDWR | os.O_CREAT, 0o600)) as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            is_ours = os.path.samestat(os.fstat(file.fileno()), draft.stat())
        except (BlockingIOError, FileNotFoundError):
            is_ours = False
        if not is_ours:
            raise BackupError(f"another backup is being written in {path.parent}")
        with replacing(path, draft, file):
            file.truncate()
            write_archive(file, show)


def write_archive(file: BinaryIO, show: Show = show_nothing) -> None:
    """Write a backup into a file or a pipe. Raises as ``write_backup``."""
    now = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
    with ZipFile(file, "w", ZIP_DEFLATED, compresslevel=LEVEL) as archive:
        with rows.snapshot():
            about = About(RELEASE, now, applied_migrations())
            for table in rows.tables():
                show(f"{table}: 0 rows")
                with archive.open(f"{TABLES}{table}.jsonl", "w", force_zip64=True) as member:
                    rows.write_table(table, member, show)
            bundles = sorted(Bundle.objects.values_list("sha256", flat=True))
        for number, sha256 in enumerate(bundles, 1):
            _add_bundle(archive, sha256)
            show(f"{number:,}/{len(bundles):,} bundles")
        for path in sorted(settings.EVIDENCE.glob("*/*.zip")):  # its table is missing before an update
            archive.write(path, f"{EVIDENCE}{path.name}", ZIP_STORED)
        archive.writestr(SECRET_KEY, settings.SECRET_KEY)
        archive.writestr(ABOUT, json.dumps(asdict(about), indent=1))


def applied_migrations() -> dict[str, str]:
    """The last applied migration of each app; empty for a database without tables."""
    latest: dict[str, str] = {}
    for app, name in MigrationRecorder(connection).applied_migrations():
        latest[app] = max(latest.get(app, ""), name)
    return latest


def _add_bundle(archive: ZipFile, sha256: str) -> None:
    """Copy a bundle; those of refused and withdrawn versions may have been deleted.

    Only columns of the first release are read: the database of an update is an old one.
    """
    path = Bundle(sha256=sha256).path
    try:
        archive.write(path, f"{BUNDLES}{sha256}.zip", ZIP_STORED)
    except FileNotFoundError:
        without = [BotVersion.State.REFUSED, BotVersion.State.WITHDRAWN]
        if BotVersion.objects.filter(bundle=sha256).exclude(state__in=without).exists():
            raise BackupError(f"the bundle {path} is missing, but a version needs it") from None


def check_archive(path: Path) -> About:
    """Read all of a backup; returns what it says of itself. Writes nothing.

    Raises ``BackupError`` for a file that is no backup, is damaged or of another format, and ``OSError`` if
    it cannot be read.
    """
    try:
        with ZipFile(path) as archive:
            if damaged := archive.testzip():
                raise BadZipFile(f"{damaged!r} has another checksum")
            if not archive.read(SECRET_KEY).strip():
                raise BadZipFile(f"{SECRET_KEY!r} is empty")
            about = About(**json.loads(archive.read(ABOUT)))
    except (BadZipFile, zlib.error, EOFError, KeyError, RuntimeError, TypeError, ValueError) as error:
        raise BackupError(f"{str(path)!r} is no backup of Duarena, or damaged: {error}") from None
    if about.format != FORMAT:
        raise BackupError(f"the format of {str(path)!r} is {about.format}, and this release reads {FORMAT}")
    return about
