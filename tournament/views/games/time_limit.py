"""A limit on the time of database queries whose cost a visitor chooses by the filters of an address."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

from django.db import OperationalError, connection, transaction

STEPS = 100_000
"""Instructions of SQLite between two looks at the clock: about a millisecond."""


class TookTooLong(Exception):
    """A query was ended at the limit."""


@contextmanager
def limited_queries(seconds: float) -> Iterator[None]:
    """End the queries in the block after this time and raise ``TookTooLong``.

    On SQLite the time is that of the block, on PostgreSQL that of each of its queries. The block only reads.
    """
    if connection.vendor == "postgresql":
        with _limited_on_postgresql(seconds):
            yield
    else:
        with _limited_on_sqlite(seconds):
            yield


@contextmanager
def _limited_on_sqlite(seconds: float) -> Iterator[None]:
    connection.ensure_connection()
    database = connection.connection
    end = time.monotonic() + seconds
    database.set_progress_handler(lambda: time.monotonic() > end, STEPS)
    try:
        yield
    except OperationalError as error:
        if str(error) == "interrupted":
            raise TookTooLong from None
        raise
    finally:
        database.set_progress_handler(None, 0)


@contextmanager
def _limited_on_postgresql(seconds: float) -> Iterator[None]:
    try:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute("SELECT set_config('statement_timeout', %s, true)", [str(round(1000 * seconds))])
            yield
            cursor.execute("SELECT set_config('statement_timeout', '0', true)")  # the transaction may go on
    except OperationalError as error:
        if getattr(error.__cause__, "sqlstate", "") == "57014":  # query_canceled
            raise TookTooLong from None
        raise
