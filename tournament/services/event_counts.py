"""Counts what an operator watches: ends of games, failed attempts, errors of the record keeper and of pages.

The counts are kept in memory and stored every few seconds, so that nothing waits for them. A killed process
loses those of the last seconds; the tables of games and attempts are exact.
"""

from __future__ import annotations

import threading
from collections import Counter
from functools import partial

from django.db import transaction
from django.db.models import F

from tournament.models import EventCount

_new: Counter[tuple[EventCount.Kind, str]] = Counter()
_lock = threading.Lock()


def count_event(kind: EventCount.Kind, label: str, number: int = 1) -> None:
    """Count events when the current transaction is committed."""
    transaction.on_commit(partial(count_now, kind, label, number))


def store_counts() -> None:
    """Store what was counted since the last call."""
    with _lock:
        counted = dict(_new)
    if not counted:
        return
    with transaction.atomic():
        for (kind, label), number in sorted(counted.items()):
            row, _ = EventCount.objects.get_or_create(kind=kind, label=label)
            EventCount.objects.filter(pk=row.pk).update(count=F("count") + number)
    with _lock:
        _new.subtract(counted)
        for event in [event for event, number in _new.items() if not number]:
            del _new[event]


def count_now(kind: EventCount.Kind, label: str, number: int = 1) -> None:
    """Count events whatever becomes of the current transaction; needs no database. For any thread."""
    with _lock:
        _new[kind, label] += number
