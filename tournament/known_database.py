"""The kind of database of the site in a data folder, which the folder itself knows.

Otherwise a command without DATABASE_URL would make a SQLite file in the folder of a site on PostgreSQL.
Standard library only: the settings read it.
"""

from __future__ import annotations

import os
from pathlib import Path

MARKER = ".duarena"
"""The first file that is written into a data folder; its text is the kind once there are tables."""
NAMES = {"sqlite": "SQLite", "postgresql": "PostgreSQL"}


def other_database(data: Path, engine: str) -> str:
    """A sentence without its full stop if the site of a data folder uses another database, else empty.

    ``engine`` is Django's name, such as ``django.db.backends.sqlite3``.
    """
    try:
        known = (data / MARKER).read_text()
    except FileNotFoundError:
        return ""
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
