"""Rebuilds the ratings after annulments, and counts moves for the explorer, beside the keeper's other work.

A rebuild of a million games takes half a minute, so this runs in a thread, and results are stored in the
meantime. The thread ends with its process; the next call then starts again.
"""

from __future__ import annotations

import logging
import threading

from django.db import connections

from tournament.models import Ladder
from tournament.services.explorer import counting
from tournament.services.results.rebuilding import rebuild_outdated

log = logging.getLogger("tournament.recomputing")


class Recomputer:
    """At most one thread that rebuilds ratings and counts moves."""

    def __init__(self) -> None:
        self._thread: threading.Thread | None = None

    def start_if_due(self) -> bool:
        """Start the thread if something is out of date and it does not run; whether it was started."""
        is_running = self._thread is not None and self._thread.is_alive()
        if is_running or not (Ladder.objects.outdated().exists() or counting.is_behind()):
            return False
        self._thread = threading.Thread(target=_recompute, name="recomputer", daemon=True)
        self._thread.start()
        return True

    def wait(self) -> None:
        """Wait for the end of the thread that runs."""
        if self._thread is not None:
            self._thread.join()


def _recompute() -> None:
    """Errors are logged: the next call of ``start_if_due`` tries again."""
    for step in (rebuild_outdated, counting.catch_up):
        try:
            step()
        except Exception:
            log.exception("ratings or the counts of the explorer cannot be recomputed")
    connections.close_all()
