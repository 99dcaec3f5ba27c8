"""The difference between rebuilt and stored rating tables, kept beside them until it is applied at once.

Differing rating events go to a temporary table of this connection. Writing it takes no lock that another
connection waits for, and it ends with the process.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.db import connection
from django.db.models import Model

from tournament.models import RatingEvent
from tournament.services.bulk import insert_rows, insert_values, update_rows

TABLE = "rebuilt_event"
STAGED = 5_000
"""Rows in memory before they are written."""
_NUMBERS = ("mu_before", "sigma_before", "mu_after", "sigma_after")
_COLUMNS = ("ladder_id", "sequence", "game_id", "version_id", *_NUMBERS)


class InterferenceError(Exception):
    """The stored events changed between comparison and application."""


Event = tuple[int, float, float, float, float]
"""The game of an event, mu and sigma before and after it."""


class Shadow:
    """The events of one ladder that a rebuild will change, insert and delete."""

    def __init__(self, ladder: str) -> None:
        self._ladder = ladder
        self._staged: list[tuple[Any, ...]] = []
        self._changed = self._missing = 0
        self._extra: list[int] = []
        types = ", ".join(f"{name} double precision" for name in _NUMBERS)
        with connection.cursor() as cursor:
            cursor.execute(f"DROP TABLE IF EXISTS {TABLE}")
            cursor.execute(
                f"CREATE TEMPORARY TABLE {TABLE} (event_id bigint, ladder_id varchar(32), sequence bigint,"
                f" game_id bigint, version_id bigint, {types})"
            )

    @property
    def differs(self) -> bool:
        return bool(self._changed or self._missing or self._extra)

    def compare(self, expected: Mapping[tuple[int, int], Event], after: int, until: int) -> None:
        """Stage what differs from the stored events with these sequence numbers; excludes ``after``.

        ``expected`` has events by sequence number and version.
        """
        stored = RatingEvent.objects.filter(
            ladder_id=self._ladder, sequence__gt=after, sequence__lte=until
        ).values_list("sequence", "version_id", "id", "game_id", *_NUMBERS)
        missing = dict(expected)
        ladder, stage = self._ladder, self._staged.append
        for sequence, version, pk, *value in stored.iterator(STAGED):
            wanted = missing.get((sequence, version))
            if wanted is None or wanted[0] != value[0]:
                self._extra.append(pk)
                continue
            del missing[sequence, version]
            if wanted != tuple(value):
                self._changed += 1
                stage((pk, ladder, sequence, wanted[0], version, *wanted[1:]))
        for (sequence, version), wanted in missing.items():
            stage((None, ladder, sequence, wanted[0], version, *wanted[1:]))
        self._missing += len(missing)
        self.flush()

    def flush(self) -> None:
        """Write the staged rows, so that ``apply`` only has to copy."""
        if not self._staged:
            return
        insert_values(TABLE, self._staged, 1 + len(_COLUMNS))
        self._staged.clear()

    def apply(self) -> None:
        """Change the stored events; part of a transaction. Raises ``InterferenceError``."""
        for start in range(0, len(self._extra), STAGED):
            extra = RatingEvent.objects.filter(pk__in=self._extra[start : start + STAGED])
            if extra.delete()[0] != len(self._extra[start : start + STAGED]):
                raise InterferenceError
        table = connection.ops.quote_name(RatingEvent._meta.db_table)
        numbers = ", ".join(f"{name} = {TABLE}.{name}" for name in _NUMBERS)
        columns = ", ".join(_COLUMNS)
        with connection.cursor() as cursor:
            if self._changed:
                cursor.execute(
                    f"UPDATE {table} SET {numbers} FROM {TABLE} WHERE {table}.id = {TABLE}.event_id"
                )
                if cursor.rowcount != self._changed:
                    raise InterferenceError
            if self._missing:
                cursor.execute(
                    f"INSERT INTO {table} ({columns}) SELECT {columns} FROM {TABLE}"
                    " WHERE event_id IS NULL ORDER BY sequence"
                )

    def drop(self) -> None:
        with connection.cursor() as cursor:
            cursor.execute(f"DROP TABLE {TABLE}")


def replace_rows(
    model: type[Model], ladder: str, keys: tuple[str, ...], wanted: Mapping[tuple[Any, ...], dict[str, Any]]
) -> bool:
    """Make a ladder's rows those of ``wanted``, values by key columns; returns whether any differed.

    For tables without history, which are small.
    """
    names = tuple(next(iter(wanted.values()), {}))
    stored = {
        row[1 : 1 + len(keys)]: (row[0], row[1 + len(keys) :])
        for row in model._default_manager.filter(ladder_id=ladder).values_list("pk", *keys, *names)
    }
    surplus = [pk for key, (pk, _) in stored.items() if key not in wanted]
    changed = [
        (values, {"id": stored[key][0]})
        for key, values in wanted.items()
        if key in stored and stored[key][1] != tuple(values.values())
    ]
    missing = [
        {"ladder_id": ladder, **dict(zip(keys, key, strict=True)), **values}
        for key, values in wanted.items()
        if key not in stored
    ]
    for start in range(0, len(surplus), STAGED):
        model._default_manager.filter(pk__in=surplus[start : start + STAGED]).delete()
    update_rows(model, changed)
    insert_rows(model, missing)
    return bool(surplus or changed or missing)
