"""Backups of a site: one file with its database, its bundles and its secret key."""

from collections.abc import Callable

RESTORING = ".restoring"
"""The folder in a data folder while a backup is restored there."""

Show = Callable[[str], None]
"""Receives how far a backup or a restore is, at most some times a second."""


def show_nothing(progress: str) -> None:
    """For callers that show no progress."""


class BackupError(Exception):
    """A backup that cannot be written, read or restored; the text is a sentence for the operator."""
