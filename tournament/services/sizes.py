"""How many bytes each table of the database takes, with its indexes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.apps import apps
from django.db import connection

_SQLITE = """
    SELECT m.tbl_name, SUM(CASE m.type WHEN 'table' THEN d.pgsize ELSE 0 END),
        SUM(CASE m.type WHEN 'table' THEN 0 ELSE d.pgsize END)
    FROM dbstat AS d JOIN sqlite_master AS m ON m.name = d.name WHERE d.aggregate = TRUE GROUP BY m.tbl_name
"""
"""Reads every page of the file: about a second for each gigabyte."""
_POSTGRESQL = """
    SELECT relname, pg_table_size(oid), pg_indexes_size(oid) FROM pg_class
    WHERE relkind = 'r' AND relnamespace = current_schema()::regnamespace
"""


@dataclass(frozen=True, slots=True)
class TableSize:
    """The bytes of one table; ``title`` says what is in it."""

    name: str
    title: str
    content: int
    indexes: int

    @property
    def total(self) -> int:
        return self.content + self.indexes


def table_sizes() -> list[TableSize]:
    """The sizes of all tables, the largest first; empty if this SQLite cannot tell them."""
    titles = {
        model._meta.db_table: str(model._meta.verbose_name_plural)
        for model in apps.get_models(include_auto_created=True)
    }
    found = [TableSize(name, titles.get(name, ""), int(a), int(b)) for name, a, b in _rows()]
    return sorted(found, key=lambda size: (-size.total, size.name))


def database_bytes() -> int:
    """The size of the whole database, which takes no time to find out."""
    is_sqlite = connection.vendor == "sqlite"
    pages = "SELECT page_count * page_size FROM pragma_page_count(), pragma_page_size()"
    with connection.cursor() as cursor:
        cursor.execute(pages if is_sqlite else "SELECT pg_database_size(current_database())")
        (size,) = cursor.fetchone()
        return int(size)


def _rows() -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        if connection.vendor == "sqlite":
            cursor.execute(
                "SELECT COUNT(*) FROM pragma_compile_options WHERE compile_options = %s", [_OPTION]
            )
            if cursor.fetchone() == (0,):
                return []
        cursor.execute(_SQLITE if connection.vendor == "sqlite" else _POSTGRESQL)
        rows: list[tuple[Any, ...]] = cursor.fetchall()
        return rows


_OPTION = "ENABLE_DBSTAT_VTAB"
