"""The similarity of the active versions of a ladder, from the moves that were sampled of them."""

from __future__ import annotations

import datetime
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import lru_cache

from django.db.models import Count, Exists, Max, OuterRef, QuerySet
from django.utils import timezone

from engines.rules.registry import GAMES
from tournament.arithmetic.similarity import Answers, Similarity, compare
from tournament.models import ActiveVersion, BotVersion, Game, LadderRating, SampledMoves
from tournament.models.similarity import HARD
from tournament.sentences import isolated
from tournament.services.accounts.notices import report_similarity

MAX_COMPARED = 300
"""Versions of a ladder, the newest: all pairs of so many take a second."""
KEPT_SECONDS = 600
"""How old the ratings may be by which pairs are compared."""


def similarities(ladder: str) -> Sequence[Similarity]:
    """All pairs of active versions of different owners whose moves were sampled, the most striking first."""
    known = _sampled(ladder).aggregate(count=Count("pk"), latest=Max("completed_at"))
    return _compare(ladder, known["count"], known["latest"], int(timezone.now().timestamp()) // KEPT_SECONDS)


def similarities_of(
    ladders: Collection[str], ones: Collection[int], others: Collection[int]
) -> Iterator[tuple[str, Similarity]]:
    """By ladder, that of the active versions among ``ones`` and ``others``, where it is known."""
    sampled = _sampled(*ladders)
    found = set(sampled.filter(version__in=[*ones, *others]).values_list("ladder", "version"))
    for ladder in ladders:
        known = {version for code, version in found if code == ladder}
        if known.isdisjoint(ones) or known.isdisjoint(others):
            continue
        for pair in similarities(ladder):
            if (pair.one in ones and pair.other in others) or (pair.other in ones and pair.one in others):
                yield ladder, pair


def playing_versions() -> QuerySet[ActiveVersion]:
    """For ``Exists``: the version of the outer query's row, if it plays on the row's ladder."""
    mine = {"ladder": OuterRef("ladder"), "version": OuterRef("version")}
    return ActiveVersion.objects.filter(enabled=True, version__state=BotVersion.State.VALID, **mine)


def tell_staff(ladder: str, now: datetime.datetime) -> None:
    """Tell staff of striking pairs, of each once; part of the caller's transaction."""
    striking = [pair for pair in similarities(ladder) if pair.is_striking]
    rows = {row.version_id: row for row in _sampled(ladder).filter(version__in=[one.one for one in striking])}
    for pair in striking:
        row = rows[pair.one]
        if pair.other in row.told:
            continue
        row.told.append(pair.other)
        row.save(update_fields=["told"])
        versions = BotVersion.objects.select_related("bot").in_bulk([pair.one, pair.other])
        names = " and ".join(isolated(versions[pk]) for pk in (pair.one, pair.other))
        report_similarity(
            ladder,
            f"{pair.one}/{pair.other}",
            f"On {GAMES[ladder].name}, {names} choose the same move in {100 * pair.share:.0f} % of"
            f" {pair.positions} positions; {100 * (pair.expected or 0):.0f} % are expected of two bots of"
            " their strength.",
        )


def _sampled(*ladders: str) -> QuerySet[SampledMoves]:
    return SampledMoves.objects.filter(
        Exists(playing_versions()), ladder__in=ladders, completed_at__isnull=False
    )


@lru_cache(maxsize=2 * len(GAMES))
def _compare(ladder: str, count: int, latest: datetime.datetime | None, turn: int) -> Sequence[Similarity]:
    """``count``, ``latest`` and ``turn`` change when the answers or the ratings do."""
    rows = (
        _sampled(ladder)
        .order_by("-version")
        .values_list("version", "version__bot", "version__bot__owner", "moves")
    )
    ratings = dict(LadderRating.objects.filter(ladder=ladder).values_list("version", "mu"))
    answers = [
        Answers(version, bot, owner, ratings[version], moves)
        for version, bot, owner, moves in rows[:MAX_COMPARED]
        if version in ratings
    ]
    found = compare(answers, _players(answers[0].moves)) if answers else ()
    return sorted(found, key=lambda pair: (pair.excess is None, -(pair.excess or pair.share)))


def _players(names: Mapping[str, object]) -> dict[str, tuple[int, int]]:
    """The bots that played the games of positions, by the names of the positions."""
    games = {name: int(name.partition(" ")[0]) for name in names if not name.startswith(HARD)}
    rows = Game.objects.filter(pk__in=set(games.values())).values_list("pk", "white__bot", "black__bot")
    bots = {pk: (white, black) for pk, white, black in rows}
    return {name: bots[game] for name, game in games.items() if game in bots}
