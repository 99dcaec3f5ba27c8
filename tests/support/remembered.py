"""Rows that many tests of a file begin with: made for the first of them, and copied for the others."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any, TypeVar

from django.db import connection

Made = TypeVar("Made")
Rows = dict[str, list[tuple[Any, ...]]]

_known: dict[Callable[..., object], tuple[Rows, bytes]] = {}


def remembered(make: Callable[..., Made], *given: object) -> Made:
    """What ``make`` returns for what is given, with the rows that it has stored.

    All rows of all tables are set, so a call comes first in its test. Without SQLite they are made anew.
    """
    if connection.vendor != "sqlite":
        return make(*given)
    if make not in _known:
        made = make(*given)
        _known[make] = _read(), pickle.dumps(made)
        return made
    rows, pickled = _known[make]
    _write(rows)
    copied: Made = pickle.loads(pickled)
    return copied


def _read() -> Rows:
    with connection.cursor() as cursor:
        return {
            table: cursor.execute(f'SELECT * FROM "{table}"').fetchall()
            for table in connection.introspection.table_names(cursor)
        }


def _write(rows: Rows) -> None:
    with connection.cursor() as cursor:
        cursor.execute("PRAGMA defer_foreign_keys = ON")
        for table, copied in rows.items():
            cursor.execute(f'DELETE FROM "{table}"')
            if copied:
                places = ", ".join(["%s"] * len(copied[0]))
                cursor.executemany(f'INSERT INTO "{table}" VALUES ({places})', copied)
