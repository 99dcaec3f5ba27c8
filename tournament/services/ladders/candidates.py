"""The active versions of a ladder with their ratings: the matchmaker's candidates."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from tournament.arithmetic.matchmaker import Candidate
from tournament.arithmetic.ratings import Rating, first_rating
from tournament.models import ActiveVersion, BotVersion, LadderRating, Turn


def candidates_of(ladders: Sequence[str]) -> dict[str, list[Candidate]]:
    """By ladder, the versions that their owners let play there; three queries in all, only of columns."""
    active = ActiveVersion.objects.filter(
        ladder__in=ladders, enabled=True, version__state=BotVersion.State.VALID
    )
    known = LadderRating.objects.filter(ladder__in=ladders, version__bot__in=active.values("bot"))
    ratings: dict[tuple[str, int], list[_Rated]] = {}
    columns = known.values_list("ladder", "version__bot", "version__number", "mu", "sigma", "games")
    for ladder, bot, number, mu, sigma, games in columns.order_by("version__number"):
        ratings.setdefault((ladder, bot), []).append(_Rated(number, mu, sigma, games))
    turns = Turn.objects.filter(ladder__in=ladders).values_list("ladder", "version", "pair")
    last = {(ladder, version): pair for ladder, version, pair in turns}
    candidates: dict[str, list[Candidate]] = {code: [] for code in ladders}
    for ladder, bot, version, number, owner in active.order_by("version").values_list(
        "ladder", "bot", "version", "version__number", "version__bot__owner"
    ):
        belief, games = _belief(number, ratings.get((ladder, bot), []))
        candidates[ladder].append(Candidate(version, owner, belief, games, last.get((ladder, version))))
    return candidates


class _Rated(NamedTuple):
    """The rating of one version of a bot on a ladder."""

    number: int
    mu: float
    sigma: float
    games: int


def _belief(number: int, ratings: Iterable[_Rated]) -> tuple[Rating, int]:
    """A version's rating and rated games; for a new version, the rating with which the ladder's fold begins.

    ``ratings`` are those of its bot's versions, by rising number.
    """
    belief = Rating()
    for row in ratings:
        if row.number == number:
            return Rating(row.mu, row.sigma), row.games
        if row.number < number:
            belief = first_rating(Rating(row.mu, row.sigma))
    return belief, 0
