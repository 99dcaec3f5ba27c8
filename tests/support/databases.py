"""The test's database for other processes, and the copy of a migrated one that later runs begin with."""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
from pathlib import Path
from typing import IO
from urllib.parse import quote

from django.db import connection

from tournament.embedded.plan import ROOT

FOLDER = "TESTS_DATABASES"
"""The variable that names the folder of migrated databases; without it each run migrates its own."""


def database_url() -> str:
    """The address of the test's database, as ``DATABASE_URL``; for tests with real transactions."""
    settings = connection.settings_dict
    if connection.vendor != "postgresql":
        return f"sqlite:///{settings['NAME']}"
    host = quote(settings["HOST"] or settings["OPTIONS"].get("host", ""), safe="")  # or a socket's folder
    return f"postgres://{settings['USER']}:{settings['PASSWORD']}@{host}/{settings['NAME']}"


_turn: list[IO[str]] = []
"""The lock of the process that migrates; the others wait for its database."""


def take_migrated() -> bool:
    """Begin with the database that another process has migrated, if there is one of these migrations."""
    if connection.vendor != "sqlite" or FOLDER not in os.environ:
        return False
    _turn.append(lock(_migrated().parent / "migrating"))
    is_taken = copy_migrated(Path(connection.settings_dict["TEST"]["NAME"]))
    if is_taken:
        _turn.pop().close()
    return is_taken


def copy_migrated(path: Path) -> bool:
    """Copy the kept database; whether there is one."""
    try:
        shutil.copyfile(_migrated(), path)
    except FileNotFoundError:
        return False
    return True


def lock(path: Path) -> IO[str]:
    """Wait for the other processes that have this lock; ends when the file is closed, or the process ends."""
    path.parent.mkdir(parents=True, exist_ok=True)
    file = path.open("w")
    fcntl.flock(file, fcntl.LOCK_EX)
    return file


def keep_migrated() -> None:
    """Keep the database that this run has migrated for later ones, in the place of all others."""
    if connection.vendor != "sqlite" or FOLDER not in os.environ:
        return
    kept = _migrated()
    new = kept.with_suffix(f".{os.getpid()}")
    with connection.cursor() as cursor:
        cursor.execute("VACUUM INTO %s", [str(new)])
    for old in kept.parent.glob("*.sqlite3"):
        old.unlink(missing_ok=True)
    new.rename(kept)
    _turn.pop().close()


def kept_for_migrations(ending: str) -> Path:
    """The place of what is made once for the migrations of these sources, on these packages."""
    sources = [*sorted(ROOT.glob("tournament/migrations/*.py")), ROOT / "requirements.txt"]
    name = hashlib.sha256(b"".join(path.read_bytes() for path in sources)).hexdigest()
    return Path(os.environ[FOLDER], f"{name[:32]}.{ending}")


def _migrated() -> Path:
    return kept_for_migrations("sqlite3")
