"""The similarity of the active versions of a ladder, for staff."""

from __future__ import annotations

from dataclasses import dataclass

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from engines.rules.registry import GAMES
from tournament import access
from tournament.arithmetic.similarity import BOUND, Similarity
from tournament.models import BotVersion
from tournament.services.searches.sampling import LEAST_GAMES
from tournament.services.searches.similarity import similarities
from tournament.views.links import comparison_address

MAX_SHOWN = 200


@dataclass(frozen=True, slots=True)
class SimilarPair:
    """A row of the table."""

    one: BotVersion
    other: BotVersion
    similarity: Similarity

    @property
    def page(self) -> str:
        """The address of their comparison."""
        numbers = {"version": self.one.number, "opponent_version": self.other.number}
        return comparison_address(self.one.bot.slug, self.other.bot.slug, **numbers)


@require_safe
def ladder_similarity(request: HttpRequest, code: str) -> HttpResponse:
    """How often the versions of different owners choose the same move, the most striking pairs first."""
    if code not in GAMES or not access.may_run_site(request.user):
        raise Http404(f"no ladder {code!r}, or no staff")
    found = similarities(code)
    shown = found[:MAX_SHOWN]
    keys = {pk for pair in shown for pk in (pair.one, pair.other)}
    versions = BotVersion.objects.select_related("bot").in_bulk(keys)
    pairs = [
        SimilarPair(versions[pair.one], versions[pair.other], pair)
        for pair in shown
        if {pair.one, pair.other} <= versions.keys()
    ]
    context = {
        "game": GAMES[code],
        "pairs": pairs,
        "count": len(found),
        "bound": BOUND,
        "least_games": LEAST_GAMES,
    }
    return render(request, "ladders/similarity.html", context)
