"""Restores the backup of a site into an empty data folder and an empty database of any kind.

Until the last step the data folder has the folder ``RESTORING``, so that no site starts on a part of a
backup. A restore that was interrupted is repeated from the start.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from zipfile import ZipFile

from django.conf import settings
from django.db import connection, transaction
from django.db.migrations.executor import MigrationExecutor
from django.db.migrations.loader import MigrationLoader

from engines.bundles.store import store_bundle
from engines.files import atomic_file
from engines.release import RELEASE
from tournament.models import Ladder
from tournament.services.backups import RESTORING, BackupError, Show, rows, show_nothing
from tournament.services.backups.archive import (
    BUNDLES,
    EVIDENCE,
    SECRET_KEY,
    TABLES,
    About,
    applied_migrations,
    check_archive,
)

OWN = {RESTORING, "secret_key", "lock"}
"""What a data folder may have that has no site yet."""


def restore_backup(path: Path, show: Show = show_nothing) -> About:
    """Restore a backup; returns what it says of itself.

    Raises ``BackupError``, ``OSError`` or ``django.db.Error``; the folder ``RESTORING`` then shows whether
    anything was written.
    """
    _check_empty()
    show("reading the backup")
    about = check_archive(path)
    _check_fits(about)
    with ZipFile(path) as archive:
        (settings.DATA / RESTORING).mkdir(mode=0o700, exist_ok=True)
        show("making the tables")
        # Not the command, which also creates the rows that every site has.
        MigrationExecutor(connection).migrate(list(about.migrations.items()))
        with connection.constraint_checks_disabled(), transaction.atomic():
            rows.clear_tables()
            names = archive.namelist()
            for number, name in enumerate(names, 1):
                show(f"{number:,}/{len(names):,} files")
                _restore_member(archive, name, show)
            show("checking the rows")
            rows.finish()
        if not os.environ.get("DUARENA_SECRET_KEY"):
            with atomic_file(settings.DATA / "secret_key", mode=0o600) as key:
                key.write(archive.read(SECRET_KEY))
    (settings.DATA / RESTORING).rmdir()
    return about


def _restore_member(archive: ZipFile, name: str, show: Show) -> None:
    with archive.open(name) as file:
        if name.startswith(TABLES):
            rows.read_table(name[len(TABLES) : -len(".jsonl")], file, show)
        elif name.startswith((BUNDLES, EVIDENCE)):
            folder = settings.BUNDLES if name.startswith(BUNDLES) else settings.EVIDENCE
            sha256 = store_bundle(folder, file)  # type: ignore[arg-type]
            if name.rpartition("/")[2] != f"{sha256}.zip":
                raise BackupError(f"the content of {name!r} has another SHA-256")


def _check_empty() -> None:
    """Raises ``BackupError`` if the data folder or the database is in use."""
    was_begun = (settings.DATA / RESTORING).exists()
    if not was_begun and (taken := sorted({*os.listdir(settings.DATA)} - OWN)):
        raise BackupError(
            f"the data folder {str(settings.DATA)!r} is not empty, it has {taken[0]!r}:"
            " choose an empty folder with DUARENA_DATA"
        )
    if connection.vendor == "sqlite" and not Path(connection.settings_dict["NAME"]).exists():
        return  # to ask it for its tables would make the file
    # Every site has ladders, and an interrupted restore fills all tables or none.
    is_filled = Ladder._meta.db_table in rows.tables() and Ladder.objects.exists()
    if is_filled or (applied_migrations() and not was_begun):
        raise BackupError("the database is not empty: create a new one, and name it in DATABASE_URL")


def _check_fits(about: About) -> None:
    """Raises ``BackupError`` for a backup of a later release."""
    known = MigrationLoader(None).disk_migrations
    for app, name in about.migrations.items():
        if (app, name) not in known:
            raise BackupError(
                f"the backup was made by release {about.release} with the migration {app}.{name}, which"
                f" this release, {RELEASE}, does not have: restore it with that release or a later one"
            )


def is_later(release: str) -> bool:
    """Whether a backup's release has a higher version than this one; commits are not compared."""
    versions = [
        [int(part) for part in re.findall(r"\d+", one.partition("+")[0])] for one in (release, RELEASE)
    ]
    return versions[0] > versions[1]
