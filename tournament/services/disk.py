"""Whether the disk of the data folder is full; nothing can be recorded then."""

from __future__ import annotations

import os
from pathlib import Path

from django.conf import settings
from django.db import connection

LEAST_BYTES = 32 * 1024 * 1024
"""The free space below which the disk counts as full: SQLite's log and Redis need about as much."""


def full_disk() -> str:
    """A sentence without its full stop if a disk is full, else empty. Repeatable; costs some system calls."""
    folders = [settings.DATA, settings.BUNDLES] if settings.BUNDLES.is_dir() else [settings.DATA]
    return next((why for folder in folders if (why := _trouble_of(folder))), "")


def _is_written(folder: Path) -> bool:
    """Whether it must be writable. A container's data folder is not: it has volumes, and no database."""
    return folder != settings.DATA or connection.vendor == "sqlite" or not settings.BUNDLES.is_dir()


def _trouble_of(folder: Path) -> str:
    name = "data folder" if folder == settings.DATA else "folder of bundles"
    try:
        found = os.statvfs(folder)
    except OSError as error:
        return f"the {name} cannot be used: {error.strerror}"
    free = found.f_bavail * found.f_frsize
    if found.f_flag & os.ST_RDONLY and not _is_written(folder):
        return ""
    if found.f_flag & os.ST_RDONLY:
        return f"the disk of the {name} is read-only: no game can be recorded until it can be written"
    if free >= LEAST_BYTES:
        return ""
    return (
        f"the disk of the {name} is full, {free // 1024 // 1024} MB are free: games are recorded again"
        " when there is space"
    )
