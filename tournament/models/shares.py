"""How much of the workers' time each owner has used."""

from __future__ import annotations

from typing import ClassVar

from django.conf import settings
from django.db import models


class SlotUse(models.Model):
    """Seconds of slots that an owner's tournaments and validations used on one day (UTC)."""

    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.CASCADE, related_name="slot_uses"
    )
    """Null: the site."""
    day = models.DateField()
    seconds = models.FloatField(default=0.0)
    """Seconds that tournaments used."""
    validation_seconds = models.FloatField(default=0.0)
    """Seconds that compliance checks and validation games used."""

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["owner", "day"], name="slot_use_once_a_day"),
            models.UniqueConstraint(
                fields=["day"], condition=models.Q(owner=None), name="slot_use_of_site_once_a_day"
            ),
        ]
        indexes: ClassVar = [models.Index(fields=["day"], name="slot_use_of_day")]

    def __str__(self) -> str:
        return f"{self.owner_id or 'site'} on {self.day}: {self.seconds:.0f} s"
