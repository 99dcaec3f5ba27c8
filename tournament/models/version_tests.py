"""Version tests: a sequential test (SPRT) between two versions of one owner.

Its games belong to a tournament of kind ``version-test``, whose first entry is the candidate and whose second
is the baseline. Everything here is from the candidate's side.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from django.db import models

from engines.arithmetic.statistics import Pentanomial, Wdl, bounds
from engines.pairing.meetings import GAMES_A_PAIR
from workers.sequential import Sprt

if TYPE_CHECKING:
    from engines.arithmetic.intervals import EloInterval


QUESTIONS = {
    (0.0, 20.0): "Is it clearly stronger?",
    (0.0, 8.0): "Is it a little stronger?",
    (-10.0, 0.0): "Is it at least not weaker?",
}
"""The usual hypotheses as questions about the candidate: H1 is yes, H0 is no."""


def format_elo(elo: float) -> str:
    """``+20``, ``0``, ``-3.5``."""
    return f"{elo:+g}" if elo else "0"


def no_pairs() -> list[int]:
    return [0] * len(Pentanomial().cells)


class VersionTest(models.Model):
    """The question of a version test, and what its pairs have shown so far.

    The hypotheses are differences in normalized Elo: H0 is ``elo0``, H1 is ``elo1``.
    """

    class Outcome(models.TextChoices):
        RUNNING = "", "running"
        H1 = "H1", "H1 accepted"
        H0 = "H0", "H0 accepted"
        LIMIT = "limit", "undecided"
        """The largest number of games was reached."""
        STOPPED = "stopped", "stopped"
        """Its owner stopped it, or the site, which gives its reason in the tournament's ``state_reason``."""

    tournament = models.OneToOneField(
        "Tournament", on_delete=models.CASCADE, primary_key=True, related_name="version_test"
    )
    elo0 = models.FloatField()
    elo1 = models.FloatField()
    alpha = models.FloatField(default=0.05)
    beta = models.FloatField(default=0.05)
    most_pairs = models.PositiveIntegerField()
    """The test ends undecided when all of these pairs are over."""
    outcome = models.CharField(max_length=10, choices=Outcome.choices, blank=True, default="")
    """Set once, under the tournament's lock; only an annulment of games changes it then."""
    ratio = models.FloatField(default=0.0)
    """The log-likelihood ratio after the counted pairs."""
    looked_at = models.PositiveIntegerField(default=0)
    """The number of the last pair that was counted or skipped; pairs are counted in their order."""
    left_out = models.PositiveIntegerField(default=0)
    """Pairs without a result, because one of their games could not be played."""
    counts: models.JSONField[Any, Any] = models.JSONField(default=no_pairs)
    """The number of counted pairs for each score, from no half points to four."""
    wins = models.PositiveIntegerField(default=0)
    draws = models.PositiveIntegerField(default=0)
    losses = models.PositiveIntegerField(default=0)
    """The lost single games in the counted pairs; ``wins`` and ``draws`` count the same way."""
    games_seen = models.PositiveIntegerField(null=True, blank=True)
    """The tournament's ``games_done`` when the pairs were last counted; null before the first time."""

    class Meta:
        ordering: ClassVar = ["-tournament"]
        constraints: ClassVar = [
            models.CheckConstraint(
                condition=models.Q(outcome__in=["", "H1", "H0", "limit", "stopped"]),
                name="version_test_outcome_known",
            ),
            models.CheckConstraint(
                condition=models.Q(elo0__lt=models.F("elo1")), name="version_test_elo0_below_elo1"
            ),
            models.CheckConstraint(
                condition=models.Q(looked_at__lte=models.F("most_pairs")), name="version_test_within_limit"
            ),
        ]

    def __str__(self) -> str:
        return f"version test {self.tournament_id}"

    @property
    def question(self) -> Sprt:
        return Sprt(self.elo0, self.elo1, self.alpha, self.beta)

    @property
    def asked(self) -> str:
        """The question in words."""
        low, high = format_elo(self.elo0), format_elo(self.elo1)
        return QUESTIONS.get((self.elo0, self.elo1), f"Is the difference {high} rather than {low} Elo?")

    @property
    def verdict(self) -> str:
        """The answer in words."""
        answers = {self.Outcome.H1: "Yes", self.Outcome.H0: "No", self.Outcome.RUNNING: "Not decided yet"}
        return answers.get(self.Outcome(self.outcome), "Not decided")

    @property
    def bounds(self) -> tuple[float, float]:
        """The log-likelihood ratios at which H0 and H1 are accepted."""
        return bounds(self.alpha, self.beta)

    @property
    def pairs(self) -> Pentanomial:
        """The counted pairs."""
        return Pentanomial(*self.counts)

    @property
    def games(self) -> Wdl:
        """The games of the counted pairs."""
        return Wdl(self.losses, self.draws, self.wins)

    @property
    def interval(self) -> EloInterval:
        """The candidate's strength above the baseline's."""
        from engines.arithmetic.intervals import interval

        return interval(self.pairs)

    @property
    def most_games(self) -> int:
        return GAMES_A_PAIR * self.most_pairs

    @property
    def is_over(self) -> bool:
        return self.outcome != self.Outcome.RUNNING

    @property
    def tag(self) -> str:
        """The CSS class of its outcome's tag."""
        tags = {self.Outcome.RUNNING: "running", self.Outcome.H1: "valid", self.Outcome.H0: "refused"}
        return tags.get(self.Outcome(self.outcome), "cancelled")


class CountedPair(models.Model):
    """A pair that counted in a version test, and the ratio after it."""

    test = models.ForeignKey(VersionTest, on_delete=models.CASCADE, related_name="counted", db_index=False)
    number = models.PositiveIntegerField()
    """The round of its pairing in the tournament, from 1."""
    half_points = models.PositiveSmallIntegerField()
    """The candidate's half points in both games, 0 to 4."""
    ratio = models.FloatField()

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["test", "number"], name="counted_pair_once_a_test")
        ]

    def __str__(self) -> str:
        return f"{self.test_id}/{self.number}: {self.half_points}"
