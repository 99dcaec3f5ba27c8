"""The order in which transactions lock rows, so that no two of them ever wait for each other.

The tables in this order: users, matchmakers, ladders, tournaments, jobs, games, attempts, live games,
workers, compliance checks, bot versions, bots, games against bots, searches, owners' slot hours, webhooks;
the rows of one table in the order of their keys.

A transaction that changes the state of games or ends attempts first locks all their tournaments, at once. So
it waits for nobody's games. Of an attempt, only its start and worker change without that lock. A
transaction that holds the lock of one tournament locks no other; what concerns others follows in a
transaction of its own. SQLite has one lock for all, and ignores these.

No other module locks rows itself. Rows that refer to locked rows can still be inserted.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, TypeVar

from django.db import connection
from django.db.models import Model, QuerySet

from tournament.models import Tournament

Row = TypeVar("Row", bound=Model)


def lock(rows: QuerySet[Row]) -> list[Row]:
    """Lock rows in the order of their keys and return them; part of the caller's transaction.

    The rows are selected by columns of their own table.
    """
    return list(locking(rows).order_by("pk"))


def hold(rows: QuerySet[Row]) -> None:
    """Lock rows that the caller does not read; part of its transaction, which on SQLite has all locks."""
    if connection.features.has_select_for_update:
        lock(rows.only("pk"))


def lock_row(rows: QuerySet[Row], key: Any) -> Row:
    """Lock one row and return it; part of the caller's transaction. Raises ``DoesNotExist``.

    Rows that come with it by ``select_related`` are not locked.
    """
    return locking(rows).get(pk=key)


def lock_tournament(key: int) -> Tournament:
    """Lock one tournament; part of the caller's transaction, which has locked no other."""
    return lock_row(Tournament.objects.all(), key)


def lock_tournaments(keys: Collection[int]) -> list[Tournament]:
    """Lock these tournaments; part of the caller's transaction, which has locked none before."""
    return lock(Tournament.objects.filter(pk__in=keys))


def locking(rows: QuerySet[Row]) -> QuerySet[Row]:
    """The same rows; each is locked when it is read. For ``get_or_create`` and the like."""
    return rows.select_for_update(no_key=True, of=("self",))


def in_order(rows: QuerySet[Row]) -> QuerySet[Row]:
    """The same rows for one UPDATE that locks them in the order of their keys; within a transaction.

    The rows are selected by columns of their own table.
    """
    keys = rows.order_by("pk").select_for_update(no_key=True).values("pk")
    return rows.model._default_manager.filter(pk__in=keys)
