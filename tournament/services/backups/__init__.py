"""Backups of a site: one file with its database, its bundles and its secret key."""

RESTORING = ".restoring"
"""The folder in a data folder while a backup is restored there."""


class BackupError(Exception):
    """A backup that cannot be written, read or restored; the text is a sentence for the operator."""
