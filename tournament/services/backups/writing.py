"""Writes the backup of a site, also while games are played.

The database is copied as of one moment. Bundles never change and are copied afterwards, so all that the copy
names are there. What Redis holds is left out: the record keeper sends lost games again.
"""

from __future__ import annotations

import datetime
import tempfile
from pathlib import Path

from django.conf import settings
from django.db import connection
from django.db.migrations.recorder import MigrationRecorder

from engines import __version__
from engines.files import atomic_file
from tournament.models import BotVersion, Bundle
from tournament.services.backups import postgresql, sqlite
from tournament.services.backups.archive import (
    BUNDLES,
    DATABASE,
    PACKED,
    SECRET_KEY,
    About,
    ArchiveWriter,
    BackupError,
    Progress,
)


def write_backup(path: Path, progress: Progress) -> int:
    """Write a backup that replaces ``path`` when it is whole; returns its size in bytes.

    Needs as much free space as the database and the backup together, beside ``path``. Raises ``BackupError``
    or ``OSError``; a file that was there before is then unchanged.
    """
    bundles = _bundles()
    with tempfile.TemporaryDirectory(prefix=".backup-", dir=path.parent) as name:
        folder = Path(name)
        about = _about()
        _copy_database(folder, progress)
        bundles |= _bundles()  # uploaded meanwhile: a copy too many does no harm
        with atomic_file(path, mode=0o600) as file:
            archive = ArchiveWriter(file, about, packed=path.suffix in PACKED)
            archive.add(SECRET_KEY, settings.SECRET_KEY.encode())
            for copy in sorted(folder.iterdir()):
                with copy.open("rb") as content:
                    archive.add_file(DATABASE + copy.name, content, copy.stat().st_size)
            _add_bundles(archive, sorted(bundles), progress)
            archive.close()
    return path.stat().st_size


def applied_migrations() -> dict[str, str]:
    """The last applied migration of each app; empty for a database without tables."""
    recorder = MigrationRecorder(connection)
    latest: dict[str, str] = {}
    for app, name in recorder.applied_migrations():
        latest[app] = max(latest.get(app, ""), name)
    return latest


def database_file() -> Path:
    """The file of a SQLite database."""
    return Path(connection.settings_dict["NAME"])


def _about() -> About:
    now = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
    return About(__version__, connection.vendor, now, applied_migrations())


def _copy_database(folder: Path, progress: Progress) -> None:
    if connection.vendor == "postgresql":
        postgresql.dump(folder, progress)
    elif connection.vendor == "sqlite":
        sqlite.dump(database_file(), folder / sqlite.NAME, progress)
    else:
        raise BackupError(f"a database of the kind {connection.vendor!r} cannot be copied")


def _bundles() -> set[str]:
    return set(Bundle.objects.values_list("sha256", flat=True))


def _add_bundles(archive: ArchiveWriter, digests: list[str], progress: Progress) -> None:
    """Copy the bundles; those of refused versions are deleted at any time and may be missing."""
    for number, sha256 in enumerate(digests):
        progress("copying the bundles", number, len(digests))
        bundle = Bundle(sha256=sha256)
        try:
            content = bundle.path.open("rb")
        except FileNotFoundError:
            if BotVersion.objects.filter(bundle=sha256).exclude(state=BotVersion.State.REFUSED).exists():
                raise BackupError(f"the bundle {bundle.path} is missing, but a version needs it") from None
            continue
        with content:
            archive.add_file(f"{BUNDLES}{sha256}.zip", content, bundle.path.stat().st_size)
    progress("copying the bundles", len(digests), len(digests))
