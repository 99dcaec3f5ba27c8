"""The notable games of the last days: the longest, the shortest and the biggest upset."""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Sequence

from django.db.models import QuerySet
from django.utils import timezone

from engines.arithmetic.ratings import SIGMA
from engines.records import Fault
from engines.rules.base import Result
from tournament import access
from tournament.models import Game, RatingEvent

DAYS = 7
MAX_GAMES = 1000
"""The newest games of these days that are compared, so that the cost does not grow with the site."""
SETTLED_SIGMA = SIGMA / 2
"""A rating with a greater sigma is still a guess: a win against it is no upset."""


def find_notable() -> list[tuple[str, Game, str]]:
    """The notable games that everybody may see, without forfeits, and why: ``Longest game``, ``213 plies``.

    Three queries: the first reads at most ``MAX_GAMES`` games from the index ``game_finished``, the second
    their rating events, which are found by their games, the third loads the games found.
    """
    played = list(_recent())
    if not played:
        return []
    longest, shortest = max(played, key=_length), min(played, key=_length)
    found = [("Longest game", longest.pk, f"{longest.plies} plies")]
    if shortest.pk != longest.pk:
        found.append(("Shortest game", shortest.pk, f"{shortest.plies} plies"))
    if upsets := _upsets(played):
        _, pk, detail = max(upsets)
        found.append(("Biggest upset", pk, detail))
    games = Game.objects.with_players().select_related("pairing").in_bulk([pk for _, pk, _ in found])
    return [(title, games[pk], detail) for title, pk, detail in found if pk in games]


def _recent() -> QuerySet[Game]:
    """Newest first. ``result`` instead of ``state``, because an index on states would be chosen for it."""
    since = timezone.now() - datetime.timedelta(days=DAYS)
    games = Game.objects.filter(
        finished_at__gte=since, result__isnull=False, fault=Fault.NONE, annulled=False
    ).only("plies", "result", "white", "black")
    return access.visible_games(access.PUBLIC, games).order_by("-finished_at", "-pk")[:MAX_GAMES]


def _length(game: Game) -> tuple[int, int]:
    return game.plies, game.pk


def _upsets(played: Sequence[Game]) -> list[tuple[float, int, str]]:
    """The games whose winner was rated lower than the loser before it: by how much, and both ratings."""
    before = _ratings_before(game.pk for game in played)
    upsets = []
    for game in played:
        winner, loser = game.white_id, game.black_id
        if game.result == Result.BLACK_WINS:
            winner, loser = loser, winner
        won, lost = before.get((game.pk, winner)), before.get((game.pk, loser))
        if game.result != Result.DRAW and won is not None and lost is not None and lost > won:
            upsets.append((lost - won, game.pk, f"a rating of {won:.1f} beat {lost:.1f}"))
    return upsets


def _ratings_before(games: Iterable[int]) -> dict[tuple[int, int], float]:
    """The settled published ratings before these games, by game and version."""
    events = RatingEvent.objects.filter(game__in=list(games), sigma_before__lte=SETTLED_SIGMA)
    rows = events.values_list("game", "version", "mu_before", "sigma_before")
    return {(game, version): mu - 3 * sigma for game, version, mu, sigma in rows}
