"""The published dumps of ladders: one row for each month and revision."""

from __future__ import annotations

import datetime
from pathlib import Path
from typing import ClassVar, TypedDict

from django.conf import settings
from django.db import models

MAX_REASON = 200


def name_of_dump(code: str, month: datetime.date) -> str:
    """What the names of its files begin with."""
    return f"{code}-{month:%Y-%m}"


class DumpFile(TypedDict):
    """A file of a dump."""

    sha256: str
    size: int
    """In bytes."""


class Dump(models.Model):
    """A revision of the games of a ladder in a month; its files are stored under their SHA-256.

    Only ``corrected`` is ever changed; see ``services.dumps``.
    """

    ladder = models.ForeignKey("Ladder", on_delete=models.CASCADE, related_name="dumps", db_index=False)
    month = models.DateField()
    """Its first day, UTC."""
    revision = models.PositiveIntegerField()
    """From 1."""
    reason = models.CharField(max_length=MAX_REASON, blank=True)
    """Why there is a new revision, one sentence; empty for the first."""
    after = models.PositiveBigIntegerField()
    """The completion sequence before its first game: that of the last game of the dump before."""
    last = models.PositiveBigIntegerField()
    """The completion sequence of its last game."""
    games = models.PositiveBigIntegerField()
    corrected = models.PositiveIntegerField()
    """The newest ``revision`` of the ladder with which it agrees: counts annulments."""
    made_at = models.DateTimeField()
    files: models.Field[dict[str, DumpFile], dict[str, DumpFile]] = models.JSONField()
    """By their names."""
    listing = models.TextField()
    """The list of the SHA-256, as ``sha256sum`` reads it."""
    signature = models.TextField()
    """Of the list."""

    class Meta:
        ordering: ClassVar = ["-month", "-revision"]
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["ladder", "month", "revision"], name="dump_once_a_month_and_revision"
            )
        ]

    def __str__(self) -> str:
        return f"{self.name} revision {self.revision}"

    @property
    def name(self) -> str:
        return name_of_dump(self.ladder_id, self.month)

    @property
    def is_stored(self) -> bool:
        """Whether its files are on this site: those of older revisions are deleted."""
        return all(map(self.has_file, self.files))

    def has_file(self, name: str) -> bool:
        """Whether the file of this name is stored whole."""
        try:
            return self.path(name).stat().st_size == self.files[name]["size"]
        except FileNotFoundError:
            return False

    def path(self, name: str) -> Path:
        """Where the file of this name is stored."""
        sha256 = self.files[name]["sha256"]
        return settings.DUMPS / sha256[:2] / sha256
