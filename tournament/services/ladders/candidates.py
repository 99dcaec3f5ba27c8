"""The active versions of a ladder with their ratings: the matchmaker's candidates."""

from __future__ import annotations

from collections.abc import Sequence

from tournament.arithmetic.matchmaker import Candidate
from tournament.arithmetic.ratings import Rating, first_rating
from tournament.models import ActiveVersion, BotVersion, LadderRating, Turn


def candidates_of(ladders: Sequence[str]) -> dict[str, list[Candidate]]:
    """By ladder, the versions that their owners let play there; three queries in all, only of columns."""
    active = ActiveVersion.objects.filter(
        ladder__in=ladders, enabled=True, version__state=BotVersion.State.VALID
    )
    known = LadderRating.objects.filter(ladder__in=ladders, version__bot__in=active.values("bot"))
    ratings: dict[tuple[str, int], dict[int, Rating]] = {}
    played: dict[tuple[str, int, int], int] = {}
    columns = known.values_list("ladder", "version__bot", "version__number", "mu", "sigma", "games")
    for ladder, bot, number, mu, sigma, games in columns:
        ratings.setdefault((ladder, bot), {})[number] = Rating(mu, sigma)
        played[ladder, bot, number] = games
    turns = Turn.objects.filter(ladder__in=ladders).values_list("ladder", "version", "pair")
    last = {(ladder, version): pair for ladder, version, pair in turns}
    candidates: dict[str, list[Candidate]] = {code: [] for code in ladders}
    for ladder, bot, version, number, owner in active.order_by("version").values_list(
        "ladder", "bot", "version", "version__number", "version__bot__owner"
    ):
        rated = ratings.get((ladder, bot), {})
        rating = rated.get(number) or first_rating(number, rated)
        games = played.get((ladder, bot, number), 0)
        candidates[ladder].append(Candidate(version, owner, rating, games, last.get((ladder, version))))
    return candidates
