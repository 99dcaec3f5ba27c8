"""The notable games of the last days: the longest, the shortest and the biggest upset."""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from django.contrib.auth.models import AnonymousUser
from django.db.models import QuerySet
from django.utils import timezone

from engines.records import Fault
from engines.rules.base import Result
from tournament import access
from tournament.arithmetic.ratings import SIGMA
from tournament.models import Game, RatingEvent

DAYS = 7
MOST_GAMES = 1000
"""The newest games of these days that are compared, so that the cost does not grow with the site."""
SETTLED_SIGMA = SIGMA / 2
"""A rating with a greater sigma is still a guess: a win against it is no upset."""


@dataclass(frozen=True, slots=True)
class NotableGame:
    """A game, and why it is notable: ``Longest game``, and ``213 plies``."""

    title: str
    game: Game
    detail: str


@dataclass(frozen=True, slots=True)
class _Played:
    pk: int
    plies: int
    result: str | None
    white: int
    black: int


def find_notable() -> list[NotableGame]:
    """The notable games that everybody may see, without forfeits; three queries.

    The first reads at most ``MOST_GAMES`` games from the index ``game_finished``, the second their rating
    events, which are found by their games, the third loads the games found.
    """
    recent = _recent()
    played = [_Played(*row) for row in recent.values_list("pk", "plies", "result", "white", "black")]
    if not played:
        return []
    longest, shortest = max(played, key=_length), min(played, key=_length)
    found = [("Longest game", longest.pk, f"{longest.plies} plies")]
    if shortest.pk != longest.pk:
        found.append(("Shortest game", shortest.pk, f"{shortest.plies} plies"))
    upset = _biggest_upset(played)
    if upset is not None:
        found.append(("Biggest upset", *upset))
    games = Game.objects.with_players().select_related("pairing").in_bulk([pk for _, pk, _ in found])
    return [NotableGame(title, games[pk], detail) for title, pk, detail in found if pk in games]


def _recent() -> QuerySet[Game]:
    """Newest first. ``result`` instead of ``state``, because an index on states would be chosen for it."""
    since = timezone.now() - datetime.timedelta(days=DAYS)
    games = Game.objects.filter(
        finished_at__gte=since, result__isnull=False, fault=Fault.NONE, annulled=False
    )
    return access.visible_games(AnonymousUser(), games).order_by("-finished_at", "-pk")[:MOST_GAMES]


def _length(played: _Played) -> tuple[int, int]:
    return played.plies, played.pk


def _biggest_upset(played: Sequence[_Played]) -> tuple[int, str] | None:
    """The game whose winner was rated lowest compared with the loser before it, and both ratings."""
    before = _ratings_before(game.pk for game in played)
    upsets = []
    for game in played:
        winner, loser = _winner_and_loser(game)
        won, lost = before.get((game.pk, winner)), before.get((game.pk, loser))
        if won is not None and lost is not None and lost > won:
            upsets.append((lost - won, game.pk, f"a rating of {won:.1f} beat {lost:.1f}"))
    if not upsets:
        return None
    _, pk, detail = max(upsets)
    return pk, detail


def _winner_and_loser(game: _Played) -> tuple[int, int]:
    """Versions; twice 0 for a draw."""
    if game.result == Result.WHITE_WINS:
        return game.white, game.black
    return (game.black, game.white) if game.result == Result.BLACK_WINS else (0, 0)


def _ratings_before(games: Iterable[int]) -> dict[tuple[int, int], float]:
    """The settled published ratings before these games, by game and version."""
    events = RatingEvent.objects.filter(game__in=list(games), sigma_before__lte=SETTLED_SIGMA)
    rows = events.values_list("game", "version", "mu_before", "sigma_before")
    return {(game, version): mu - 3 * sigma for game, version, mu, sigma in rows}
