"""The site in a data folder: whether there is one, its secret key, and the kind of its database.

Otherwise a command with a mistyped folder would make another site there, and one without DATABASE_URL a
SQLite file in the folder of a site on PostgreSQL. Standard library only: the settings read it.
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

MARKER = ".duarena"
"""The first file that is written into a data folder; its text is the kind once there are tables."""
NAMES = {"sqlite": "SQLite", "postgresql": "PostgreSQL"}
KEY = "secret_key"


def has_site(data: Path) -> bool:
    """Whether a site was made in a data folder; its database may be on a server."""
    return _kind(data) in NAMES or any((data / name).exists() for name in (KEY, "db.sqlite3"))


def missing_site(data: Path, file: Path | None) -> str:
    """A sentence without its full stop for a command that needs a site where there is none, else empty.

    ``file`` is the database if it is SQLite.
    """
    has_key = bool(os.environ.get("DUARENA_SECRET_KEY")) or has_site(data)
    if has_key and (file is None or file.exists()):
        return ""
    return (
        f"there is no site in the data folder {str(data)!r}: choose the folder of a site with DUARENA_DATA or"
        " --data, or make a site with `./arena up` or `manage.py migrate`"
    )


def store_key(data: Path, key: str) -> None:
    """Store the secret key unless the folder has one; several processes may call it at once."""
    path = data / KEY
    if path.exists():
        return
    data.mkdir(mode=0o700, parents=True, exist_ok=True)
    descriptor, written = tempfile.mkstemp(dir=data, prefix=f".{KEY}-")  # mode 0600
    with os.fdopen(descriptor, "w") as file:
        file.write(key)
    try:
        os.link(written, path)
    except FileExistsError:
        pass  # another process wrote the key first; the site uses that key
    finally:
        os.unlink(written)


def other_database(data: Path, engine: str) -> str:
    """A sentence without its full stop if the site of a data folder uses another database, else empty.

    ``engine`` is Django's name, such as ``django.db.backends.sqlite3``.
    """
    known = _kind(data)
    if known not in NAMES or f".{known}" in engine:
        return ""
    address = "give its address in DATABASE_URL" if known == "postgresql" else "unset DATABASE_URL"
    return (
        f"the site in the data folder {str(data)!r} is on {NAMES[known]}: {address}; a site is moved to"
        " another database by `manage.py backup` and `manage.py restore` into a new data folder"
    )


def note_database(data: Path, vendor: str) -> None:
    """Store the kind, unless the folder cannot be written, as in a container; may be repeated."""
    if os.access(data, os.W_OK):
        (data / MARKER).write_text(vendor)


def _kind(data: Path) -> str:
    """What the folder says of its database, empty if nothing."""
    try:
        return (data / MARKER).read_text()
    except (FileNotFoundError, NotADirectoryError):
        return ""
