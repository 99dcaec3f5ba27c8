"""How much of the workers' time each owner's tournaments have used.

A separate module, because these tables belong to no tournament: they outlive it.
"""

from __future__ import annotations

from typing import ClassVar

from django.conf import settings
from django.db import models


class OwnerShare(models.Model):
    """What the dispatcher knows of an owner, to give the next slot to the owner who has had the least."""

    owner = models.PositiveBigIntegerField(primary_key=True)
    """The user's id; 0 for the site, which owns the ladders' games."""
    served = models.FloatField(default=0.0)
    """Seconds of slots used. An owner who comes back starts where the others are: time is not saved up."""
    is_active = models.BooleanField(default=False)
    """Whether the owner had games to play at the last dispatch."""

    def __str__(self) -> str:
        return f"{self.owner}: {self.served:.0f} s"


class SlotUse(models.Model):
    """Seconds of slots that a user's tournaments used on one day (UTC)."""

    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="slot_uses")
    day = models.DateField()
    seconds = models.FloatField(default=0.0)

    class Meta:
        constraints: ClassVar = [models.UniqueConstraint(fields=["owner", "day"], name="slot_use_once_a_day")]

    def __str__(self) -> str:
        return f"{self.owner_id} on {self.day}: {self.seconds:.0f} s"
