"""What long migrations do before the update: in small transactions, beside an earlier release that still runs."""

from __future__ import annotations

from collections.abc import Iterable

from django.db.migrations import Migration


def prepare(plan: Iterable[tuple[Migration, bool]], using: str = "default", **_: object) -> None:
    """Do the work of ``prepare`` of each migration that will be applied; may be interrupted and repeated."""
    for migration, is_taken_back in plan:
        if not is_taken_back and (work := getattr(migration, "prepare", None)):
            work(using)
