"""The rows of a database as lines of JSON, in a form that does not depend on the kind of database.

The first line of a table has the names of its columns, each further line the values of a row: numbers, texts,
booleans and null; a moment is a text in UTC, a UUID 32 hex digits, binary content ``{"base64": …}``.
"""

from __future__ import annotations

import datetime
import io
import json
import uuid
from base64 import b64decode, b64encode
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import IO, Any

from django.core.management.color import no_style
from django.db import connection, transaction

from tournament.services.backups import BackupError, Show, show_nothing
from tournament.services.bulk import insert_values

ROWS_AT_ONCE = 500
SHOWN_ROWS = 10_000
"""Progress is shown after so many rows."""


@contextmanager
def snapshot() -> Iterator[None]:
    """Whatever is read inside the block is of one moment; writers go on meanwhile."""
    if connection.vendor == "postgresql":
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
            yield
        return
    with connection.cursor() as cursor:
        cursor.execute("BEGIN DEFERRED")  # Django's own transactions lock out writers
        try:
            yield
        finally:
            cursor.execute("ROLLBACK")


LEFT_OUT = ("tournament_explorer", "tournament_waitingmail", "tournament_webhookdelivery")
"""How the names of tables begin that are not in a backup: the site makes the explorer's from others, and the
site of a backup must not send the mails and the events for webhooks once more."""


def tables() -> list[str]:
    """Those of a backup."""
    return [name for name in _all_tables() if not name.startswith(LEFT_OUT)]


def _all_tables() -> list[str]:
    """All but those that an update has begun to make."""
    names = connection.introspection.table_names()
    return sorted(name for name in names if not name.startswith("unfinished_"))


def write_table(table: str, file: IO[bytes], show: Show = show_nothing) -> None:
    """Write all rows of a table; only some are in memory at a time. Inside ``snapshot``."""
    names = _columns(table)
    encode = json.JSONEncoder(default=_plain, separators=(",", ":")).encode
    file.write(f"{encode(names)}\n".encode())
    with connection.chunked_cursor() as cursor:
        cursor.execute(f"SELECT {_quoted(names)} FROM {_quoted([table])}")
        written = 0
        while rows := cursor.fetchmany(ROWS_AT_ONCE):
            file.write("".join(f"{encode(row)}\n" for row in rows).encode())
            written += len(rows)
            if written % SHOWN_ROWS == 0:
                show(f"{table}: {written:,} rows")


def clear_tables() -> None:
    with connection.cursor() as cursor:
        for sql in connection.ops.sql_flush(no_style(), _all_tables()):
            cursor.execute(sql)


def read_table(table: str, file: IO[bytes], show: Show = show_nothing) -> None:
    """Insert the rows that ``write_table`` wrote. Raises ``BackupError`` and ``django.db.Error``.

    Call ``finish`` after all tables: a row may refer to a row of a later table.
    """
    values = _values(table, io.BufferedReader(file, 1 << 20), show)  # type: ignore[type-var]
    names = next(values, [])
    present = _columns(table) if table in tables() else []
    for name in names or [""]:
        if name not in present:
            raise BackupError(f"the database has no column {name!r:.80} in the table {table!r}")
    try:
        insert_values(f"{_quoted([table])} ({_quoted(names)})", map(tuple, values), len(names))
    except (ValueError, OverflowError) as error:
        raise BackupError(f"a row of the table {table!r} cannot be stored: {error}") from None


def finish() -> None:
    """Check all foreign keys, and let the numbers of new rows continue after the highest ones."""
    connection.check_constraints()
    if connection.vendor != "postgresql":
        return
    with connection.cursor() as cursor:
        for table in tables():
            for found in connection.introspection.get_sequences(cursor, table):
                last = f"SELECT coalesce(max({_quoted([found['column']])}), 0) + 1 FROM {_quoted([table])}"
                cursor.execute(f"SELECT setval(%s, ({last}), false)", [_quoted([found["name"]])])


def _plain(value: Any) -> Any:
    """The JSON of what one of the databases returns."""
    if isinstance(value, (bytes, memoryview)):
        return {"base64": b64encode(value).decode()}
    if isinstance(value, uuid.UUID):
        return value.hex
    if isinstance(value, datetime.datetime) and value.tzinfo:
        value = value.astimezone(datetime.UTC).replace(tzinfo=None)
    return str(value)  # of a moment or a day, as SQLite stores it


def _values(table: str, file: IO[bytes], show: Show) -> Iterator[list[Any]]:
    for number, line in enumerate(file, 1):
        if number % SHOWN_ROWS == 0:
            show(f"{table}: {number:,} rows")
        try:
            yield [b64decode(v["base64"]) if isinstance(v, dict) else v for v in json.loads(line)]
        except (ValueError, TypeError, KeyError) as error:
            raise BackupError(f"line {number} of the table {table!r} is malformed: {error}") from None


def _columns(table: str) -> list[str]:
    with connection.cursor() as cursor:
        return [column.name for column in connection.introspection.get_table_description(cursor, table)]


def _quoted(names: Iterable[str]) -> str:
    return ", ".join(map(connection.ops.quote_name, names))
