"""Rows that many tests begin with: made for the first of them, and copied for the others."""

from __future__ import annotations

import pickle
import time
from collections.abc import Callable
from typing import Any, TypeVar

from django.db import connection, transaction

Made = TypeVar("Made")
Rows = dict[str, list[tuple[Any, ...]]]
FRESH_SECONDS = 30.0
"""Rows are made anew after this time, so that what they say of the time is not much older than the test."""

_known: dict[Callable[..., object], tuple[float, Rows, bytes]] = {}


def remembered(make: Callable[..., Made], *given: object) -> Made:
    """What ``make`` returns for what is given, with the rows that it has stored.

    All rows of all tables are set, so a call comes first in its test. Without SQLite they are made anew.
    """
    if connection.vendor != "sqlite":
        return make(*given)
    made_at, rows, pickled = _known.get(make, (float("-inf"), {}, b""))
    if time.monotonic() - made_at > FRESH_SECONDS:
        made = make(*given)
        _known[make] = time.monotonic(), _read(), pickle.dumps(made)
        return made
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
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("PRAGMA defer_foreign_keys = ON")
        for table, copied in rows.items():
            cursor.execute(f'DELETE FROM "{table}"')
            if copied:
                places = ", ".join(["%s"] * len(copied[0]))
                cursor.executemany(f'INSERT INTO "{table}" VALUES ({places})', copied)
