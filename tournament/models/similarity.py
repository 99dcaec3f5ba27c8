"""What versions choose in the positions by which their similarity is measured."""

from __future__ import annotations

from typing import Any, ClassVar

from django.db import models

HARD = "hard"
"""The names of hard positions begin with this word."""


class SampledMoves(models.Model):
    """A version's answers on a ladder. Its rows of one ladder have the same positions, fixed by the first.

    A position is named ``GAME PLY`` by the number of its game, or by ``HARD`` and a hash.
    """

    ladder = models.ForeignKey("Ladder", on_delete=models.CASCADE, related_name="+", db_index=False)
    version = models.ForeignKey("BotVersion", on_delete=models.CASCADE, related_name="+")
    moves: models.JSONField[Any, Any] = models.JSONField()
    """By position the move; null before it is asked, empty if there was no answer."""
    told: models.JSONField[Any, Any] = models.JSONField(default=list)
    """The ids of versions of which staff was told that they are strikingly similar to this one."""
    completed_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        verbose_name_plural = "sampled moves"
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["ladder", "version"], name="sampled_once_a_ladder")
        ]

    def __str__(self) -> str:
        return f"{self.ladder_id} {self.version_id}"
