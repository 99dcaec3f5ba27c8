"""The progress sender: a separate thread sends the state of a game to the site.

A slow or absent broker must not delay a game, since its clocks are running.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable
from typing import Generic, TypeVar

Value = TypeVar("Value")


class ProgressSender(Generic[Value]):
    """Passes the latest value to ``deliver``; a value that is replaced before it is sent is dropped.

    ``put`` never waits; values within ``pause`` seconds of the last one are dropped. The thread starts with
    the first value, so a sender may be made before a fork and used after it.
    """

    def __init__(
        self,
        deliver: Callable[[Value], None],
        pause: float = 0.0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._deliver = deliver
        self._pause = pause
        self._clock = clock
        self._next = -math.inf
        self._value: Value | None = None
        self._has_value = threading.Event()
        self._thread: threading.Thread | None = None

    def put(self, value: Value) -> None:
        now = self._clock()
        if now < self._next:
            return
        self._next = now + self._pause
        self._value = value
        self._has_value.set()
        if self._thread is None or not self._thread.is_alive():
            self._thread = threading.Thread(target=self._run, name="sender", daemon=True)
            self._thread.start()

    def flush_now(self) -> None:
        """Send the next value even if ``pause`` has not passed."""
        self._next = -math.inf

    def _run(self) -> None:
        while self._has_value.wait():
            self._has_value.clear()
            value, self._value = self._value, None
            if value is not None:
                self._deliver(value)
