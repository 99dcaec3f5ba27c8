"""Tournaments: who plays whom, from which openings."""

from __future__ import annotations

from typing import ClassVar

from django.conf import settings
from django.db import models
from django.urls import reverse


class TournamentQuerySet(models.QuerySet["Tournament"]):
    def public(self) -> TournamentQuerySet:
        """All but validations, newest first."""
        return self.exclude(kind=Tournament.Kind.VALIDATION).order_by("-id")

    def running(self) -> TournamentQuerySet:
        return self.filter(state=Tournament.State.RUNNING)


class Tournament(models.Model):
    """A schedule of games between bot versions."""

    class Kind(models.TextChoices):
        ROUND_ROBIN = "round-robin", "round robin"
        VALIDATION = "validation", "validation"
        """A version against itself on every ladder it claims."""

    class State(models.TextChoices):
        DRAFT = "draft", "draft"
        RUNNING = "running", "running"
        FINISHED = "finished", "finished"
        CANCELLED = "cancelled", "cancelled"
        HALTED = "halted", "halted"
        """Over, but some of its games could not be played; each such game says why."""

    slug = models.SlugField(max_length=60, unique=True)
    name = models.CharField(max_length=80)
    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="tournaments"
    )
    """Null: the site's own."""
    kind = models.CharField(max_length=12, choices=Kind.choices, default=Kind.ROUND_ROBIN)
    state = models.CharField(max_length=10, choices=State.choices, default=State.DRAFT)
    rated = models.BooleanField(default=True)
    """Whether its games count on the ladders."""
    ladders = models.JSONField()
    """Codes of the ladders it is played on, in their order."""
    pairs = models.PositiveIntegerField(default=1)
    """How often every two versions meet on each ladder; a pair is two games, one opening, both colours."""
    opening_plies = models.PositiveIntegerField(default=0)
    """First plies drawn at random from the seed, not chosen by the bots."""
    time_control = models.CharField(max_length=80)
    ply_limit = models.PositiveIntegerField(null=True, blank=True)
    """Null: each ladder's own."""
    seed = models.BigIntegerField(default=0)
    created_at = models.DateTimeField(auto_now_add=True)
    started_at = models.DateTimeField(null=True, blank=True)
    finished_at = models.DateTimeField(null=True, blank=True)
    games_total = models.PositiveIntegerField(default=0)
    games_done = models.PositiveIntegerField(default=0)
    """Games with a result, and halted ones: when it reaches the total, the tournament is over."""

    objects = TournamentQuerySet.as_manager()

    class Meta:
        ordering: ClassVar = ["-id"]
        constraints: ClassVar = [
            models.CheckConstraint(
                condition=models.Q(state__in=["draft", "running", "finished", "cancelled", "halted"]),
                name="tournament_state_known",
            ),
            models.CheckConstraint(
                condition=models.Q(kind__in=["round-robin", "validation"]), name="tournament_kind_known"
            ),
            models.CheckConstraint(
                condition=models.Q(games_done__lte=models.F("games_total")),
                name="tournament_done_within_total",
            ),
        ]
        indexes: ClassVar = [models.Index(fields=["state"], name="tournament_state")]

    def __str__(self) -> str:
        return self.name

    def get_absolute_url(self) -> str:
        return reverse("tournament", args=[self.slug])

    @property
    def is_over(self) -> bool:
        return self.state in {self.State.FINISHED, self.State.CANCELLED, self.State.HALTED}


class Entry(models.Model):
    """A version that takes part, on those of the tournament's ladders it plays."""

    tournament = models.ForeignKey(Tournament, on_delete=models.CASCADE, related_name="entries")
    version = models.ForeignKey("BotVersion", on_delete=models.PROTECT, related_name="entries")
    number = models.PositiveIntegerField()
    """Its place in the pairing tables, from 1."""

    class Meta:
        ordering: ClassVar = ["tournament", "number"]
        verbose_name_plural = "entries"
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["tournament", "version"], name="entry_once_a_tournament"),
            models.UniqueConstraint(fields=["tournament", "number"], name="entry_number_once_a_tournament"),
        ]

    def __str__(self) -> str:
        return f"{self.tournament_id} {self.number}: {self.version_id}"


class Pairing(models.Model):
    """Two versions that meet on a ladder for a pair of games: one opening, both colours."""

    tournament = models.ForeignKey(Tournament, on_delete=models.CASCADE, related_name="pairings")
    ladder = models.ForeignKey("Ladder", on_delete=models.PROTECT, related_name="+")
    round = models.PositiveIntegerField()
    """From 1; a version plays at most once a round and ladder."""
    number = models.PositiveIntegerField()
    """In the round, counted on over its ladders, from 1."""
    first = models.ForeignKey("BotVersion", on_delete=models.PROTECT, related_name="+")
    """White in the pair's first game."""
    second = models.ForeignKey("BotVersion", on_delete=models.PROTECT, related_name="+")
    opening = models.TextField(blank=True)
    """Moves given to both, separated by spaces."""
    fen = models.CharField(max_length=400, blank=True)
    """The start position, where it is not the game's own."""
    seed = models.BigIntegerField(default=0)
    """Of everything drawn while this pair is played."""

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["tournament", "ladder", "round", "number"], name="pairing_number_once_a_round"
            )
        ]

    def __str__(self) -> str:
        return f"{self.tournament_id}/{self.round}/{self.number}"

    @property
    def opening_moves(self) -> tuple[str, ...]:
        return tuple(self.opening.split())
