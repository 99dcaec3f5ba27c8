"""Rebuilds the ratings after annulments, beside the record keeper's other work.

A rebuild of a million games takes half a minute, so it runs in a thread, and results are stored in the
meantime. The thread ends with its process; the next call then starts again.
"""

from __future__ import annotations

import logging
import threading

from django.db import connections

from tournament.models import Ladder
from tournament.services.results.rebuilding import rebuild_outdated

log = logging.getLogger("tournament.recomputing")


class Recomputer:
    """At most one thread that rebuilds ratings."""

    def __init__(self) -> None:
        self._thread: threading.Thread | None = None

    def start_if_due(self) -> bool:
        """Start a rebuild if a ladder is outdated and none is under way; whether one was started."""
        if (self._thread is not None and self._thread.is_alive()) or not Ladder.objects.outdated().exists():
            return False
        self._thread = threading.Thread(target=_rebuild, name="recomputer", daemon=True)
        self._thread.start()
        return True

    def wait(self) -> None:
        """Wait for the end of the rebuild that is under way."""
        if self._thread is not None:
            self._thread.join()


def _rebuild() -> None:
    """Errors are logged: the next call of ``start_if_due`` tries again."""
    try:
        rebuild_outdated()
    except Exception:
        log.exception("the ratings cannot be rebuilt after annulments")
    finally:
        connections.close_all()
