"""The engines' logs of games; a separate module, because they are compressed and deleted after a time."""

from __future__ import annotations

import datetime
import zlib
from typing import ClassVar

from django.conf import settings
from django.db import models
from django.utils import timezone

from engines.records import Fault
from tournament.models.games import Game
from tournament.models.tournaments import Tournament

LEVEL = 6
"""Of zlib: 9 needs three times the processor time for logs that are 1 % smaller."""


def pack_log(stderr: str, lines: str) -> bytes:
    """The two texts of a log in the form in which they are stored."""
    return zlib.compress(f"{len(stderr)}\n{stderr}{lines}".encode(), LEVEL)


def unpack_log(content: bytes) -> tuple[str, str]:
    """The texts that ``pack_log`` packed."""
    size, _, text = zlib.decompress(content).decode().partition("\n")
    return text[: int(size)], text[int(size) :]


class GameLogQuerySet(models.QuerySet["GameLog"]):
    def expired(self, now: datetime.datetime, *, kept_long: bool) -> GameLogQuerySet:
        """The logs that have been kept for their time, the oldest first."""
        since = now - datetime.timedelta(days=days_kept(kept_long=kept_long))
        return self.filter(kept_long=kept_long, stored_at__lt=since).order_by("stored_at")


class GameLog(models.Model):
    """The output of one side's engine; visible only to that bot's owner and to staff."""

    class Side(models.TextChoices):
        WHITE = "white", "white"
        BLACK = "black", "black"

    game = models.ForeignKey(Game, on_delete=models.CASCADE, related_name="logs")
    side = models.CharField(max_length=5, choices=Side.choices)
    content = models.BinaryField()
    """See ``pack_log``."""
    kept_long = models.BooleanField(default=False)
    """Whether it shows a fault or belongs to a validation."""
    stored_at = models.DateTimeField(default=timezone.now)

    objects = GameLogQuerySet.as_manager()

    class Meta:
        constraints: ClassVar = [models.UniqueConstraint(fields=["game", "side"], name="log_once_a_side")]
        indexes: ClassVar = [models.Index(fields=["kept_long", "stored_at"], name="log_age")]

    def __str__(self) -> str:
        return f"{self.side} log of {self.game_id}"

    @property
    def stderr(self) -> str:
        return unpack_log(bytes(self.content))[0]

    @property
    def lines(self) -> str:
        """The lines exchanged: ``> `` to the engine, ``< `` from it."""
        return unpack_log(bytes(self.content))[1]


def is_kept_long(fault: str, kind: str) -> bool:
    """Whether the logs of a game with this fault, in a tournament of this kind, are kept for long."""
    return fault != Fault.NONE or kind == Tournament.Kind.VALIDATION


def days_kept(*, kept_long: bool) -> int:
    """How many days logs are kept."""
    return settings.FAULT_LOG_DAYS if kept_long else settings.LOG_DAYS
