"""Whether the disk of the data folder is full; nothing can be recorded then.

A separate module, because the health check, the pages of staff and the console say it.
"""

from __future__ import annotations

import os

from django.conf import settings

LEAST_BYTES = 32 * 1024 * 1024
"""With less free space the disk counts as full: SQLite's log and Redis need about as much."""


def full_disk() -> str:
    """A sentence without its full stop if the disk is full, else empty. Repeatable; costs a system call."""
    try:
        found = os.statvfs(settings.DATA)
    except OSError as error:
        return f"the data folder cannot be used: {error.strerror}"
    free = found.f_bavail * found.f_frsize
    if found.f_flag & os.ST_RDONLY:
        return "the disk of the data folder is read-only: no game can be recorded until it can be written"
    if free >= LEAST_BYTES:
        return ""
    return (
        f"the disk of the data folder is full, {free // 1024 // 1024} MB are free: games are recorded again"
        " when there is space"
    )
