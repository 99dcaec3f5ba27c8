"""Restores the backup of a site into an empty data folder and, with PostgreSQL, an empty database.

Until the last step the data folder has the folder ``RESTORING``, so that no site starts on a part of a
backup. A restore that was interrupted is repeated from the start.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

from django.conf import settings
from django.db import connection
from django.db.migrations.executor import MigrationExecutor
from django.db.migrations.loader import MigrationLoader

from engines import __version__
from engines.files import atomic_file
from tournament.models import Bot, Ladder, Tournament, User
from tournament.services.backups import RESTORING, postgresql, sqlite
from tournament.services.backups.archive import (
    BUNDLES,
    DATABASE,
    SECRET_KEY,
    About,
    BackupError,
    Progress,
    extract,
)
from tournament.services.backups.writing import applied_migrations, database_file

OWN = {RESTORING, "secret_key", "lock"}
"""What a data folder may have that has no site yet."""


def restore_backup(path: Path, progress: Progress) -> About:
    """Restore a backup; returns what it says of itself.

    Raises ``BackupError`` or ``OSError``. Before an error only ``RESTORING`` was written, except that an
    interrupted restore may leave bundles, which the next one completes.
    """
    _check_empty()
    draft = settings.DATA / RESTORING
    draft.mkdir(mode=0o700, parents=True, exist_ok=True)
    _clear(draft)  # the folder stays: it marks the data folder as one in which a restore was begun
    try:
        about = extract(path, draft, progress)
        _check_fits(about)
        if about.vendor == "sqlite":
            sqlite.check(draft / DATABASE / sqlite.NAME)
    except BackupError:
        shutil.rmtree(draft)
        raise
    _place_bundles(draft / BUNDLES)
    _place_key(draft / SECRET_KEY)
    if about.vendor == "sqlite":
        _place_database(draft)
    else:
        # Not the command, which also creates the rows that every site has.
        MigrationExecutor(connection).migrate(list(about.migrations.items()))
        postgresql.load(draft / DATABASE, progress)
    shutil.rmtree(draft)
    return about


def restore_database(path: Path) -> None:
    """Replace a SQLite database by the one in a backup; nothing may use it. Raises as ``extract``."""
    with tempfile.TemporaryDirectory(prefix=".restore-", dir=database_file().parent) as folder:
        extract(path, Path(folder), lambda *_: None)
        _place_database(Path(folder))


def _place_database(draft: Path) -> None:
    connection.close()
    for ending in ("-wal", "-shm"):  # of the database that is replaced
        database_file().with_name(database_file().name + ending).unlink(missing_ok=True)
    os.replace(draft / DATABASE / sqlite.NAME, database_file())


def _clear(folder: Path) -> None:
    for entry in folder.iterdir():
        shutil.rmtree(entry) if entry.is_dir() else entry.unlink()


def _check_empty() -> None:
    """Raises ``BackupError`` if the data folder or the database is in use."""
    was_begun = (settings.DATA / RESTORING).exists()
    if settings.DATA.exists():
        allowed = OWN | ({settings.BUNDLES.name} if was_begun else set())
        if taken := sorted({entry.name for entry in settings.DATA.iterdir()} - allowed):
            raise BackupError(
                f"the data folder {str(settings.DATA)!r} is not empty, it has {taken[0]!r}:"
                " choose an empty folder with DUARENA_DATA"
            )
    if connection.vendor == "sqlite":
        if database_file().exists():
            raise BackupError(f"there is a database already: {str(database_file())!r}")
    elif applied_migrations() and not (was_begun and _has_no_rows()):
        raise BackupError("the database of DATABASE_URL is not empty: create a new one")


def _has_no_rows() -> bool:
    """Whether a site's tables are empty: those of an interrupted restore, which fills all or none."""
    tables = set(connection.introspection.table_names())
    models = (Bot, Ladder, Tournament, User)
    return not any(model._meta.db_table in tables and model.objects.exists() for model in models)


def _check_fits(about: About) -> None:
    """Raises ``BackupError`` for a backup of another kind of database or of a later release."""
    if about.vendor != connection.vendor:
        raise BackupError(
            f"the backup is of a {about.vendor} database, DATABASE_URL names one of {connection.vendor}"
        )
    known = MigrationLoader(None).disk_migrations
    for step in about.migrations.items():
        if step not in known and step[0] in {app for app, _ in known}:
            raise BackupError(
                f"the backup was made by release {about.release} with the migration {'.'.join(step)}, which"
                f" this release, {__version__}, does not have: restore it with that release or a later one"
            )


def _place_bundles(folder: Path) -> None:
    for bundle in sorted(folder.glob("*.zip")):
        place = settings.BUNDLES / bundle.name[:2] / bundle.name
        place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        shutil.move(bundle, place)


def _place_key(file: Path) -> None:
    """Store the key, unless the environment gives it."""
    if not os.environ.get("DUARENA_SECRET_KEY"):
        with atomic_file(settings.DATA / "secret_key", mode=0o600) as written:
            written.write(file.read_bytes())
