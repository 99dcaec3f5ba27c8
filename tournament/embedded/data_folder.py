"""Decides whether a folder may hold the data of a site, before anything is written into it.

It may if it does not exist yet, is empty, or is a data folder already: then it has our marker. Files of
earlier versions, and of ``manage.py``, which write no marker, count as one.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path

from tournament.embedded import StartError
from tournament.known_database import MARKER
from tournament.services.backups import RESTORING

EARLIER = (("lock", "secret_key"), ("lock", "db.sqlite3"), ("secret_key", "db.sqlite3"))
"""What a data folder of an earlier version, or of ``manage.py``, has: one of these."""
DEMO = "demo"
"""The folder of the demonstration lies in the site's, which may not have been used yet."""


def check_data_folder(folder: Path) -> None:
    """Raise ``StartError`` unless the folder is missing, empty, or a data folder. Writes nothing.

    Raises ``OSError`` for a folder that cannot be read.
    """
    try:
        names = os.listdir(folder)
    except FileNotFoundError:
        return
    if not names:
        return
    if RESTORING in names:
        raise StartError(
            f"a restore into {str(folder)!r} was interrupted: repeat `manage.py restore FILE`, or choose"
            " another folder with --data"
        )
    marked = folder / DEMO if names == [DEMO] else folder
    if not any(_are_files(marked, kind) for kind in ((MARKER,), *EARLIER)):
        raise StartError(
            f"{str(folder)!r} is not empty and is not a data folder of Duarena, so nothing was written"
            " into it: choose an empty or a new folder with --data"
        )


def claim_data_folder(folder: Path) -> None:
    """Make the folder if it is missing, and mark it; may be repeated. Only after ``check_data_folder``."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)  # it holds password hashes and bots' logs
    flags = os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
    os.close(os.open(folder / MARKER, flags, 0o600))


def _are_files(folder: Path, names: tuple[str, ...]) -> bool:
    """Whether the folder has regular files of all these names; links do not count."""
    try:
        return all(stat.S_ISREG(os.lstat(folder / name).st_mode) for name in names)
    except OSError:
        return False
