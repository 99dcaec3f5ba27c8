"""The order in which transactions lock rows, so that no two of them ever wait for each other.

The tables in this order: ladders, tournaments, games, attempts, live games, workers, bot versions, owners'
shares; the rows of one table in the order of their keys.

A transaction that changes the state of games or ends attempts first locks all their tournaments, at once. So
it waits for nobody's games. Of an attempt, only its lease, start and worker change without that lock. A
transaction that holds the lock of one tournament locks no other; what concerns others follows in a
transaction of its own. SQLite has one lock for all, and ignores these.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import TypeVar

from django.db.models import Model, QuerySet

from tournament.models import Tournament

Row = TypeVar("Row", bound=Model)


def lock(rows: QuerySet[Row]) -> list[Row]:
    """Lock rows in the order of their keys and return them; part of the caller's transaction.

    The rows are selected by columns of their own table. Rows that refer to them can still be inserted.
    """
    return list(rows.select_for_update(no_key=True).order_by("pk"))


def lock_tournaments(keys: Collection[int]) -> list[Tournament]:
    """Lock these tournaments; part of the caller's transaction, which has locked none before."""
    return lock(Tournament.objects.filter(pk__in=keys))


def in_order(rows: QuerySet[Row]) -> QuerySet[Row]:
    """The same rows for one UPDATE that locks them in the order of their keys; within a transaction.

    The rows are selected by columns of their own table.
    """
    keys = rows.order_by("pk").select_for_update(no_key=True).values("pk")
    return rows.model._default_manager.filter(pk__in=keys)
