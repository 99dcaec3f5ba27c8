"""How much of the workers' time each owner has used, who waits for a slot, and which games gave way."""

from __future__ import annotations

from typing import ClassVar

from django.conf import settings
from django.db import models


class OwnerShare(models.Model):
    """What is known of an owner, to give the next slot to the owner who has had the least."""

    owner = models.PositiveBigIntegerField(primary_key=True)
    """The user's id; 0 for the site, which owns the ladders' games."""
    served = models.FloatField(default=0.0)
    """Seconds of slots used. An owner who comes back starts where the others are: time is not saved up."""
    is_active = models.BooleanField(default=False)
    """Whether the owner had games to play when it was last noted, at most a second ago."""
    waits_since = models.DateTimeField(null=True)
    """Since when the owner's games have waited while none was played; null: one is, or none waits."""

    def __str__(self) -> str:
        return f"{self.owner}: {self.served:.0f} s"


class SlotUse(models.Model):
    """Seconds of slots that a user's tournaments and validations used on one day (UTC)."""

    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="slot_uses")
    day = models.DateField()
    seconds = models.FloatField(default=0.0)
    """Of tournaments."""
    validation_seconds = models.FloatField(default=0.0)
    """Of compliance checks and validation games."""

    class Meta:
        constraints: ClassVar = [models.UniqueConstraint(fields=["owner", "day"], name="slot_use_once_a_day")]
        indexes: ClassVar = [models.Index(fields=["day"], name="slot_use_of_day")]

    def __str__(self) -> str:
        return f"{self.owner_id} on {self.day}: {self.seconds:.0f} s"


class PreemptedGame(models.Model):
    """A game that was ended to give another owner a slot; from then on it is expected to take long."""

    game = models.OneToOneField("Game", on_delete=models.CASCADE, primary_key=True, related_name="+")
    seconds = models.FloatField()
    """How long it had been played."""

    def __str__(self) -> str:
        return f"{self.game_id} after {self.seconds:.0f} s"
