"""The active versions of a ladder with their ratings: the matchmaker's candidates."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence

from engines.arithmetic.ratings import Rating, first_rating
from tournament.arithmetic.matchmaker import Candidate, can_play
from tournament.models import ActiveVersion, BotVersion, LadderRating, LatestPairing


def candidates_of(ladders: Sequence[str]) -> dict[str, list[Candidate]]:
    """By ladder, the versions that their owners let play there, read as columns by at most four queries."""
    active = ActiveVersion.objects.filter(
        ladder__in=ladders, enabled=True, version__state=BotVersion.State.VALID
    )
    columns = "ladder", "bot", "version", "version__number", "version__bot__owner"
    rows = list(active.order_by("version").values_list(*columns))
    known = LadderRating.objects.filter(ladder__in=ladders, version__in=active.values("version"))
    rated = {
        (ladder, version): (Rating(mu, sigma), games)
        for ladder, version, mu, sigma, games in known.values_list(
            "ladder", "version", "mu", "sigma", "games"
        )
    }
    earlier = _ratings_of_bots(
        ladders, {bot for ladder, bot, version, *_ in rows if (ladder, version) not in rated}
    )
    turns = LatestPairing.objects.filter(ladder__in=ladders).values_list("ladder", "version", "pair")
    last = {(ladder, version): pair for ladder, version, pair in turns}
    candidates: dict[str, list[Candidate]] = {code: [] for code in ladders}
    for ladder, bot, version, number, owner in rows:
        rating, games = rated.get((ladder, version)) or (first_rating(number, earlier[ladder, bot]), 0)
        candidates[ladder].append(Candidate(version, owner, rating, games, last.get((ladder, version))))
    return candidates


def with_opponents(owners: Mapping[str, Mapping[int, int | None]]) -> dict[str, Collection[int]]:
    """By ladder, those of its versions that have an opponent, from all that play there and their owners.

    Versions of two owners meet always. Ratings, which cost more, are read where all have one owner.
    """
    alone = [code for code, versions in owners.items() if len(set(versions.values())) < 2]
    meeting = {code: can_play(candidates) for code, candidates in candidates_of(alone).items()}
    return {code: meeting.get(code, versions) for code, versions in owners.items()}


def _ratings_of_bots(
    ladders: Sequence[str], bots: Collection[int]
) -> Mapping[tuple[str, int], dict[int, Rating]]:
    """By ladder and bot, the ratings of all its versions by number."""
    found: Mapping[tuple[str, int], dict[int, Rating]] = defaultdict(dict)
    if bots:
        known = LadderRating.objects.filter(ladder__in=ladders, version__bot__in=bots)
        columns = known.values_list("ladder", "version__bot", "version__number", "mu", "sigma")
        for ladder, bot, number, mu, sigma in columns:
            found[ladder, bot][number] = Rating(mu, sigma)
    return found
