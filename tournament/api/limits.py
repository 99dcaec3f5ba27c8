"""How many rows a client may read a second. Each process of the site counts for itself, in memory."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from django.http import HttpRequest

from tournament.addresses import counted_address
from tournament.models import Token

ROWS_A_SECOND, ROWS_A_SECOND_WITH_TOKEN = 1_000, 5_000
"""The rows of an address, and of an account that sends a token."""
SAVED_SECONDS = 10
"""A client that was quiet for so long may read the rows of this time at once."""
REQUEST_ROWS = 10
"""What a request counts at least."""
MAX_CLIENTS = 10_000
"""Clients that a process remembers; beyond, it forgets those that were quiet."""
Client = tuple[str, int]
"""Whose rows are counted, and how many they may be a second."""


class RowLimits:
    """The rows that clients have left. What is read at once may exceed them, and is then waited for."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._left: dict[Client, tuple[float, float]] = {}
        self._lock = threading.Lock()

    def count(self, client: Client, rows: int) -> None:
        """Count rows that a client reads."""
        with self._lock:
            if len(self._left) >= MAX_CLIENTS and client not in self._left:
                self._forget()
            self._left[client] = (self._now_left(client) - max(rows, REQUEST_ROWS), self._clock())

    def wait_s(self, client: Client) -> float:
        """The seconds until the client may read again; 0 for now."""
        with self._lock:
            return max(0.0, -self._now_left(client) / client[1])

    def _now_left(self, client: Client) -> float:
        most = float(client[1] * SAVED_SECONDS)
        left, at = self._left.get(client, (most, 0.0))
        return min(most, left + (self._clock() - at) * client[1])

    def _forget(self) -> None:
        """Forget the clients that have all their rows again; all if that is none."""
        self._left = {
            client: value
            for client, value in self._left.items()
            if self._now_left(client) < client[1] * SAVED_SECONDS
        }
        if len(self._left) >= MAX_CLIENTS:
            self._left.clear()


LIMITS = RowLimits()


def client_of(request: HttpRequest, token: Token | None) -> Client:
    """Whose rows a request counts."""
    if token is not None:
        return f"user {token.user_id}", ROWS_A_SECOND_WITH_TOKEN
    return counted_address(request.META.get("REMOTE_ADDR", "")), ROWS_A_SECOND
