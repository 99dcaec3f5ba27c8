"""The limits of hostile programs, children that end by themselves, and the search for secrets."""

from __future__ import annotations

import ctypes
import os
import re
import signal
from collections.abc import Callable

MAX_SECONDS = 8
MAX_PROCESSES = 150
SECRET = re.compile(rb"secret-[0-9a-f]{32}")
"""The form of the secrets that a trial puts where no engine may read."""

libc = ctypes.CDLL(None, use_errno=True)


def child(work: Callable[[], object] = signal.pause) -> int:
    """Start a process that calls ``work`` and ends after at most ``MAX_SECONDS``; returns its number."""
    number = os.fork()
    if number == 0:
        signal.alarm(MAX_SECONDS)
        try:
            work()
        finally:
            os._exit(0)
    return number


def secrets_in(content: bytes) -> list[str]:
    return [match.decode() for match in SECRET.findall(content)]
