"""Children that end by themselves, and words that give a secret away."""

from __future__ import annotations

import ctypes
import os
import re
import signal
from collections.abc import Callable

FUSE_SECONDS = 8
FUSE_PROCESSES = 150
SECRET = re.compile(rb"secret-[0-9a-f]{32}")
"""What a trial plants where no engine may look."""

libc = ctypes.CDLL(None, use_errno=True)


def child(work: Callable[[], object] = signal.pause) -> int:
    """A process that does this and ends, at the latest when the fuse has burned down; returns its number."""
    number = os.fork()
    if number == 0:
        signal.alarm(FUSE_SECONDS)
        try:
            work()
        finally:
            os._exit(0)
    return number


def secrets_in(content: bytes) -> list[str]:
    return [match.decode() for match in SECRET.findall(content)]
