"""Inserts and updates of hundreds of thousands of rows: takes seconds, where model instances take minutes.

Columns that are not given get their field's default. Only the database checks the values.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain, islice
from typing import Any

from django.db import connection, transaction
from django.db.models import Model, QuerySet

CHUNK = 1_000
"""Rows in each statement."""
_PLAIN = {str, int, float, bool, type(None)}


def insert_rows(model: type[Model], rows: Iterable[Mapping[str, Any]]) -> None:
    """Insert rows in their order; all have the same columns. The rows are never all in memory at once.

    A column has the name of its field's attribute: ``game_id``, not ``game``.
    """
    source = iter(rows)
    for first in source:
        defaults = _defaults(model, first)
        columns = [*first, *defaults]
        rest = tuple(defaults.values())
        fields = [_field(model, column) for column in first]
        values = ((*_prepared(fields, row.values()), *rest) for row in chain((first,), source))
        insert_values(_table(model, columns), values, len(columns))


def insert_values(table: str, rows: Iterable[tuple[Any, ...]], width: int) -> None:
    """Insert rows of ``width`` values into a table, given in SQL with or without its columns; all or none.

    PostgreSQL's COPY is four times as fast as a statement for each row.
    """
    with transaction.atomic(savepoint=False), connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            with connection.wrap_database_errors, cursor.copy(f"COPY {table} FROM STDIN") as copy:
                for row in rows:
                    copy.write_row(row)
            return
        source = iter(rows)
        sql = f"INSERT INTO {table} VALUES ({', '.join(['%s'] * width)})"
        while chunk := list(islice(source, CHUNK)):
            cursor.executemany(sql, chunk)


def add_counts(model: type[Model], rows: Sequence[Mapping[str, Any]], keys: Sequence[str]) -> None:
    """Insert rows, or add their numbers to the rows that exist already; all have the same columns.

    ``keys`` are the columns of a unique constraint; all other columns are numbers.
    """
    if not rows:
        return
    quote = connection.ops.quote_name
    table = quote(model._meta.db_table)
    added = (f"{quote(c)} = {table}.{quote(c)} + excluded.{quote(c)}" for c in rows[0] if c not in keys)
    sql = (
        f"INSERT INTO {_table(model, rows[0])} VALUES ({', '.join(['%s'] * len(rows[0]))})"
        f" ON CONFLICT ({', '.join(map(quote, keys))}) DO UPDATE SET {', '.join(added)}"
    )
    with connection.cursor() as cursor:
        cursor.executemany(sql, [tuple(row.values()) for row in rows])


def insert_from(model: type[Model], values: Mapping[str, str], source: str) -> int:
    """Insert a row for each row of ``source`` (SQL after FROM); ``values`` has SQL expressions by column.

    Returns the number of rows. All arguments become SQL unchanged: never pass input from outside.
    """
    defaults = _defaults(model, values)
    expressions = [value.replace("%", "%%") for value in values.values()] + ["%s"] * len(defaults)
    sql = f"INSERT INTO {_table(model, [*values, *defaults])} SELECT {', '.join(expressions)} FROM {source}"
    with connection.cursor() as cursor:
        cursor.execute(sql, tuple(defaults.values()))
        return int(cursor.rowcount)


def update_rows(
    model: type[Model], rows: Sequence[tuple[Mapping[str, Any], Mapping[str, Any]]], also: str = ""
) -> int:
    """Set fields of the rows that meet their conditions, all by one statement; returns how many matched.

    ``rows`` are (values, conditions), each with the same fields; ``also`` is a further condition in SQL.
    """
    if not rows:
        return 0
    setting, where = ([_field(model, name) for name in part] for part in rows[0])
    fields = [*setting, *where]
    assigned, compared = (
        [f"{connection.ops.quote_name(field.column)} = %s" for field in part] for part in (setting, where)
    )
    if also:
        compared.append(also)
    table = connection.ops.quote_name(model._meta.db_table)
    with connection.cursor() as cursor:
        cursor.executemany(
            f"UPDATE {table} SET {', '.join(assigned)} WHERE {' AND '.join(compared)}",
            [_prepared(fields, (*new.values(), *old.values())) for new, old in rows],
        )
        return int(cursor.rowcount)


def replace_rows(
    rows: QuerySet[Any],
    constant: Mapping[str, Any],
    keys: Sequence[str],
    others: Sequence[str],
    wanted: Sequence[tuple[Any, ...]],
) -> bool:
    """Make ``rows`` those of ``wanted``, which are values of ``keys`` and ``others``; whether any differed.

    All rows have the ``constant`` columns, which are unique together with the keys, and no others but ``id``.
    The values are of plain types. Part of the caller's transaction.
    """
    model, width, fixed = rows.model, len(keys), tuple(constant.values())
    stored = {row[1:]: row[0] for row in rows.values_list("pk", *keys, *others)}
    left = {row[:width]: stored[row] for row in stored.keys() - wanted}
    new = [row for row in wanted if row not in stored]
    if not left and not new:
        return False
    changed, missing = [], []
    for row in new:
        pk = left.pop(row[:width], None)
        if pk is None:
            missing.append((*fixed, *row))
        else:
            changed.append((*row[width:], pk))
    surplus = list(left.values())
    for start in range(0, len(surplus), CHUNK):
        delete_rows(model._default_manager.filter(pk__in=surplus[start : start + CHUNK]))
    _update_values(model, others, changed)
    columns = (*constant, *keys, *others)
    insert_values(_table(model, columns), missing, len(columns))
    return True


def _update_values(model: type[Model], columns: Sequence[str], rows: Sequence[tuple[Any, ...]]) -> None:
    """Set columns of rows, by tuples of the values and the primary key.

    PostgreSQL reads JSON in a fraction of the time that a statement for each row takes.
    """
    table, *names = map(connection.ops.quote_name, (model._meta.db_table, *columns))
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            text = json.dumps([dict(zip((*columns, "id"), row, strict=True)) for row in rows])
            setting = ", ".join(f"{name} = new.{name}" for name in names)
            source = f"json_populate_recordset(NULL::{table}, %s) AS new WHERE {table}.id = new.id"
            cursor.execute(f"UPDATE {table} SET {setting} FROM {source}", [text])
        else:
            setting = ", ".join(f"{name} = %s" for name in names)
            cursor.executemany(f"UPDATE {table} SET {setting} WHERE id = %s", rows)


def delete_rows(rows: QuerySet[Any]) -> None:
    """Delete rows by one statement, without looking for rows that refer to them; there must be none."""
    rows._raw_delete(rows.db)


def _field(model: type[Model], name: str) -> Any:
    return model._meta.get_field(name)


def _prepared(fields: Sequence[Any], values: Iterable[Any]) -> list[Any]:
    """Convert values for the database; plain types need no conversion."""
    return [
        value if type(value) in _PLAIN else field.get_db_prep_save(value, connection)
        for field, value in zip(fields, values, strict=True)
    ]


def _table(model: type[Model], columns: Iterable[str]) -> str:
    quoted = ", ".join(connection.ops.quote_name(column) for column in columns)
    return f"{connection.ops.quote_name(model._meta.db_table)} ({quoted})"


def _defaults(model: type[Model], given: Iterable[str]) -> dict[str, Any]:
    """Database values of the fields not given, by column; the database sets the primary key."""
    return {
        field.column: field.get_db_prep_save(field.get_default(), connection)
        for field in model._meta.concrete_fields
        if field.column is not None and field.column not in given and not field.primary_key
    }
