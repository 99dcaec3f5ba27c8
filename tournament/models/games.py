"""Games: one row each, from the schedule to the result, with records, live moves, attempts, corrections."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from typing import Any, ClassVar

from django.conf import settings
from django.db import models
from django.urls import reverse

from engines.rules.base import Reason, Result
from engines.terminations import Fault, Termination
from tournament.models.compressed import CompressedTextField


def _choices(values: type[Result] | type[Reason] | type[Termination] | type[Fault]) -> list[tuple[str, str]]:
    return [(str(value), str(value)) for value in values if str(value)]


def reason_choices() -> list[tuple[str, str]]:
    """A function, so that a reason of a new game needs no migration."""
    return _choices(Reason)


MAX_REASON = 300
"""Characters of the reason of a correction."""


class Forfeited(models.Func):
    """Whether a game was forfeited, as a condition for ``filter``.

    In constants, because SQLite uses the indexes of forfeits only for the text of their condition.
    """

    template = "%(expressions)s IN ('white', 'black')"
    output_field = models.BooleanField()

    def __init__(self, fault: str = "fault", **more: Any) -> None:
        super().__init__(fault, **more)


FORFEITED = models.Q(fault__in=["white", "black"])
"""The same as the condition of an index."""


class Drawn(models.Func):
    """Whether a game was drawn, as a condition for ``filter``; in a constant like ``Forfeited``."""

    template = "%(expressions)s = '1/2-1/2'"
    output_field = models.BooleanField()

    def __init__(self, result: str = "result", **more: Any) -> None:
        super().__init__(result, **more)


DRAWN = models.Q(result="1/2-1/2")
"""The same as the condition of an index."""

UNRATED = models.Q(rated=False, result__isnull=False)
FILTERED = ("tournament", "result", "termination", "reason", "fault", "rated", "annulled")


class Scanned(models.Func):
    """A column in conditions for which SQLite chooses no index; they can be checked in the one that it reads.

    It knows no counts: of two indexes it takes the one with more equal columns, whatever it selects.
    """

    template = "%(expressions)s"

    def as_sqlite(self, compiler: Any, connection: Any, **context: Any) -> Any:
        return self.as_sql(compiler, connection, template="+%(expressions)s", **context)


LISTED = (
    "ladder", "result", "state", "termination", "reason", "fault", "plies", "rated", "annulled",
    "finished_at", "white__number", "white__bot__name", "white__bot__slug", "black__number",
    "black__bot__name", "black__bot__slug", "tournament__slug", "live__updated_at",
)  # fmt: skip
"""Columns that lists of games show: all columns of a game with its players take twice the time of a page."""


MAX_AT_ONCE = 30
"""Games of a tournament that may be played at a time, so that a later one is recorded first."""


def _copied(model: str, **more: Any) -> Any:
    """A foreign key with the same value as one of the game, which has the constraint."""
    return models.ForeignKey(
        model, models.DO_NOTHING, db_constraint=False, db_index=False, related_name="+", **more
    )


class GameQuerySet(models.QuerySet["Game"]):
    def done(self) -> GameQuerySet:
        return self.filter(state=Game.State.DONE)

    def counted(self) -> GameQuerySet:
        """The recorded games that count in tables: all but the annulled ones."""
        return self.done().filter(annulled=False)

    def by_completion(self, ladder: str) -> GameQuerySet:
        """A ladder's recorded games in the order in which they were rated."""
        return self.filter(ladder_id=ladder, sequence__isnull=False).order_by("sequence")

    def latest_result(self) -> Game | None:
        """The game that was recorded last, of those that were scheduled last and are done."""

        def ended(game: Game) -> float:
            return game.finished_at.timestamp() if game.finished_at else 0.0

        return max(self.done().with_players().order_by("-pk")[:MAX_AT_ONCE], key=ended, default=None)

    def with_players(self) -> GameQuerySet:
        rows = self.select_related("white__bot__owner", "black__bot__owner", "tournament", "ladder")
        return rows.defer("tournament__book")

    def listed(self) -> GameQuerySet:
        """With what lists of games and their files show; other columns are read when they are needed."""
        return self.select_related("white__bot", "black__bot", "tournament", "live").only(*LISTED)


class Game(models.Model):
    """One game: scheduled, claimed by an attempt, recorded once."""

    class State(models.TextChoices):
        WAITING = "waiting", "waiting"
        CLAIMED = "claimed", "claimed"
        """Claimed by an attempt: a job is in the queue or being played."""
        DONE = "done", "done"
        HALTED = "halted", "halted"
        """The site stopped trying; ``evidence`` holds the reason. Without a fault it needs staff."""
        CANCELLED = "cancelled", "cancelled"

    key = models.CharField(max_length=120, unique=True)
    """``tournament/round/pairing/number``; the same for every attempt."""
    # No indexes of their own: each is the first column of an index below, and there are very many games.
    pairing = models.ForeignKey("Pairing", on_delete=models.CASCADE, related_name="games", db_index=False)
    tournament = models.ForeignKey(
        "Tournament", on_delete=models.CASCADE, related_name="games", db_index=False
    )
    ladder = models.ForeignKey("Ladder", on_delete=models.PROTECT, related_name="games", db_index=False)
    number = models.PositiveSmallIntegerField()
    """The number in the pairing: 1 or 2, with colours swapped."""
    white = models.ForeignKey(
        "BotVersion", on_delete=models.PROTECT, related_name="games_as_white", db_index=False
    )
    black = models.ForeignKey(
        "BotVersion", on_delete=models.PROTECT, related_name="games_as_black", db_index=False
    )
    state = models.CharField(max_length=10, choices=State.choices, default=State.WAITING)
    attempt = models.UUIDField(null=True, blank=True)
    """The attempt whose report will be recorded; the last one's once the game is over."""
    voids = models.PositiveSmallIntegerField(default=0)
    """Number of attempts that workers ended without a result and without the bots' fault."""
    lost = models.PositiveSmallIntegerField(default=0)
    """Number of attempts whose job's lease expired."""
    result = models.CharField(max_length=7, choices=_choices(Result), null=True, blank=True)
    """Null until the game is recorded."""
    termination = models.CharField(max_length=20, choices=_choices(Termination), blank=True)
    reason = models.CharField(max_length=20, choices=reason_choices, blank=True)
    """The reason given by the rules, if the game ended by the rules."""
    fault = models.CharField(max_length=14, choices=_choices(Fault), blank=True)
    evidence = models.TextField(blank=True)
    """One line: the cause, if an engine or something else was at fault."""
    white_score = models.SmallIntegerField(null=True, blank=True)
    black_score = models.SmallIntegerField(null=True, blank=True)
    plies = models.PositiveIntegerField(default=0)
    sequence = models.BigIntegerField(null=True, blank=True)
    """Completion sequence in its ladder, from 1; null until the game is recorded."""
    rated = models.BooleanField(default=False)
    """Whether the game changes the ladder's ratings. Its record has ``Rated "no"`` if it did not when it was
    recorded; a ``Correction`` says so if that is different now.
    """
    annulled = models.BooleanField(default=False)
    """Whether staff annulled the game: it stays published, and counts in no rating and no table. A halted
    game has no ``Correction``, because it has no record.
    """
    played_by = models.ForeignKey(
        "WorkerName", null=True, on_delete=models.PROTECT, related_name="games", db_index=False
    )
    """The worker whose report was recorded; null until then."""
    fingerprint = models.CharField(max_length=32, blank=True)
    """Equal for games with the same players, colours and moves: exact repeats are not rated."""
    started_at = models.DateTimeField(null=True, blank=True)
    finished_at = models.DateTimeField(null=True, blank=True)

    objects = GameQuerySet.as_manager()

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["ladder", "sequence"], name="game_sequence_once_a_ladder"),
            models.UniqueConstraint(fields=["pairing", "number"], name="game_number_once_a_pairing"),
            models.CheckConstraint(
                condition=models.Q(state__in=["waiting", "claimed", "done", "halted", "cancelled"]),
                name="game_state_known",
            ),
            models.CheckConstraint(
                condition=models.Q(result__isnull=True) | models.Q(result__in=["1-0", "0-1", "1/2-1/2"]),
                name="game_result_decided",
            ),
            models.CheckConstraint(
                condition=models.Q(state="done", result__isnull=False, sequence__isnull=False)
                | (~models.Q(state="done") & models.Q(result__isnull=True, sequence__isnull=True)),
                name="game_done_with_result",
            ),
            models.CheckConstraint(
                condition=~models.Q(state="claimed") | models.Q(attempt__isnull=False),
                name="game_claimed_by_attempt",
            ),
        ]
        indexes: ClassVar = [
            models.Index(fields=["state", "id"], name="game_queue"),
            models.Index(fields=["tournament", "state", "id"], name="game_of_tournament"),
            models.Index(fields=["ladder", "fingerprint"], name="game_fingerprint"),
            # Each holds all columns that the list of games is filtered by: whatever the filters, no page of
            # it reads the games themselves. Games of a bot are found by their seats.
            models.Index(fields=["finished_at", "id", "ladder", "plies", *FILTERED], name="game_finished"),
            models.Index(fields=["ladder", "plies", "id", "finished_at", *FILTERED], name="game_length"),
            models.Index(
                fields=["tournament", "finished_at", "id", "ladder", "plies", *FILTERED[1:]],
                name="game_of_event",
            ),
            # What few games may have.
            models.Index(fields=["ladder", "termination", "plies", "id"], name="game_termination"),
            models.Index(fields=["ladder", "reason", "plies", "id"], name="game_reason"),
            models.Index(fields=["ladder", "result", "plies", "id"], name="game_result"),
            models.Index(
                fields=["ladder", "fault", "plies", "id"], condition=FORFEITED, name="forfeit_length"
            ),
            models.Index(fields=["ladder", "plies", "id"], condition=UNRATED, name="unrated_length"),
            models.Index(
                fields=["tournament", "state", "id"], condition=FORFEITED, name="forfeit_of_tournament"
            ),
            models.Index(fields=["tournament", "state", "id"], condition=DRAWN, name="draw_of_tournament"),
            models.Index(
                fields=["finished_at", "id"], condition=models.Q(annulled=True), name="game_annulled"
            ),
        ]

    def __str__(self) -> str:
        return self.key

    def get_absolute_url(self) -> str:
        return reverse("game", args=[self.pk])


class Seat(models.Model):
    """A player of a recorded game: two rows a game, written with its result.

    What is here never changes; what annulments change is with the game.
    """

    # Other columns than the game's are no constraints and have no indexes: the game has them.
    pk = models.CompositePrimaryKey("game", "is_white")
    game = models.ForeignKey(Game, on_delete=models.CASCADE, related_name="seats", db_index=False)
    is_white = models.BooleanField()
    version = _copied("BotVersion")
    bot = _copied("Bot")
    owner = _copied(settings.AUTH_USER_MODEL, null=True)
    """The owner of the bot; null for a sample."""
    opponent = _copied("BotVersion")
    ladder = _copied("Ladder")
    tournament = _copied("Tournament")
    result = models.CharField(max_length=7, choices=_choices(Result))
    """The game's."""
    plies = models.PositiveIntegerField()
    finished_at = models.DateTimeField()
    """The time when the game ended; in 1970 if it is not known."""

    class Meta:
        indexes: ClassVar = [
            models.Index(fields=["version", "finished_at", "game"], name="seat_of_version"),
            models.Index(fields=["owner", "finished_at", "game"], name="seat_of_owner"),
            # With all columns that games of a bot are filtered by, also those that few of them match.
            models.Index(
                fields=[
                    *("bot", "finished_at", "game", "ladder", "tournament", "is_white", "opponent"),
                    *("result", "plies"),
                ],
                name="seat_of_bot",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.game_id} {'White' if self.is_white else 'Black'}"


def first_games(seats: models.QuerySet[Seat], order: Sequence[str], count: int) -> list[int]:
    """The ids of the first ``count`` games of these seats; of some both seats may be among them."""
    keys = seats.order_by(*order).values_list("game", flat=True)[: 2 * count]
    return list(dict.fromkeys(keys))[:count]


class GameRecord(models.Model):
    """A game's record as published; in a table of its own so that lists never load it."""

    game = models.OneToOneField(Game, on_delete=models.CASCADE, primary_key=True, related_name="record")
    text: models.Field[str, str] = CompressedTextField()
    """One PGN game, ending in a newline."""

    def __str__(self) -> str:
        return f"record of {self.game_id}"


class Correction(models.Model):
    """A recorded game that counts otherwise than its record says; the list of all of them is published."""

    class Effect(models.TextChoices):
        ANNULLED = "annulled", "annulled"
        """Staff annulled the game: it counts in no rating and no table."""
        RATED = "rated", "rated"
        """Its record has ``Rated "no"`` because it repeats a game which is annulled now."""
        UNRATED = "unrated", "not rated"
        """It repeats a game that was annulled when it was recorded, and is not annulled any more."""

    game = models.OneToOneField(Game, on_delete=models.CASCADE, primary_key=True, related_name="correction")
    effect = models.CharField(max_length=8, choices=Effect.choices)
    was_rated = models.BooleanField()
    """Whether the game was rated when it was recorded: its record has no ``Rated "no"``."""
    reason = models.CharField(max_length=MAX_REASON)
    """One sentence, public."""
    at = models.DateTimeField()

    class Meta:
        constraints: ClassVar = [
            models.CheckConstraint(
                condition=models.Q(effect__in=["annulled", "rated", "unrated"]), name="correction_known"
            )
        ]

    def __str__(self) -> str:
        return f"{self.game_id} {self.effect}"


class LiveGame(models.Model):
    """A game while it is played, as of the worker's latest progress message; deleted with the result."""

    game = models.OneToOneField(Game, on_delete=models.CASCADE, primary_key=True, related_name="live")
    moves = models.JSONField(default=list)
    """Pairs of move and comment, as in a record."""
    white_ms = models.BigIntegerField(null=True, blank=True)
    """The time left to White at ``updated_at``, as ``Progress`` has it; null if it does not run yet."""
    black_ms = models.BigIntegerField(null=True, blank=True)
    updated_at = models.DateTimeField()

    @property
    def is_begun(self) -> bool:
        """Whether the engines are ready and the side to move thinks."""
        return self.white_ms is not None or self.black_ms is not None

    def __str__(self) -> str:
        return f"live {self.game_id}"


class Attempt(models.Model):
    """One attempt to play a game: taken by a slot, reported or not, ended once."""

    class End(models.TextChoices):
        OPEN = "", "open"
        RECORDED = "recorded", "recorded"
        VOID = "void", "void"
        """The game was played or begun but does not count; ``evidence`` holds the reason."""
        LOST = "lost", "lost"
        """The lease of its job expired."""
        RELEASED = "released", "released"
        """Its slot returned it, or holds it no more, or the site took it back; counts against nobody."""
        CANCELLED = "cancelled", "cancelled"

    id = models.UUIDField(primary_key=True, default=uuid.uuid4)
    job = models.ForeignKey("Job", null=True, on_delete=models.SET_NULL, related_name="attempts")
    """The job with which it was taken; null if that was before an update of the site."""
    game = models.ForeignKey(Game, on_delete=models.CASCADE, related_name="attempts")
    worker = models.CharField(max_length=120, blank=True)
    """The worker with the process of its slot; empty until the first message."""
    sent_at = models.DateTimeField()
    """When it was taken."""
    started_at = models.DateTimeField(null=True, blank=True)
    """When its first ``go`` was sent, as far as the site knows."""
    reported_at = models.DateTimeField(null=True, blank=True)
    """When its report was stored in the inbox; from then on the lease of its job does not matter."""
    ended_at = models.DateTimeField(null=True, blank=True)
    end = models.CharField(max_length=10, choices=End.choices, blank=True, default="")
    evidence = models.TextField(blank=True)

    class Meta:
        constraints: ClassVar = [
            models.CheckConstraint(
                condition=models.Q(end__in=["", "recorded", "void", "lost", "released", "cancelled"]),
                name="attempt_end_known",
            ),
            models.CheckConstraint(
                condition=models.Q(end="", ended_at__isnull=True)
                | (~models.Q(end="") & models.Q(ended_at__isnull=False)),
                name="attempt_ended_with_end",
            ),
        ]
        indexes: ClassVar = [
            models.Index(fields=["sent_at"], condition=models.Q(ended_at__isnull=True), name="attempt_open"),
            models.Index(fields=["sent_at"], name="attempt_sent"),
            models.Index(fields=["-ended_at"], condition=models.Q(end="void"), name="attempt_void"),
        ]

    def __str__(self) -> str:
        return str(self.id)
