"""Steps of a schedule that are still to be taken."""

from __future__ import annotations

from typing import ClassVar

from django.db import models


class ScheduleStep(models.Model):
    """A part of a large change; it is deleted in the transaction that makes the part.

    The steps of a tournament are taken in the order of their ids.
    """

    class Kind(models.TextChoices):
        PLAN = "plan", "plan"
        """Draws the pairings of some cycles."""
        STORE = "store", "store"
        """Stores some pairings with their games."""
        CANCEL = "cancel", "cancel"
        """Cancels games that wait in a cancelled tournament; repeated until none is left."""
        WITHDRAW = "withdraw", "withdraw"
        """Ends open games of a withdrawn version; repeated until none is left."""

    tournament = models.ForeignKey("Tournament", null=True, on_delete=models.CASCADE, related_name="steps")
    """Null: all tournaments of the version."""
    version = models.ForeignKey("BotVersion", null=True, on_delete=models.CASCADE, related_name="+")
    """The withdrawn version."""
    kind = models.CharField(max_length=10, choices=Kind.choices)
    first_cycle = models.PositiveIntegerField(default=0)
    """The first cycle to plan, from 0."""
    cycles = models.PositiveIntegerField(default=0)
    pairings = models.TextField(blank=True)
    """The pairings to store, as JSON: for each the values of a ``PlannedPairing``."""
    games = models.PositiveIntegerField(default=0)
    """How many games it makes; they are part of the tournament's ``games_total`` already."""

    class Meta:
        constraints: ClassVar = [
            models.CheckConstraint(
                condition=models.Q(kind__in=["plan", "store", "cancel", "withdraw"]), name="step_kind_known"
            )
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.tournament_id or self.version_id}"
