"""Copies all tables of a PostgreSQL database into files and back, by COPY, without its client programs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from django.db import connection, transaction

from tournament.services.backups.archive import CHUNK_BYTES, BackupError, Progress

COLUMNS = "columns.json"
ENDING = ".copy"


@transaction.atomic
def dump(folder: Path, progress: Progress) -> None:
    """Write a file for each table, all as of one moment. Writers go on meanwhile."""
    with connection.cursor() as cursor:
        cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
        columns = _columns()
        for number, (table, names) in enumerate(columns.items()):
            progress("copying the tables", number, len(columns))
            sql = f"COPY {_quoted(table)} ({_list(names)}) TO STDOUT"
            with (folder / f"{table}{ENDING}").open("wb") as file, cursor.copy(sql) as copy:
                for chunk in copy:
                    file.write(chunk)
    progress("copying the tables", len(columns), len(columns))
    (folder / COLUMNS).write_text(json.dumps(columns, indent=1))


@transaction.atomic
def load(folder: Path, progress: Progress) -> None:
    """Replace the content of all tables, which must exist with the same columns; all or nothing.

    Raises ``BackupError`` if a table or column is missing.
    """
    columns: dict[str, list[str]] = json.loads((folder / COLUMNS).read_text())
    present = _columns()
    for table, names in columns.items():
        if missing := set(names) - set(present.get(table, ())):
            raise BackupError(f"the database has no column {min(missing)!r} in the table {table!r}")
    with connection.cursor() as cursor:
        cursor.execute(f"TRUNCATE {_list(present)}")
        for number, (table, names) in enumerate(columns.items()):
            progress("filling the tables", number, len(columns))
            sql = f"COPY {_quoted(table)} ({_list(names)}) FROM STDIN"
            with (folder / f"{table}{ENDING}").open("rb") as file, cursor.copy(sql) as copy:
                while chunk := file.read(CHUNK_BYTES):
                    copy.write(chunk)
        _advance_sequences(cursor)
    progress("filling the tables", len(columns), len(columns))


def _columns() -> dict[str, list[str]]:
    """The columns of each table in this database."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT table_name, column_name FROM information_schema.columns JOIN information_schema.tables"
            " USING (table_schema, table_name) WHERE table_schema = current_schema()"
            " AND table_type = 'BASE TABLE' AND is_generated = 'NEVER' ORDER BY table_name, ordinal_position"
        )
        found: dict[str, list[str]] = {}
        for table, column in cursor.fetchall():
            found.setdefault(table, []).append(column)
    return found


def _advance_sequences(cursor: Any) -> None:
    """Let each sequence go on after the highest number in its column."""
    cursor.execute(
        "SELECT table_name, column_name FROM information_schema.columns"
        " WHERE table_schema = current_schema() AND (is_identity = 'YES' OR column_default LIKE 'nextval(%%')"
    )
    for table, column in cursor.fetchall():
        cursor.execute(
            f"SELECT setval(pg_get_serial_sequence(%s, %s), coalesce(max({_quoted(column)}), 0) + 1, false)"
            f" FROM {_quoted(table)}",
            [_quoted(table), column],
        )


def _list(names: Any) -> str:
    return ", ".join(map(_quoted, names))


def _quoted(name: str) -> str:
    return connection.ops.quote_name(name)
