"""The report sender: sends reports to the site, several in one message if games end in quick succession.

The site needs about ten milliseconds to store a message, whatever its size.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Generic, TypeVar

PAUSE_SECONDS = 1.0
"""The longest time a report waits for others; the last reports do not wait."""

Report = TypeVar("Report")

log = logging.getLogger("workers.service.messaging.reports")


class ReportSender(Generic[Report]):
    """Passes everything that is ``put`` to ``deliver``, once and in order; ``put`` never waits.

    A context manager: on exit everything has been delivered. An exception of ``deliver`` is logged and
    its reports are dropped; an exception during the exit is raised.
    """

    def __init__(self, deliver: Callable[[Sequence[Report]], None], pause: float = PAUSE_SECONDS) -> None:
        self._deliver = deliver
        self._pause = pause
        self._waiting: list[Report] = []
        self._has_reports = threading.Event()
        self._closed = threading.Event()
        self._thread: threading.Thread | None = None

    def put(self, report: Report) -> None:
        self._waiting.append(report)
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name="sender", daemon=True)
            self._thread.start()
        self._has_reports.set()

    def __enter__(self) -> ReportSender[Report]:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._closed.set()
        self._has_reports.set()
        if self._thread is not None:
            self._thread.join()
        self._deliver_all()

    def _run(self) -> None:
        while self._has_reports.wait() and not self._closed.wait(self._pause):
            self._has_reports.clear()
            try:
                self._deliver_all()
            except Exception:
                log.exception("reports cannot be sent, their games will be played again")

    def _deliver_all(self) -> None:
        """Deliver everything. Called by one thread at a time; ``put`` may append meanwhile."""
        reports = self._waiting[:]
        del self._waiting[: len(reports)]
        if reports:
            self._deliver(reports)
