"""Reports on their way to the site, together where games end shortly after one another.

To store a message costs the site some ten milliseconds, whatever it holds.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Generic, TypeVar

PAUSE_SECONDS = 1.0
"""How long a finished thing waits for others at most; the last ones do not wait."""

Thing = TypeVar("Thing")

log = logging.getLogger("workers.outbox")


class Outbox(Generic[Thing]):
    """Hands what is ``put`` in to ``deliver``, everything once, in order; ``put`` never waits.

    A context: on leaving it all that was put in has been handed over. What ``deliver`` refuses
    on the way is logged and dropped; what it refuses at the end is raised.
    """

    def __init__(self, deliver: Callable[[Sequence[Thing]], None], pause: float = PAUSE_SECONDS) -> None:
        self._deliver = deliver
        self._pause = pause
        self._things: list[Thing] = []
        self._filled = threading.Event()
        self._closed = threading.Event()
        self._thread: threading.Thread | None = None

    def put(self, thing: Thing) -> None:
        self._things.append(thing)
        if self._thread is None:
            self._thread = threading.Thread(target=self._carry, name="outbox", daemon=True)
            self._thread.start()
        self._filled.set()

    def __enter__(self) -> Outbox[Thing]:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._closed.set()
        self._filled.set()
        if self._thread is not None:
            self._thread.join()
        self._hand_over()

    def _carry(self) -> None:
        while self._filled.wait() and not self._closed.wait(self._pause):
            self._filled.clear()
            try:
                self._hand_over()
            except Exception:
                log.exception("reports cannot be sent, their games will be played again")

    def _hand_over(self) -> None:
        """By one thread at a time; ``put`` adds at the end meanwhile."""
        things = self._things[:]
        del self._things[: len(things)]
        if things:
            self._deliver(things)
