"""One instance for each data folder: a lock that ends with the last process that holds it."""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tournament.embedded import StartError

GRACE_SECONDS = 5.0
"""How long to wait for a supervisor that is stopping, or for the guards of one that was killed."""


@contextmanager
def instance_lock(data: Path) -> Iterator[int]:
    """Hold the data folder; yields the descriptor, which the guards hold as well.

    So the folder stays locked until the last process of an instance is gone,
    even when its supervisor was killed. Raises ``StartError``.
    """
    data.mkdir(mode=0o700, parents=True, exist_ok=True)  # it holds password hashes and bots' logs
    descriptor = os.open(data / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        _acquire(descriptor, data)
        os.ftruncate(descriptor, 0)
        os.write(descriptor, f"{os.getpid()}\n".encode())
        yield descriptor
    finally:
        os.close(descriptor)


def _acquire(descriptor: int, data: Path) -> None:
    until = time.monotonic() + GRACE_SECONDS
    while True:
        try:
            return fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > until:
                holder = os.pread(descriptor, 20, 0).decode(errors="replace").strip()
                raise StartError(
                    f"an instance is already running on {data} (process {holder or 'unknown'}): stop that one"
                    " first, or choose another folder with --data"
                ) from None
            time.sleep(0.1)
