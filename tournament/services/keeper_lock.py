"""The lock of the record keeper: a second one on the same database waits until the first has ended.

The system or the database frees it when the process that holds it is killed.
"""

from __future__ import annotations

import fcntl
import logging
import os
import time
from contextlib import suppress
from pathlib import Path

from django.db import DatabaseError, connection
from django.db.backends.base.base import BaseDatabaseWrapper

NUMBER = 0x64756172656E61
"""The number of the advisory lock in PostgreSQL: "duarena"."""
PAUSE_SECONDS = 1.0
_SILENCE = (
    "SET tcp_keepalives_idle = 5; SET tcp_keepalives_interval = 5; SET tcp_keepalives_count = 3;"
    " SET tcp_user_timeout = 20000"
)
"""PostgreSQL frees the lock 20 seconds after the network to its holder has failed."""

log = logging.getLogger("tournament.keeper")


class KeeperLock:
    """A lock on the site's database, taken by one process at a time."""

    def __init__(self) -> None:
        self._file: int | None = None
        self._session: BaseDatabaseWrapper | None = None
        self._is_wanted = False

    def take(self) -> None:
        """Take the lock; waits for a process that holds it, and for a database that does not answer."""
        self._is_wanted = True
        told = ""
        while why := self._why_not():
            if why != told:
                log.warning("%s", why)
                told = why
            time.sleep(PAUSE_SECONDS)

    def _why_not(self) -> str:
        """Try to take the lock; returns why it is not taken, empty if it is."""
        try:
            is_taken = self.try_to_take()
        except DatabaseError as error:
            return f"the database cannot be used, this record keeper waits for it: {error}"
        return (
            "" if is_taken else "another record keeper works on this database: this one waits until it ends"
        )

    def try_to_take(self) -> bool:
        """Take the lock unless another process holds it; returns whether it is taken."""
        self.release()
        return self._try_session() if connection.vendor == "postgresql" else self._try_file()

    def keep(self) -> bool:
        """Whether no other process has the lock since ``take``; takes it again after a lost connection."""
        if not self._is_wanted or self._file is not None:
            return True
        if self._session is not None:
            with suppress(DatabaseError), self._session.cursor() as cursor:
                cursor.execute("SELECT 1")
                return True
        return self.try_to_take()

    def release(self) -> None:
        if self._file is not None:
            os.close(self._file)
        if self._session is not None:
            self._session.close()
        self._file = self._session = None

    def _try_file(self) -> bool:
        path = Path(f"{connection.settings_dict['NAME']}.keeper")
        descriptor = os.open(path, os.O_CREAT | os.O_RDWR, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(descriptor)
            return False
        self._file = descriptor
        return True

    def _try_session(self) -> bool:
        """In a session of its own, which ends with the process."""
        session = connection.copy()
        with session.cursor() as cursor:
            cursor.execute(_SILENCE)
            cursor.execute("SELECT pg_try_advisory_lock(%s)", [NUMBER])
            (is_taken,) = cursor.fetchone()
        if not is_taken:
            session.close()
            return False
        self._session = session
        return True
