"""Copies a SQLite database while others write it."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from tournament.services.backups.archive import BackupError, Progress

PAGES_AT_ONCE = 4096
NAME = "db.sqlite3"


def dump(database: Path, copy: Path, progress: Progress) -> None:
    """Copy the database as it is now; ``copy`` must not exist yet. Writers go on meanwhile."""
    with closing(sqlite3.connect(database, isolation_level=None)) as source:
        # One read transaction around all steps: else the copy begins anew after every write of others.
        source.execute("BEGIN")
        source.execute("SELECT count(*) FROM sqlite_schema").fetchone()
        with closing(sqlite3.connect(copy)) as target:
            source.backup(target, pages=PAGES_AT_ONCE, progress=_counting(progress))
        source.execute("ROLLBACK")
    copy.chmod(0o600)


def check(copy: Path) -> None:
    """Raises ``BackupError`` unless it is a sound database."""
    try:
        with closing(sqlite3.connect(copy)) as database:
            (answer,) = database.execute("PRAGMA quick_check(1)").fetchone()
    except sqlite3.DatabaseError as error:
        answer = str(error)
    if answer != "ok":
        raise BackupError(f"the database in the backup is damaged: {answer}")


def _counting(progress: Progress) -> Callable[[int, int, int], None]:
    def step(status: int, remaining: int, total: int) -> None:
        progress("copying the database", total - remaining, total)

    return step
