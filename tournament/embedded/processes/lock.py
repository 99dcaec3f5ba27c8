"""One instance for each data folder: a lock that ends with the last process that holds it."""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

GRACE_S = 3.0
"""How long a supervisor that is stopping may take."""
GRACE_KILLED_S = 12.0
"""How long the guards of a killed supervisor may take to end its processes."""


class AlreadyRunning(Exception):
    """Another instance holds this data folder; the text is a sentence for the user."""


@contextmanager
def instance_lock(data: Path, *, grace_s: float | None = None) -> Iterator[int]:
    """Hold the data folder; yields the descriptor, which the guards hold as well.

    So the folder stays locked until the last process of an instance is gone,
    even when its supervisor was killed. Raises ``AlreadyRunning``.
    """
    data.mkdir(mode=0o700, parents=True, exist_ok=True)  # it holds password hashes and bots' logs
    descriptor = os.open(data / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        _acquire(descriptor, data, grace_s)
        os.ftruncate(descriptor, 0)
        os.write(descriptor, f"{os.getpid()}\n".encode())
        yield descriptor
    finally:
        os.close(descriptor)


def _acquire(descriptor: int, data: Path, grace_s: float | None) -> None:
    begin = time.monotonic()
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        except BlockingIOError:
            holder = os.pread(descriptor, 20, 0).decode(errors="replace").strip()
            grace = GRACE_S if _is_running(holder) else GRACE_KILLED_S
            if time.monotonic() >= begin + (grace if grace_s is None else grace_s):
                raise AlreadyRunning(
                    f"an instance is already running on {data} (process {holder or 'unknown'}): stop that one"
                    " first, or choose another folder with --data"
                ) from None
            time.sleep(0.1)


def _is_running(process: str) -> bool:
    return process.isdigit() and Path("/proc", process).exists()
