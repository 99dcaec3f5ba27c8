"""Reads rows that several indexed queries find together, in one statement, without sorting all of them."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from django.core.exceptions import EmptyResultSet
from django.db import connection
from django.db.models import QuerySet

MOST_PARTS = 200
"""Of one statement; SQLite allows 500."""
PARTS_COUNTED = 20
"""Of one statement that counts."""
PRIMARY_KEY = "primary key"
"""Instead of the name of an index: only the ids find the rows."""


def first_of_parts(
    parts: Sequence[QuerySet[Any]],
    order: Sequence[str],
    count: int,
    *more: str,
    indexes: Sequence[str] = (),
) -> list[tuple[Any, ...]]:
    """The first ``count`` rows of all parts together, as the values of the columns of ``order`` and ``more``.

    The columns of ``order`` all ascend or all descend (``-``). Reads at most ``count`` rows a part, in one
    statement for up to ``MOST_PARTS`` parts; a row that several parts have is returned once. In SQL, because
    Django's ``union`` cannot limit its parts on SQLite; values are therefore as the database has them. An
    empty value counts as the smallest. ``indexes`` has the name of the index for each part, or is empty.
    """
    descends, columns = order[0].startswith("-"), [column.removeprefix("-") for column in order]
    heads = [part.order_by(*order).values_list(*columns, *more)[:count] for part in parts]
    found: list[tuple[Any, ...]] = []
    for start in range(0, len(heads), MOST_PARTS):
        end = start + MOST_PARTS
        found += _union(heads[start:end], indexes[start:end])
    return sorted(set(found), key=_with_empty_values, reverse=descends)[:count]


def _with_empty_values(row: tuple[Any, ...]) -> list[tuple[bool, Any]]:
    return [(value is not None, value) for value in row]


def some_ids(rows: QuerySet[Any], index: str, count: int) -> list[int]:
    """The ids of any ``count`` rows, or of all if there are fewer; for ``index`` see ``first_of_parts``."""
    return [pk for (pk,) in _union([rows.order_by().values_list("pk")[:count]], [index])]


def count_of_parts(parts: Sequence[QuerySet[Any]], indexes: Sequence[str], most: int) -> int:
    """How many rows all parts have together; stops a little above ``most``, so that it stays cheap."""
    found = set[tuple[Any, ...]]()
    for start in range(0, len(parts), PARTS_COUNTED):
        if len(found) <= most:
            some = slice(start, start + PARTS_COUNTED)
            heads = [part.order_by().values_list("pk")[: most + 1] for part in parts[some]]
            found.update(_union(heads, indexes[some]))
    return len(found)


def _union(heads: Sequence[QuerySet[Any]], indexes: Sequence[str]) -> list[tuple[Any, ...]]:
    texts, values = list[str](), list[Any]()
    for number, (head, index) in enumerate(zip(heads, indexes or [""] * len(heads), strict=True)):
        with suppress(EmptyResultSet):
            text, parameters = head.query.sql_with_params()
            if index and connection.vendor == "sqlite":  # it knows no counts of values to choose one by
                table = f'FROM "{head.model._meta.db_table}"'
                by = "NOT INDEXED" if index == PRIMARY_KEY else f'INDEXED BY "{index}"'
                text = text.replace(table, f"{table} {by}", 1)
            texts.append(f"SELECT * FROM ({text}) AS part{number}")
            values += parameters
    if not texts:
        return []
    with connection.cursor() as cursor:
        cursor.execute(" UNION ALL ".join(texts), values)
        rows: list[tuple[Any, ...]] = cursor.fetchall()
        return rows
