"""Ladders: one for each game, with the rating of every version that played on it (``LadderRating``).

``RatingEvent`` is one step of a rating; ``PairScore`` and ``PairOutcome`` count the results of two versions
against each other, by games and by pairs of games. ``LadderEstimate`` is computed from both.
"""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Iterator
from typing import Any, ClassVar

from django.db import models
from django.urls import reverse

from engines.arithmetic.ratings import SETTLED_GAMES, SETTLED_SIGMA, Rating, is_provisional
from engines.rules.registry import GAMES, Variant
from tournament.models.bots import ActiveVersion, BotVersion


class LadderQuerySet(models.QuerySet["Ladder"]):
    def ensure(self) -> None:
        """Create the row of every registered game that has none; may be repeated."""
        self.bulk_create([self.model(code=code) for code in GAMES], ignore_conflicts=True)

    def outdated(self) -> LadderQuerySet:
        """Ladders whose ratings are to be computed again, because games were annulled."""
        return self.exclude(revision=models.F("rated_revision")).order_by("code")


class Ladder(models.Model):
    """The ladder of one game; its row is locked while a result is written."""

    code = models.CharField(max_length=32, primary_key=True)
    sequence = models.BigIntegerField(default=0)
    """The latest completion sequence number; games are rated in this order."""
    leader = models.ForeignKey(
        "BotVersion", null=True, blank=True, on_delete=models.SET_NULL, related_name="+", db_index=False
    )
    """First of the rating table after the latest rated game; null before the first one."""
    revision = models.PositiveIntegerField(default=0)
    """Counts annulments and annulments taken back, which change what games count."""
    rated_revision = models.PositiveIntegerField(default=0)
    """The revision of the stored ratings."""
    evidence_asked_at = models.DateTimeField(null=True, blank=True)
    """When staff last asked for its evidence, beside that of each month."""

    objects = LadderQuerySet.as_manager()

    def __str__(self) -> str:
        return self.code

    def get_absolute_url(self) -> str:
        return reverse("ladder", args=[self.code])

    @property
    def is_outdated(self) -> bool:
        """Whether the ratings are to be computed again, because games were annulled."""
        return self.revision != self.rated_revision

    @property
    def rules(self) -> Variant:
        return GAMES[self.code]

    @property
    def name(self) -> str:
        return self.rules.name


SHOWN = (
    "ladder", "mu", "sigma", "conservative", "games", "wins", "draws", "losses", "version__number",
    "version__bot__name", "version__bot__slug", "version__bot__owner__username",
)  # fmt: skip
"""Columns that the tables of ladders show."""


def _is_settled() -> models.Q:
    return models.Q(sigma__lte=SETTLED_SIGMA) | models.Q(games__gte=SETTLED_GAMES)


def _is_playing() -> models.Q:
    active = ActiveVersion.objects.filter(
        bot=models.OuterRef("version__bot"), ladder=models.OuterRef("ladder"), enabled=True
    )
    return models.Q(models.Exists(active), version__state=BotVersion.State.VALID)


def condition_column(condition: models.Q) -> models.ExpressionWrapper[Any]:
    """A condition as a value that can be read and sorted by."""
    return models.ExpressionWrapper(condition, output_field=models.BooleanField())


class LadderRatingQuerySet(models.QuerySet["LadderRating"]):
    def leaderboard(self, ladder: str) -> LadderRatingQuerySet:
        """Best first; reads only this table and the bots' names."""
        return (
            self.filter(ladder_id=ladder)
            .select_related("version__bot__owner")
            .order_by("-conservative", "version_id")
        )

    def settled(self) -> LadderRatingQuerySet:
        """Without provisional ratings."""
        return self.filter(_is_settled())

    def playing(self) -> LadderRatingQuerySet:
        """Ratings of valid versions whose bots play on the ladder, with this version or another one."""
        return self.filter(_is_playing())

    def last_games(self, ladder: str) -> dict[int, datetime.datetime]:
        """When the ratings that no longer play were last changed by a game, by id."""
        events = RatingEvent.objects.filter(version=models.OuterRef("version"), ladder=ladder)
        last = events.order_by("-sequence").values("game__finished_at")[:1]
        retired = self.filter(~_is_playing(), ladder=ladder)
        return dict(retired.annotate(last=models.Subquery(last)).values_list("pk", "last"))

    def places(self, ladder: str, *, of_bots: bool = False) -> Iterator[tuple[int, int | None]]:
        """The ids and places of a ladder's ratings in the order of its table.

        First the settled ones, then the provisional ones, last those that no longer play. The best settled
        version of each bot has a place, the others have None. With ``of_bots`` only the first rating of each
        bot, and none that no longer plays.
        """
        rows = self.filter(ladder=ladder).annotate(
            is_playing=condition_column(_is_playing()), is_settled=condition_column(_is_settled())
        )
        ordered = rows.order_by("-is_playing", "-is_settled", "-conservative", "version_id")
        columns = ("pk", "version__bot", "is_playing", "is_settled")
        bots = set[int]()
        for pk, bot, plays, is_settled in ordered.values_list(*columns).iterator():
            if not (of_bots and (bot in bots or not plays)):
                yield pk, len(bots) + 1 if plays and is_settled and bot not in bots else None
            bots.add(bot)

    def placed(self, places: Iterable[tuple[int, int | None]]) -> list[LadderRating]:
        """The ratings with these ids, in this order and with their ``place``, as tables show them."""
        place_of = dict(places)
        shown = self.select_related("version__bot__owner").only(*SHOWN)
        found = shown.annotate(is_playing=condition_column(_is_playing())).in_bulk(list(place_of))
        for pk, rating in found.items():
            rating.place, rating.plays = place_of[pk], rating.is_playing  # type: ignore[attr-defined]
        return [found[pk] for pk in place_of if pk in found]


class LadderRating(models.Model):
    """A version's latest rating on a ladder, and its counts of results."""

    ladder = models.ForeignKey(Ladder, on_delete=models.CASCADE, related_name="ratings")
    version = models.ForeignKey("BotVersion", on_delete=models.CASCADE, related_name="ratings")
    mu = models.FloatField()
    sigma = models.FloatField()
    conservative = models.FloatField()
    """mu - 3 sigma, the published number."""
    games = models.PositiveIntegerField(default=0)
    """Rated games; the sum of the next three."""
    wins = models.PositiveIntegerField(default=0)
    draws = models.PositiveIntegerField(default=0)
    losses = models.PositiveIntegerField(default=0)
    best = models.FloatField(default=0)
    """The highest ``conservative`` after any of these games; at least 0."""

    place: int | None
    plays: bool
    """Both only from ``LadderRatingQuerySet.placed``."""

    objects = LadderRatingQuerySet.as_manager()

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["ladder", "version"], name="rating_once_a_ladder"),
            models.CheckConstraint(condition=models.Q(sigma__gt=0), name="rating_sigma_positive"),
        ]
        indexes: ClassVar = [models.Index(fields=["ladder", "-conservative"], name="rating_leaderboard")]

    def __str__(self) -> str:
        return f"{self.ladder_id} {self.version_id}: {self.conservative:.2f}"

    @property
    def is_provisional(self) -> bool:
        return is_provisional(self.sigma, self.games)


class PairScore(models.Model):
    """Results of two versions against each other on a ladder, in rated games, by colours.

    The table is small even with many games: crosstables and estimates read it instead of the games.
    """

    # Ladder and Black need no indexes of their own: each is the first column of an index below.
    ladder = models.ForeignKey(Ladder, on_delete=models.CASCADE, related_name="pair_scores", db_index=False)
    white = models.ForeignKey("BotVersion", on_delete=models.CASCADE, related_name="+")
    black = models.ForeignKey("BotVersion", on_delete=models.CASCADE, related_name="+", db_index=False)
    wins = models.PositiveIntegerField(default=0)
    """White's."""
    draws = models.PositiveIntegerField(default=0)
    losses = models.PositiveIntegerField(default=0)
    """White's."""

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["ladder", "white", "black"], name="pair_score_once_a_pair")
        ]
        indexes: ClassVar = [models.Index(fields=["black", "ladder"], name="pair_score_of_black")]

    def __str__(self) -> str:
        return f"{self.ladder_id} {self.white_id}-{self.black_id}: +{self.wins} ={self.draws} -{self.losses}"


class PairOutcome(models.Model):
    """How many pairings of two versions had the same results in both games, both rated.

    The games of a pairing have one opening, so their results depend on each other: the estimate needs them
    together. ``one`` is the version with the lower id.
    """

    ladder = models.ForeignKey(Ladder, on_delete=models.CASCADE, related_name="pair_outcomes", db_index=False)
    one = models.ForeignKey("BotVersion", on_delete=models.CASCADE, related_name="+")
    other = models.ForeignKey("BotVersion", on_delete=models.CASCADE, related_name="+")
    first = models.CharField(max_length=7)
    """The result of the game in which ``one`` was White."""
    second = models.CharField(max_length=7)
    """The result of the game in which ``other`` was White."""
    count = models.PositiveIntegerField(default=0)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["ladder", "one", "other", "first", "second"], name="pair_outcome_once"
            )
        ]

    def __str__(self) -> str:
        return f"{self.ladder_id} {self.one_id}-{self.other_id}: {self.first} {self.second}, {self.count}"


class LadderEstimate(models.Model):
    """A ladder's estimate of strengths, as the keeper computed it last."""

    ladder = models.OneToOneField(Ladder, on_delete=models.CASCADE, primary_key=True, related_name="estimate")
    sequence = models.BigIntegerField()
    """The ladder's completion sequence when it was made; 0 after a rebuild of the ratings.

    Another number than the ladder's means that it is out of date.
    """
    computed_at = models.DateTimeField()
    cost_s = models.FloatField()
    """Processor time of its computation, in seconds."""
    content = models.BinaryField()
    """See ``tournament.services.results.estimates``."""
    advantage = models.FloatField(null=True)
    """White's, in Elo, as in ``content``, which is long; null in one of an older release."""
    advantage_error = models.FloatField(null=True)

    def __str__(self) -> str:
        return f"{self.ladder_id} #{self.sequence}"


class RatingEvent(models.Model):
    """The effect of one game on one player's rating; only a rebuild replaces it."""

    # Ladder and version need no indexes of their own: each is the first column of an index below.
    ladder = models.ForeignKey(Ladder, on_delete=models.CASCADE, related_name="events", db_index=False)
    sequence = models.BigIntegerField()
    """The game's completion sequence in its ladder."""
    game = models.ForeignKey("Game", on_delete=models.CASCADE, related_name="rating_events")
    version = models.ForeignKey(
        "BotVersion", on_delete=models.CASCADE, related_name="rating_events", db_index=False
    )
    mu_before = models.FloatField()
    sigma_before = models.FloatField()
    mu_after = models.FloatField()
    sigma_after = models.FloatField()

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["ladder", "sequence", "version"], name="event_once_a_player")
        ]
        indexes: ClassVar = [models.Index(fields=["version", "ladder", "sequence"], name="event_history")]

    def __str__(self) -> str:
        return f"{self.ladder_id} #{self.sequence}: {self.version_id} {self.mu_after:.2f}"

    @property
    def before(self) -> Rating:
        return Rating(self.mu_before, self.sigma_before)

    @property
    def after(self) -> Rating:
        return Rating(self.mu_after, self.sigma_after)

    @property
    def difference(self) -> float:
        """The change of the published number."""
        return self.after.conservative - self.before.conservative
