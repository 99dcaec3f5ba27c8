"""Tournaments, their entries and their pairings."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from django.conf import settings
from django.db import models
from django.urls import reverse
from django.utils import timezone

from engines.pairing.meetings import GAMES_A_PAIR

if TYPE_CHECKING:
    from tournament.formats import TournamentFormat


class TournamentQuerySet(models.QuerySet["Tournament"]):
    def public(self) -> TournamentQuerySet:
        """Those that lists show, newest first."""
        from tournament.formats import kinds

        return self.filter(kind__in=kinds(lambda one: one.is_listed)).order_by("-id")

    def running(self) -> TournamentQuerySet:
        return self.filter(state=Tournament.State.RUNNING)

    def announced(self) -> TournamentQuerySet:
        return self.filter(state=Tournament.State.ANNOUNCED)


def _labels() -> list[tuple[str, str]]:
    from tournament.formats import labels

    return labels()


class Tournament(models.Model):
    """A schedule of games between bot versions."""

    class State(models.TextChoices):
        DRAFT = "draft", "draft"
        ANNOUNCED = "announced", "announced"
        """Visible to everybody; waits for its start, and for entries if it takes them."""
        RUNNING = "running", "running"
        PAUSED = "paused", "paused"
        """No game is played: those under way are stopped, and begin again after ``resume``."""
        FINISHED = "finished", "finished"
        CANCELLED = "cancelled", "cancelled"
        HALTED = "halted", "halted"
        """The tournament is over, but some games could not be played; each of them holds the reason."""

    slug = models.SlugField(max_length=60, unique=True)
    draft_slug = models.SlugField(max_length=60, blank=True, default="")
    """The slug that it had as a draft: its address then still leads to it. Empty before it is published."""
    name = models.CharField(max_length=80)
    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="tournaments"
    )
    """Null: it belongs to the site."""
    kind = models.CharField(max_length=30, choices=_labels, default="round-robin")
    """The code of its format, see ``tournament.formats``."""
    state = models.CharField(max_length=10, choices=State.choices, default=State.DRAFT)
    is_discarded = models.BooleanField(default=False)
    """Cancelled as a draft, which nobody but its owner has seen."""
    state_reason = models.TextField(blank=True)
    """One sentence for its page, if the state needs an explanation."""
    rated = models.BooleanField(default=True)
    """Whether its games shall change the ladders' ratings; see ``rates_on``."""
    off_terms = models.JSONField(default=dict, blank=True)
    """The ladders on whose terms it is not played, each with the ``formats.rated.Unrated`` why. Fixed at its
    start: the terms of a ladder may change later."""
    rated_off_terms = models.BooleanField(default=False)
    """Staff lets its games count on other terms too."""
    own_workers = models.BooleanField(default=False)
    """Its games are played by workers of its owner, and by no other; they are unrated and in no list."""
    ladders = models.JSONField()
    """Codes of its ladders, in display order."""
    pairs = models.PositiveIntegerField(default=1)
    """Pairs of games for each meeting; a pair is one opening with both colours. In a round robin or gauntlet
    all players meet once a cycle for one pair, so this is the number of cycles.
    """
    rounds = models.PositiveIntegerField(default=0)
    """Rounds of a Swiss; 0 for other kinds."""
    extra_pairs = models.PositiveIntegerField(default=0)
    """The most extra pairs in a knock-out, added one at a time while a match is level."""
    opening_plies = models.PositiveIntegerField(default=0)
    """First plies of each game, drawn at random from the seed, not chosen by the bots."""
    book = models.JSONField(default=dict, blank=True)
    """Openings by ladder, each as moves with spaces between them, instead of random ones."""
    time_control = models.CharField(max_length=80)
    ply_limit = models.PositiveIntegerField(null=True, blank=True)
    """Null: each ladder's default."""
    seed = models.BigIntegerField(default=0)
    priority = models.SmallIntegerField(default=0)
    """Games of a higher priority are played first; of equal ones see ``work.next_batch``."""
    seeds = models.JSONField(default=dict, blank=True)
    """Version ids by ladder, the best seed first; set at the start of a tournament paired round by round."""
    absent = models.JSONField(default=dict, blank=True)
    """The ids of versions without whom each ladder's rounds were drawn, because they were withdrawn; by
    ladder and round. A round robin or gauntlet has cycles, from 0, instead: only an extension can have
    any."""
    created_at = models.DateTimeField(auto_now_add=True)
    entry_until = models.DateTimeField(null=True, blank=True)
    """Owners enter their bots until then; null: only the organizer chooses bots."""
    entry_closed = models.BooleanField(default=False)
    """Set once the deadline has passed and the entered versions are fixed."""
    starts_at = models.DateTimeField(null=True, blank=True)
    """When an announced tournament starts automatically."""
    started_at = models.DateTimeField(null=True, blank=True)
    served_at = models.DateTimeField(null=True, blank=True)
    """When a worker last took games of it; an owner's tournaments take turns."""
    finished_at = models.DateTimeField(null=True, blank=True)
    revision = models.PositiveIntegerField(default=0)
    """Counts annulments and annulments taken back, which change its tables."""
    games_total = models.PositiveIntegerField(default=0)
    games_to_make = models.PositiveIntegerField(default=0)
    """Those of the total that have no rows yet, see ``services.schedule.pairings.make_games``."""
    games_done = models.PositiveIntegerField(default=0)
    """Games with a result, and halted ones. When it reaches the total, the tournament is over or its next
    round is due; a ladder's tournament only waits for its next pair.
    """

    objects = TournamentQuerySet.as_manager()

    class Meta:
        ordering: ClassVar = ["-id"]
        constraints: ClassVar = [
            models.CheckConstraint(
                condition=models.Q(
                    state__in=["draft", "announced", "running", "paused", "finished", "cancelled", "halted"]
                ),
                name="tournament_state_known",
            ),
            models.CheckConstraint(
                condition=models.Q(games_done__lte=models.F("games_total")),
                name="tournament_done_within_total",
            ),
        ]
        indexes: ClassVar = [
            models.Index(fields=["state"], name="tournament_state"),
            models.Index(
                fields=["games_to_make"],
                condition=models.Q(games_to_make__gt=0),
                name="tournament_games_to_make",
            ),
        ]

    def __str__(self) -> str:
        return self.name

    def get_absolute_url(self) -> str:
        return reverse(self.format.page, args=[self.slug])

    @property
    def is_over(self) -> bool:
        return self.state in {self.State.FINISHED, self.State.CANCELLED, self.State.HALTED}

    @property
    def format(self) -> TournamentFormat:
        from tournament.formats import FORMATS  # late: the formats load the pairing of rounds

        return FORMATS[self.kind]

    def rates_on(self, ladder: str) -> bool:
        """Whether its games on this ladder may change ratings; some still do not, see ``why_unrated``."""
        return self.rated and (self.rated_off_terms or ladder not in self.off_terms)

    @property
    def is_rated(self) -> bool:
        """Whether its games may change the ratings of any ladder."""
        return any(map(self.rates_on, self.ladders))

    @property
    def games_a_meeting(self) -> int:
        return GAMES_A_PAIR * self.pairs

    @property
    def games_expected(self) -> int:
        """All its games, those of rounds that are not drawn yet included; of a knock-out the fewest."""
        if not self.format.is_staged or self.state in {self.State.FINISHED, self.State.HALTED}:
            return self.games_total
        meetings = sum(self.format.meetings(len(players), self.rounds) for players in self.seeds.values())
        return max(self.games_total, self.games_a_meeting * meetings)

    @property
    def games_counted(self) -> str:
        """How many of its games are over, for example ``8 of at least 14``."""
        least = "at least " if self.format.games_vary and not self.is_over else ""
        return f"{self.games_done} of {least}{self.games_expected}"

    def takes_entries(self) -> bool:
        """Whether owners may enter and withdraw their bots now."""
        waits = self.state == self.State.ANNOUNCED and not self.entry_closed
        return waits and self.entry_until is not None and timezone.now() < self.entry_until


class MeetingScore(models.Model):
    """The results of two versions against each other in a tournament that has tables; those of ``one``.

    Always as its games are: changed in the transactions that change them, see ``services.schedule.meetings``.
    """

    # Tournament and ladder need no indexes of their own: they begin the index below.
    tournament = models.ForeignKey(
        Tournament, on_delete=models.CASCADE, related_name="meeting_scores", db_index=False
    )
    ladder = models.ForeignKey("Ladder", on_delete=models.PROTECT, related_name="+", db_index=False)
    round = models.PositiveIntegerField()
    """The round of their meeting, if rounds are drawn one after another: from its draw on it has a row.
    Otherwise 0."""
    one = models.ForeignKey("BotVersion", on_delete=models.CASCADE, related_name="+")
    """The version with the lower id."""
    other = models.ForeignKey("BotVersion", on_delete=models.CASCADE, related_name="+")
    # Not positive fields: their constraint would also be checked of what is taken away.
    wins = models.IntegerField(default=0)
    draws = models.IntegerField(default=0)
    losses = models.IntegerField(default=0)
    given_up = models.IntegerField(default=0)
    """Halted games, half a point for both."""
    walkovers = models.IntegerField(default=0)
    """Games won without being played."""
    defaults = models.IntegerField(default=0)
    """Games lost without being played."""
    annulled = models.IntegerField(default=0)
    """Games that are over and do not count."""

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["tournament", "ladder", "round", "one", "other"], name="meeting_score_once"
            )
        ]

    def __str__(self) -> str:
        return f"{self.tournament_id} {self.ladder_id} {self.one_id}-{self.other_id}"


class OwnRatings(models.Model):
    """A tournament's own ratings and its winners, as the record keeper computed them last.

    See ``services.schedule.own_ratings``. The row may be deleted at any time: they are then computed anew.
    """

    tournament = models.OneToOneField(
        Tournament, on_delete=models.CASCADE, primary_key=True, related_name="own_ratings"
    )
    games_done = models.PositiveIntegerField()
    """The tournament's ``games_done`` when they were computed; another number means that games came since."""
    revision = models.PositiveIntegerField()
    """Its ``revision`` then; another number means that games were annulled, or count again, since."""
    ratings = models.JSONField()
    """Pairs of a version's id and its mu - 3 sigma, by ladder."""
    winners = models.JSONField()
    """The ids of the versions that are first on some ladder."""
    due_at = models.DateTimeField()
    """When they may be computed again if games came since: the more they cost, the later."""

    class Meta:
        verbose_name_plural = "own ratings"

    def __str__(self) -> str:
        return f"{self.tournament_id}: {self.games_done}"


class Entry(models.Model):
    """A version that takes part, on each of the tournament's ladders that it plays."""

    tournament = models.ForeignKey(Tournament, on_delete=models.CASCADE, related_name="entries")
    version = models.ForeignKey("BotVersion", on_delete=models.PROTECT, related_name="entries")
    number = models.PositiveIntegerField()
    """Its number in the pairing tables, from 1."""
    by_owner = models.BooleanField(default=False)
    """Its owner entered it, so it takes part whoever else may enter it (``Bot.entered_by``)."""

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
    """The round, from 1; a version plays at most once in each round of a ladder."""
    number = models.PositiveIntegerField()
    """The number in the round, from 1, counted across ladders."""
    first = models.ForeignKey("BotVersion", on_delete=models.PROTECT, related_name="+")
    """White in the pair's first game."""
    second = models.ForeignKey("BotVersion", on_delete=models.PROTECT, related_name="+")
    opening = models.TextField(blank=True)
    """Moves given to both players, separated by spaces."""
    fen = models.CharField(max_length=400, blank=True)
    """The start position, if it is not the initial position of the game."""
    seed = models.BigIntegerField(default=0)
    """The seed for everything drawn at random in this pair."""

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["tournament", "ladder", "round", "number"], name="pairing_number_once_a_round"
            )
        ]
        indexes: ClassVar = [models.Index(fields=["opening"], name="pairing_opening")]

    def __str__(self) -> str:
        return f"{self.tournament_id}/{self.round}/{self.number}"

    @property
    def opening_moves(self) -> tuple[str, ...]:
        return tuple(self.opening.split())
