"""Prepares the site's database before other processes use it: creates it, or updates an older one.

An older database is backed up first. If the update fails, the database is again what it was.
"""

from __future__ import annotations

import datetime
from pathlib import Path

import django
from django.core.exceptions import ImproperlyConfigured
from django.core.management import call_command
from django.db import DatabaseError, connection, transaction
from django.db.migrations.executor import MigrationExecutor

from tournament.embedded.console import Console
from tournament.embedded.options import OptionError
from tournament.migrations._preparing import prepare

BACKUPS = "backups"
"""The folder of the backups in the data folder."""
KEPT = 3
"""So many backups of updates are kept."""


def open_database(data: Path, console: Console) -> None:
    """Set Django up from the environment and apply the migrations; raises ``OptionError``."""
    try:
        django.setup()
        _update(data, console)
        call_command("migrate", verbosity=0, interactive=False)  # with the rows that every site has
    except ImproperlyConfigured as error:
        raise OptionError(str(error)) from None
    except DatabaseError as error:
        raise OptionError(f"the database cannot be used: {_first_line(error)}") from None


def _update(data: Path, console: Console) -> None:
    """Apply what an older database lacks, all or nothing; does nothing for a new one."""
    # Imported here: the models need Django to be set up.
    from tournament.services.backups.archive import applied_migrations

    executor = MigrationExecutor(connection)
    steps = executor.migration_plan(executor.loader.graph.leaf_nodes())
    if not steps or "tournament" not in applied_migrations():
        return
    console.say(f"The database is of an earlier release: {len(steps)} steps to update it, after a backup.")
    backup = _back_up(data, console)
    console.say(f"Backup: {backup} ({backup.stat().st_size:,} bytes)")
    try:
        prepare(steps)
        # SQLite cannot change tables inside a transaction while it checks foreign keys; each step does.
        with connection.constraint_checks_disabled(), transaction.atomic():
            # SQLite reads the whole database to check foreign keys: once is enough.
            connection.check_constraints = lambda *_: None  # type: ignore[method-assign]
            try:
                call_command("migrate", interactive=False)
            finally:
                del connection.check_constraints
            console.say("Checking the rows.")
            connection.check_constraints()
    except Exception as error:
        raise OptionError(
            f"the update of the database failed ({_first_line(error)}), and the database is as it was"
            f" before: start the earlier release with it; the backup is {backup}"
        ) from error
    console.say("The database is up to date.")


def _back_up(data: Path, console: Console) -> Path:
    from tournament.services.backups import BackupError
    from tournament.services.backups.archive import write_backup

    folder = data / BACKUPS
    folder.mkdir(mode=0o700, exist_ok=True)
    path = folder / f"before-update-{datetime.datetime.now(datetime.UTC):%Y%m%dT%H%M%S}.zip"
    try:
        write_backup(path, lambda progress: console.progress(f"backup: {progress}"))
    except (BackupError, OSError) as error:
        raise OptionError(f"the database was not updated, because it cannot be backed up: {error}") from None
    finally:
        console.end_progress()
    for old in sorted(folder.glob("before-update-*"))[:-KEPT]:
        old.unlink()
    return path


def _first_line(error: BaseException) -> str:
    return str(error).strip().partition("\n")[0]
