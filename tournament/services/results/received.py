"""The memory of the messages that the record keeper has handled, in the database.

The record keeper is one process, so it reads the table once and then only adds to it.
"""

from __future__ import annotations

import logging
from collections.abc import Callable

from workers.service.messaging.replays import Received, RecentMessages
from workers.service.messaging.signing import RECORDS

CLEANING_SECONDS = 60

log = logging.getLogger("tournament.keeper")


class SiteMemory:
    """Remembers messages over restarts; while the database is away, only until the process ends."""

    def __init__(self) -> None:
        self._recent: RecentMessages | None = None
        self._next_cleaning = 0.0

    def has(self, message: Received, now: float) -> bool:
        return self._loaded().has(message, now)

    def add(self, message: Received, now: float) -> None:
        # Imported here: Celery loads its app before it sets Django up.
        from tournament.models import ReceivedMessage

        recent = self._loaded()
        recent.add(message, now)
        if message.queue != RECORDS:
            return  # the beat's messages may be repeated, and expire soon
        row = ReceivedMessage(name=message.name, sent=message.sent)
        _try(lambda: ReceivedMessage.objects.bulk_create([row], ignore_conflicts=True))
        if now >= self._next_cleaning:
            self._next_cleaning = now + CLEANING_SECONDS
            oldest = min((kept.sent for kept in recent.forget_old(now)), default=0)
            _try(lambda: ReceivedMessage.objects.filter(sent__lt=oldest).delete())

    def _loaded(self) -> RecentMessages:
        if self._recent is None:
            from tournament.models import ReceivedMessage

            rows: list[tuple[str, int]] = []
            is_read = _try(lambda: rows.extend(ReceivedMessage.objects.values_list("name", "sent")))
            recent = RecentMessages(Received(name, RECORDS, sent) for name, sent in rows)
            if not is_read:
                return recent
            self._recent = recent
        return self._recent


def _try(query: Callable[[], object]) -> bool:
    """Run a query; False if the database refuses it: no message may be lost because of that."""
    from django.db import Error, connection

    try:
        query()
    except Error as error:
        log.warning("the received messages cannot be read or stored: %s", error)
        if not connection.in_atomic_block:
            connection.close()
        return False
    return True
