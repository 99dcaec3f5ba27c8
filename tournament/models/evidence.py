"""The published evidence of tournaments and ladders: one row for each archive."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar

from django.conf import settings
from django.db import models
from django.urls import reverse

from engines.evidence.format import MANIFEST, EvidenceFile, EvidenceManifest, read_document

MAX_REASON = 200


class Evidence(models.Model):
    """A revision of the evidence of a tournament, or of a ladder; its archive is stored under its SHA-256.

    Rows are never changed; see ``services.evidence``.
    """

    tournament = models.ForeignKey(
        "Tournament", null=True, on_delete=models.CASCADE, related_name="evidence_revisions"
    )
    ladder = models.ForeignKey(
        "Ladder", null=True, on_delete=models.CASCADE, related_name="evidence_revisions"
    )
    """One of the two is null."""
    revision = models.PositiveIntegerField()
    """From 1."""
    reason = models.CharField(max_length=MAX_REASON, blank=True)
    """Why there is a new revision, one sentence; empty for the first."""
    games = models.PositiveBigIntegerField()
    """The tournament's ``games_done``, or the ladder's ``sequence``, of which it is."""
    corrected = models.PositiveIntegerField()
    """The ``revision`` of the tournament or ladder of which it is: counts annulments."""
    at = models.DateTimeField()
    """The end of the tournament; of a ladder the moment up to which its games are in it."""
    made_at = models.DateTimeField()
    sha256 = models.CharField(max_length=64)
    """Of the archive, which names its file."""
    manifest_sha256 = models.CharField(max_length=64)
    """Of its manifest, which the next revision names."""
    size = models.PositiveBigIntegerField()
    """Of the archive, in bytes."""
    manifest = models.TextField(blank=True, default="")
    """Its manifest, which stays when the archive is deleted, so that the chain of revisions is complete."""
    signature = models.TextField(blank=True, default="")
    """That of the manifest."""

    class Meta:
        ordering: ClassVar = ["-revision"]
        verbose_name_plural = "evidence"
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["tournament", "revision"], name="evidence_once_a_tournament"),
            models.UniqueConstraint(fields=["ladder", "revision"], name="evidence_once_a_ladder"),
            models.CheckConstraint(
                condition=models.Q(tournament__isnull=True, ladder__isnull=False)
                | models.Q(tournament__isnull=False, ladder__isnull=True),
                name="evidence_of_one",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.tournament or self.ladder} revision {self.revision}"

    def get_absolute_url(self) -> str:
        """That of the page of the revision, below which each of its files has an address."""
        return self._address("revision")

    @property
    def archive_address(self) -> str:
        return self._address("file")

    def _address(self, name: str) -> str:
        if self.tournament is not None:
            return reverse(f"tournament-evidence-{name}", args=[self.tournament.slug, self.revision])
        return reverse(f"ladder-evidence-{name}", args=[self.ladder_id, self.revision])

    @property
    def files(self) -> Mapping[str, EvidenceFile]:
        """Those that the manifest lists, by path."""
        if not self.manifest:
            return {}
        return read_document(EvidenceManifest, self.manifest.encode(), MANIFEST).files

    @property
    def is_stored(self) -> bool:
        """Whether the archive is on this site: the older ones of a ladder are deleted."""
        return self.path.exists()

    @property
    def path(self) -> Path:
        return settings.EVIDENCE / self.sha256[:2] / f"{self.sha256}.zip"
