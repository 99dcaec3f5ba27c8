"""Searches that people ask for, and their games against bots: nothing here counts in a rating or a table."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from typing import Any, ClassVar

from django.db import models
from django.urls import reverse

from engines.rules.base import Side

BATCH_MS = 5_000
"""The milliseconds of searching that a slot gets at once; at least one position."""
MARGIN_MS = 1_000
"""What a position may take longer than its search."""


ANALYSES = models.Q(game__isnull=False, ended_at__isnull=False, why="")
"""Complete analyses of games, which are kept for good."""


SITE = "site "
"""The askers of searches that the site asks for itself begin with this."""
_OF_SITE = models.Q(asker__startswith=SITE)


class BotSearchQuerySet(models.QuerySet["BotSearch"]):
    def of_site(self) -> BotSearchQuerySet:
        """Those that the site asks for itself, for which no work of people waits."""
        return self.filter(_OF_SITE)

    def of_people(self) -> BotSearchQuerySet:
        """All others."""
        return self.exclude(_OF_SITE)

    def waiting(self) -> BotSearchQuerySet:
        """Those that are open and that no slot has, the oldest first."""
        is_free = models.Q(job=None) | models.Q(job__ended_at__isnull=False)
        return self.filter(is_free, ended_at__isnull=True).order_by("asked_at")


class BotSearch(models.Model):
    """A request: it waits, slots evaluate some of its positions at a time, and it ends once."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4)
    ladder = models.ForeignKey("Ladder", on_delete=models.CASCADE, related_name="+", db_index=False)
    version = models.ForeignKey("BotVersion", on_delete=models.CASCADE, related_name="searches")
    owner = models.ForeignKey("User", null=True, on_delete=models.CASCADE, related_name="searches")
    """Null: a visitor without an account, or the site."""
    asker = models.CharField(max_length=64)
    """The user, a hash of the visitor's address, or ``SITE`` with a purpose: each has one open search."""
    content = models.CharField(max_length=64)
    """A hash of what is searched: the same again gets the same answer."""
    game = models.ForeignKey("Game", null=True, on_delete=models.SET_NULL, related_name="searches")
    """The recorded game whose positions these are, if they are one's."""
    person_game = models.ForeignKey(
        "PersonGame", null=True, on_delete=models.CASCADE, related_name="searches"
    )
    """The game of a person in which the bot makes this move."""
    start = models.TextField(blank=True)
    """A position string; empty for the game's initial position."""
    moves = models.TextField(blank=True)
    """The moves from ``start``, with spaces between them."""
    plies: models.JSONField[Any, Any] = models.JSONField()
    """The numbers of moves after which the positions stand, in the order in which they are evaluated."""
    ms = models.PositiveIntegerField()
    """The milliseconds for each position."""
    found: models.JSONField[Any, Any] = models.JSONField(default=dict)
    """The move, empty while it is searched, and the comment as in a record, by ply."""
    asked_at = models.DateTimeField()
    ended_at = models.DateTimeField(null=True, blank=True)
    why = models.TextField(blank=True)
    """Why it ended early, in a sentence; public."""
    is_fault = models.BooleanField(default=False)
    """Whether that was the bot's fault."""
    job = models.ForeignKey("Job", null=True, on_delete=models.SET_NULL, related_name="searches")
    """The job with which a slot took it last, maybe ended. A slot may have it beyond the search's end."""
    tries = models.PositiveSmallIntegerField(default=0)
    """How many slots have taken it since the last position was evaluated."""

    objects = BotSearchQuerySet.as_manager()

    class Meta:
        indexes: ClassVar = [
            models.Index(fields=["content", "-asked_at"], name="search_content"),
            models.Index(fields=["asker", "-asked_at"], name="search_of_asker"),
            models.Index(fields=["asked_at"], condition=models.Q(ended_at__isnull=True), name="search_open"),
            models.Index(fields=["ended_at"], name="search_ended"),
        ]
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["asker"], condition=models.Q(ended_at__isnull=True), name="open_search_once_an_asker"
            )
        ]

    def __str__(self) -> str:
        return str(self.id)

    def get_absolute_url(self) -> str:
        return reverse("search", args=[self.pk])

    @property
    def is_held(self) -> bool:
        """Whether a slot has it."""
        return self.job is not None and self.job.ended_at is None

    @property
    def next_plies(self) -> Sequence[int]:
        """The plies of the positions that a slot gets next."""
        return self.missing[: max(1, BATCH_MS // self.ms)]

    @property
    def seconds(self) -> float:
        """What a slot may need for as many positions as it gets at once."""
        return max(1, BATCH_MS // self.ms) * (self.ms + MARGIN_MS) / 1000

    @property
    def is_analysis(self) -> bool:
        """Whether it is one of ``ANALYSES``."""
        return self.game_id is not None and self.ended_at is not None and not self.why

    @property
    def last_ply(self) -> int | None:
        """The greatest ply that is evaluated; None if none is."""
        return max((int(ply) for ply, (move, _) in self.found.items() if move), default=None)

    @property
    def done(self) -> int:
        """How many positions are evaluated."""
        return len(self.plies) - len(self.missing)

    @property
    def missing(self) -> Sequence[int]:
        """The plies that are not evaluated yet."""
        return [ply for ply in self.plies if not self.found.get(str(ply), [""])[0]]


class PersonGame(models.Model):
    """A game of a person against a bot: unrated, in no tournament, and in no table."""

    class End(models.TextChoices):
        OPEN = "", "open"
        RULES = "rules", "by the rules"
        """Also by repetition and the ply limit."""
        RESIGNED = "resigned", "resigned"
        """The loser resigned."""
        FAILED = "failed", "failed"
        """The bot could not go on; ``why`` says how."""
        VOID = "void", "void"
        """Nobody won; ``why`` is a sentence."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4)
    ladder = models.ForeignKey("Ladder", on_delete=models.CASCADE, related_name="+", db_index=False)
    version = models.ForeignKey("BotVersion", on_delete=models.CASCADE, related_name="+")
    person = models.ForeignKey(
        "User", null=True, on_delete=models.CASCADE, related_name="person_games", db_index=False
    )
    """Null: a visitor without an account."""
    guest = models.CharField(max_length=32, blank=True, default="")
    """The key by which the session of such a visitor knows the game."""
    network = models.CharField(max_length=40, blank=True, default="")
    """A hash of that visitor's address, for limits."""
    is_white = models.BooleanField()
    """Whether the person is White."""
    ms = models.PositiveIntegerField()
    """The bot's time for a move."""
    moves = models.TextField(blank=True)
    """The moves from the initial position, with spaces between them."""
    taken_back = models.PositiveIntegerField(default=0)
    """How often the person has taken a move back."""
    result = models.CharField(max_length=7, default="*")
    end = models.CharField(max_length=10, choices=End.choices, blank=True, default="")
    why = models.TextField(blank=True)
    started_at = models.DateTimeField()
    ended_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        indexes: ClassVar = [
            models.Index(fields=["person", "-started_at"], name="person_games"),
            models.Index(fields=["started_at"], name="person_game_started"),
            models.Index(
                fields=["person"], condition=models.Q(ended_at__isnull=True), name="person_game_open"
            ),
            models.Index(fields=["guest"], condition=~models.Q(guest=""), name="person_game_guest"),
            models.Index(
                fields=["network", "started_at"], condition=~models.Q(network=""), name="person_game_network"
            ),
        ]

    def __str__(self) -> str:
        return str(self.id)

    def get_absolute_url(self) -> str:
        return reverse("person-game", args=[self.pk])

    @property
    def person_name(self) -> str:
        return self.person.username if self.person else "Guest"

    @property
    def plies(self) -> int:
        """The number of moves that have been played."""
        return len(self.moves.split())

    @property
    def person_side(self) -> Side:
        return Side.WHITE if self.is_white else Side.BLACK
