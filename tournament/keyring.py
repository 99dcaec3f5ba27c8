"""The keys with which the site signs and verifies messages: its own, and one for each worker.

A worker's key is in the database; each process reads it again every few seconds, so that a revoked key soon
stops being valid everywhere.
"""

from __future__ import annotations

import hashlib
import hmac
import logging
import time

from workers.service.messaging.signing import RECORDS, SITE, owner_of

BEAT = "beat"
"""The queue of the beat, from which the record keeper takes turns with that of the workers."""
CACHE_SECONDS = 2.0

log = logging.getLogger("tournament.keyring")


class SiteKeyring:
    """The keys of all workers, and the site's own for the queues of the record keeper."""

    name = SITE

    def __init__(self) -> None:
        self._known: dict[str, tuple[float, bytes | None]] = {}
        """By worker: when its key was read, and the key."""

    def key_for(self, queue: str) -> bytes | None:
        return site_key() if queue in {RECORDS, BEAT} else self._worker_key(owner_of(queue))

    def key_of(self, sender: str, queue: str) -> bytes | None:
        if sender == SITE:
            return site_key() if queue in {RECORDS, BEAT} else None
        return self._worker_key(sender) if queue == RECORDS else None

    def _worker_key(self, name: str) -> bytes | None:
        # Imported here: Celery loads its app before it sets Django up.
        from django.db import Error, connection

        from tournament.models import WorkerKey

        now = time.monotonic()
        read_at, key = self._known.get(name, (float("-inf"), None))
        if now < read_at + CACHE_SECONDS:
            return key
        try:
            key = WorkerKey.objects.find(name)
        except Error as error:
            # The last known key remains: no message may be lost because the database is away.
            log.warning("the key of %s cannot be read: %s", name[:80], error)
            if not connection.in_atomic_block:
                connection.close()
        if key is not None or name in self._known:  # a forger's invented names take no memory
            self._known[name] = now, key
        return key


def site_key() -> bytes:
    """The key of the site's messages to itself, derived from its secret key."""
    from django.conf import settings

    return hmac.new(
        settings.SECRET_KEY.encode(), b"messages from the site to itself", hashlib.sha256
    ).digest()
