"""The settings and the state of each ladder's matchmaker."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar

from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.validators import MaxValueValidator
from django.db import models
from django.template.defaultfilters import pluralize

from engines.formats.rated import LadderTerms
from engines.pairing.meetings import GAMES_A_PAIR
from engines.rules.registry import GAMES
from engines.timecontrol import TimeControlError, parse_time_control
from tournament.models.ladders import Ladder
from workers.jobs import MAX_OPENING_PLIES

MAX_GAMES_AN_HOUR = 100_000


def check_time_control(text: str) -> None:
    """Raises ``ValidationError``."""
    try:
        parse_time_control(text)
    except TimeControlError as error:
        raise ValidationError(str(error)) from None


class MatchmakingQuerySet(models.QuerySet["Matchmaking"]):
    def ensure(self) -> None:
        """Create the row of every ladder that has none; may be repeated."""
        ladders = Ladder.objects.values_list("code", flat=True)
        self.bulk_create([self.model(ladder_id=code) for code in ladders], ignore_conflicts=True)

    def of_ladders(self, codes: Iterable[str] = tuple(GAMES)) -> list[Matchmaking]:
        """One for each ladder, in their order; those of ladders without a stored row are not saved."""
        rows = {row.ladder_id: row for row in self.select_related("tournament").filter(pk__in=codes)}
        return [rows.get(code) or self.model(ladder_id=code) for code in codes]


class Matchmaking(models.Model):
    """A ladder's matchmaker: its settings, and the pairs it has made.

    Empty settings use the site's defaults (``LADDER_…`` in the settings).
    """

    ladder = models.OneToOneField(
        "Ladder", on_delete=models.CASCADE, primary_key=True, related_name="matchmaking"
    )
    games_an_hour = models.PositiveIntegerField(
        null=True,
        blank=True,
        validators=[MaxValueValidator(MAX_GAMES_AN_HOUR)],
        help_text="Started at most, while nothing else waits; 0: none. Empty: the site's default.",
    )
    time_control = models.CharField(
        max_length=80,
        blank=True,
        validators=[check_time_control],
        help_text="As in a tournament, 5+0.05 for example. Empty: the site's default.",
    )
    opening_plies = models.PositiveIntegerField(
        null=True,
        blank=True,
        validators=[MaxValueValidator(MAX_OPENING_PLIES)],
        help_text="First plies of a game, drawn at random for each pair. Empty: the site's default.",
    )
    tournament = models.ForeignKey(
        "Tournament", null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    """The tournament of its pairs; a change of terms starts another. Null until the first pair."""
    pairs_made = models.PositiveIntegerField(default=0)
    """The number of the latest pair, counted over all its tournaments."""
    next_at = models.DateTimeField(null=True, blank=True)
    """When the next pair is due, if workers are idle then; null: at once."""

    objects = MatchmakingQuerySet.as_manager()

    class Meta:
        verbose_name_plural = "matchmaking"

    def __str__(self) -> str:
        return self.ladder_id

    @property
    def rate(self) -> int:
        """Games an hour."""
        return settings.LADDER_GAMES if self.games_an_hour is None else self.games_an_hour

    @property
    def interval_s(self) -> float:
        """Seconds from one pair to the next; undefined for a rate of 0."""
        return 3600 * GAMES_A_PAIR / self.rate

    @property
    def terms(self) -> LadderTerms:
        plies = settings.LADDER_OPENING_PLIES if self.opening_plies is None else self.opening_plies
        return LadderTerms(self.time_control or settings.LADDER_TIME_CONTROL, plies)

    @property
    def description(self) -> str:
        """Which games it starts, in one to three sentences."""
        if self.rate == 0:
            return "The matchmaker of this ladder is off: only games of tournaments are played."
        if self.is_paused:
            return "The site has paused the matchmaker of this ladder: only games of tournaments are played."
        terms, games = self.terms, f"{self.rate} game{pluralize(self.rate)}"
        start = "from the initial position"
        if plies := terms.opening_plies:
            start = f"after {plies} random opening pl{pluralize(plies, 'y,ies')}"
        return (
            f"While workers are idle, the matchmaker starts up to {games} an hour {start} with time control"
            f" {terms.time_control}. While the rating of an active bot is provisional, it starts games"
            " without this limit, as fast as idle workers play them."
        )

    @property
    def is_at_work(self) -> bool:
        return self.rate > 0 and not self.is_paused

    @property
    def is_paused(self) -> bool:
        """Paused by staff, on the page of its tournament."""
        return self.tournament is not None and self.tournament.state == self.tournament.State.PAUSED


class LatestPairing(models.Model):
    """When the matchmaker last chose a version."""

    ladder = models.ForeignKey("Ladder", on_delete=models.CASCADE, related_name="+")
    version = models.ForeignKey("BotVersion", on_delete=models.CASCADE, related_name="+")
    pair = models.PositiveIntegerField()
    """The number of the version's latest pair, see ``Matchmaking.pairs_made``."""
    pairs = models.PositiveIntegerField(default=0)
    """How many pairs it was in."""

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["ladder", "version"], name="latest_pairing_once_a_ladder")
        ]

    def __str__(self) -> str:
        return f"{self.ladder_id} {self.version_id}: {self.pair}"
