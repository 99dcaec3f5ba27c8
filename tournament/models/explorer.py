"""The opening explorer: which moves recorded games played in a position, with what results.

Everything here follows from the records and the ratings, and is made again from them (``services.explorer``).
``position`` is the number of a position's canonical form on its ladder.
"""

from __future__ import annotations

from typing import ClassVar

from django.db import models


class ExplorerProgress(models.Model):
    """How far the games of a ladder are counted; without a row the count begins again."""

    ladder = models.OneToOneField(
        "Ladder", on_delete=models.CASCADE, primary_key=True, related_name="explorer"
    )
    until = models.BigIntegerField(default=0)
    """The completion sequence up to which games are counted."""
    revision = models.PositiveIntegerField(null=True)
    """The ``Ladder.rated_revision`` whose ratings and annulments the counts follow; None is none of them."""
    rebuilds = models.PositiveIntegerField(default=0)
    """Counts the rebuilds that changed the ratings."""

    def __str__(self) -> str:
        return f"{self.ladder_id} #{self.until}"


class ExplorerVisit(models.Model):
    """A game in a position: one row for each game and each of its first plies."""

    pk = models.CompositePrimaryKey("position", "move", "sequence")
    position = models.BigIntegerField()
    move = models.CharField(max_length=40)
    """The move as ``engines.visits.canonical_move`` spells it."""
    sequence = models.BigIntegerField()
    """The game's completion sequence in its ladder."""

    def __str__(self) -> str:
        return f"{self.position:x} {self.move} #{self.sequence}"


class ExplorerMove(models.Model):
    """The results of a move in a position that at least two games reached."""

    UNRATED: ClassVar = -1

    pk = models.CompositePrimaryKey("position", "move", "band")
    position = models.BigIntegerField()
    move = models.CharField(max_length=40)
    band = models.SmallIntegerField()
    """The band of the mean of both players' ratings before the game; ``UNRATED`` for games that are not
    rated."""
    wins = models.PositiveIntegerField(default=0)
    """White's."""
    draws = models.PositiveIntegerField(default=0)
    losses = models.PositiveIntegerField(default=0)
    """White's."""
    ratings = models.BigIntegerField(default=0)
    """The sum of the ratings of those who moved, in hundredths; 0 for games that are not rated."""

    def __str__(self) -> str:
        return f"{self.position:x} {self.move}: +{self.wins} ={self.draws} -{self.losses}"
