"""The history of a bot's ratings: the points of the chart on its page.

A separate module, because it answers with JSON for a script, and reads other tables than the pages of bots.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

from django.http import Http404, HttpRequest, JsonResponse
from django.views.decorators.http import require_safe

from engines.rules.registry import GAMES
from tournament.models import Game, RatingEvent
from tournament.views.bots.bots import find_bot

POINTS = 200
"""The most points of one version; more events are thinned out evenly, the last one stays."""

Item = TypeVar("Item")


@require_safe
def bot_history(request: HttpRequest, slug: str, code: str) -> JsonResponse:
    """The ratings of all versions of a bot on a ladder, after each of its rated games.

    ``versions`` has for each version its ``number`` and ``points``, the oldest first: the Unix time in
    seconds at which the game ended, mu, sigma, and the game's id.
    """
    bot = find_bot(request, slug)
    if code not in GAMES:
        raise Http404(f"no ladder {code!r}")
    versions = [
        _history(number, pk, code)
        for pk, number in bot.versions.order_by("number").values_list("pk", "number")
    ]
    return JsonResponse(
        {"bot": bot.name, "ladder": code, "versions": [one for one in versions if one["points"]]}
    )


def _history(number: int, version: int, code: str) -> dict[str, Any]:
    events = RatingEvent.objects.filter(version=version, ladder=code).order_by("sequence")
    chosen = thin_out(list(events.values_list("game_id", "mu_after", "sigma_after")), POINTS)
    games = Game.objects.filter(pk__in=[game for game, *_ in chosen]).values_list("pk", "finished_at")
    times = {pk: finished.timestamp() for pk, finished in games if finished is not None}
    points = [(round(times[pk], 1), mu, sigma, pk) for pk, mu, sigma in chosen if pk in times]
    return {"number": number, "points": points}


def thin_out(items: Sequence[Item], most: int) -> list[Item]:
    """At most ``most`` items at even distances, the first and the last included."""
    if len(items) <= most:
        return list(items)
    last = len(items) - 1
    return [items[round(number * last / (most - 1))] for number in range(most)]
