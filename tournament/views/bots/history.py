"""The history of a bot's ratings: the points of the chart on its page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby
from operator import itemgetter
from typing import TypeVar

from django.http import Http404, HttpRequest, JsonResponse
from django.views.decorators.http import require_safe

from engines.rules.registry import GAMES
from tournament.models import Bot, Game, RatingEvent
from tournament.views.bots.bots import find_bot

POINTS = 200
"""The most points of one version; more events are thinned out evenly, the last one stays."""

Item = TypeVar("Item")
Event = tuple[int, float, float]
"""A game and mu and sigma after it."""


@require_safe
def bot_history(request: HttpRequest, slug: str, code: str) -> JsonResponse:
    """The ratings of all versions of a bot on a ladder, after each of its rated games.

    ``versions`` has for each version its ``number`` and ``points``, the oldest first: the Unix time in
    seconds at which the game ended, mu, sigma, and the game's id.
    """
    bot = find_bot(request, slug)
    if code not in GAMES:
        raise Http404(f"no ladder {code!r}")
    events = _events(bot, code)
    games = Game.objects.only("finished_at").in_bulk([game for rows in events.values() for game, *_ in rows])
    versions = [{"number": number, "points": _points(rows, games)} for number, rows in events.items()]
    return JsonResponse(
        {"bot": bot.name, "ladder": code, "versions": [one for one in versions if one["points"]]}
    )


def _events(bot: Bot, code: str) -> dict[int, list[Event]]:
    """The events that are drawn, by the number of the version; one query, read version by version."""
    rows = RatingEvent.objects.filter(version__in=bot.versions.all(), ladder=code)
    numbered = rows.order_by("version_id", "sequence").values_list(
        "version__number", "game_id", "mu_after", "sigma_after"
    )
    groups = groupby(numbered.iterator(), key=itemgetter(0))
    chosen = {number: thin_out([row[1:] for row in group], POINTS) for number, group in groups}
    return dict(sorted(chosen.items()))


def _points(events: Sequence[Event], games: Mapping[int, Game]) -> list[tuple[float, float, float, int]]:
    """The points of these events whose games have ended."""
    ended = ((games[pk].finished_at, mu, sigma, pk) for pk, mu, sigma in events if pk in games)
    return [(round(at.timestamp(), 1), mu, sigma, pk) for at, mu, sigma, pk in ended if at is not None]


def thin_out(items: Sequence[Item], most: int) -> list[Item]:
    """At most ``most`` items at even distances, the first and the last included."""
    if len(items) <= most:
        return list(items)
    last = len(items) - 1
    return [items[round(number * last / (most - 1))] for number in range(most)]
