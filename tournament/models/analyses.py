"""Analyses that users saved."""

from __future__ import annotations

import secrets
from typing import ClassVar

from django.conf import settings
from django.db import models
from django.urls import reverse

from tournament.models.compressed import CompressedTextField

MAX_TITLE = 80


def new_key() -> str:
    return secrets.token_urlsafe(12)


class Analysis(models.Model):
    """A tree of moves of one ladder; whoever has its address can see it, and only its owner can change it."""

    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="analyses")
    ladder = models.ForeignKey("Ladder", on_delete=models.PROTECT, related_name="+")
    key = models.CharField(max_length=16, unique=True, default=new_key, editable=False)
    """The part of the address that cannot be guessed."""
    title = models.CharField(max_length=MAX_TITLE, blank=True)
    text: models.Field[str, str] = CompressedTextField()
    """A record with variations, see ``engines.records.format_analysis``."""
    revision = models.PositiveIntegerField(default=1)
    """Raised by every change, so that a page does not overwrite what another page saved meanwhile."""
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        ordering: ClassVar = ["-updated_at"]
        verbose_name_plural = "analyses"

    def __str__(self) -> str:
        return self.title or f"Analysis of {self.ladder.name}"

    def get_absolute_url(self) -> str:
        return reverse("analysis-saved", args=[self.ladder_id, self.key])
