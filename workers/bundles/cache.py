"""The folder of a worker's unpacked bundles, and the sign of life that the worker leaves there."""

from __future__ import annotations

import os
import stat
import tempfile
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

VARIABLE = "DUARENA_CACHE"
ALIVE = "alive"
"""A file in the cache folder; a running worker touches it whenever its site answers a heartbeat."""
SILENT_SECONDS = 30.0
"""A worker that has not touched it for this time is not well."""


class CacheRefused(Exception):
    """The default folder is not safe to use; the text says why and what to do."""


def cache_folder(environment: Mapping[str, str]) -> Path:
    """The cache folder of this user's workers, created if it is missing.

    The default is in the temporary folder, which all users share, so that another user may have created it
    with programs of his own: raises ``CacheRefused``. A folder that ``DUARENA_CACHE`` names is not checked.
    """
    if chosen := environment.get(VARIABLE):
        return Path(chosen)
    folder = Path(tempfile.gettempdir()) / f"duarena-cache-{os.getuid()}"
    with suppress(FileExistsError):  # looked at below, whatever it is
        folder.mkdir(mode=0o700)
    found = folder.lstat()
    if not stat.S_ISDIR(found.st_mode):
        raise CacheRefused(f"{folder} is not a folder: remove it, or set {VARIABLE}")
    if found.st_uid != os.getuid():
        raise CacheRefused(f"{folder} belongs to another user (number {found.st_uid}): set {VARIABLE}")
    if found.st_mode & 0o077:
        raise CacheRefused(
            f"others may use {folder} (mode {stat.S_IMODE(found.st_mode):o}): remove it, or set {VARIABLE}"
        )
    return folder


def touch_alive(cache: Path) -> None:
    """Note that the worker of this cache folder is well."""
    cache.mkdir(parents=True, exist_ok=True)
    (cache / ALIVE).touch()


def silent_seconds(cache: Path) -> float | None:
    """How long ago the worker of this cache folder was well; None if it never was."""
    try:
        return max(0.0, time.time() - (cache / ALIVE).stat().st_mtime)
    except OSError:
        return None
