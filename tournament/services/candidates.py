"""Who is active on a ladder, and what is believed of their strength: what the matchmaker chooses from."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from tournament.matchmaker import Candidate
from tournament.models import ActiveVersion, BotVersion, LadderRating, Turn
from tournament.ratings import NEW_VERSION_SIGMA, Rating


def candidates_of(ladders: Sequence[str]) -> dict[str, list[Candidate]]:
    """By ladder the versions their owners let play there; three queries for all."""
    active = ActiveVersion.objects.filter(
        ladder__in=ladders, enabled=True, version__state=BotVersion.State.VALID
    )
    known = LadderRating.objects.filter(ladder__in=ladders, version__bot__in=active.values("bot"))
    ratings: dict[tuple[str, int], list[LadderRating]] = {}
    for row in known.select_related("version").order_by("version__number"):
        ratings.setdefault((row.ladder_id, row.version.bot_id), []).append(row)
    turns = Turn.objects.filter(ladder__in=ladders).values_list("ladder", "version", "pair")
    last = {(ladder, version): pair for ladder, version, pair in turns}
    candidates: dict[str, list[Candidate]] = {code: [] for code in ladders}
    for one in active.select_related("version__bot").order_by("version"):
        belief, games = _belief(one.version, ratings.get((one.ladder_id, one.bot_id), []))
        candidates[one.ladder_id].append(
            Candidate(
                one.version_id,
                one.version.bot.owner_id,
                belief,
                games,
                last.get((one.ladder_id, one.version_id)),
            )
        )
    return candidates


def _belief(version: BotVersion, ratings: Iterable[LadderRating]) -> tuple[Rating, int]:
    """Its rating and rated games; of a new version, what the ladder's fold will begin with.

    ``ratings`` are those of its bot's versions, by rising number.
    """
    belief = Rating()
    for row in ratings:
        if row.version_id == version.pk:
            return Rating(row.mu, row.sigma), row.games
        if row.version.number < version.number:
            belief = Rating(row.mu, max(row.sigma, NEW_VERSION_SIGMA))
    return belief, 0
