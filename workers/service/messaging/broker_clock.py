"""The broker's time, which all its clients share: the clocks of hosts may be wrong."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

CLOCK_SECONDS = 60.0

Connect = Callable[[], AbstractContextManager[Any]]
"""Lends a client of the broker."""


class BrokerClock:
    """The broker's time, read now and then and advanced by a clock of this machine."""

    def __init__(self) -> None:
        self._offset: float | None = None
        self._next_refresh = 0.0

    def read(self, connect: Connect) -> float:
        """The time in seconds."""
        if self._offset is None:
            self.refresh(connect)
        return _machine_time() + (self._offset or 0.0)

    def refresh(self, connect: Connect) -> None:
        """Read the broker's clock if that was not done for ``CLOCK_SECONDS``."""
        now = _machine_time()
        if self._offset is None or now >= self._next_refresh:
            with connect() as client:
                seconds, microseconds = client.time()
            self._offset, self._next_refresh = seconds + microseconds / 1e6 - now, now + CLOCK_SECONDS


def _machine_time() -> float:
    return time.clock_gettime(time.CLOCK_BOOTTIME)  # nobody sets it, and it advances during a suspension
