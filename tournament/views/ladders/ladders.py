"""The ladders and their rating tables."""

from __future__ import annotations

from dataclasses import dataclass

from django.http import Http404, HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from engines.rules.registry import GAMES
from engines.rules.registry import Variant as Rules
from tournament import access
from tournament.arithmetic.estimates import Strength
from tournament.models import Ladder, LadderRating
from tournament.services.ladders.matchmaking import find_matchmaker
from tournament.services.results.ratings import ladder_estimate
from tournament.views.feeds import feed_link
from tournament.views.games.downloads import streamed_records
from tournament.views.ladders.forecasts import describe_matchmaker
from tournament.views.ladders.ratings import rated_rows
from tournament.views.paging import Page, numbered

PAGE_SIZE = 100
TOP = 5
MOST_ESTIMATED = 50
"""Versions with an estimate, which costs the cube of their number: about 0.3 s for 50, after each game."""


@dataclass(frozen=True, slots=True)
class LadderTop:
    """The best versions of a ladder, for pages that show all ladders."""

    game: Rules
    top: list[LadderRating]


def ladder_tops(size: int = TOP) -> list[LadderTop]:
    """The best ``size`` versions of each ladder; one query per ladder, from the leaderboard's index."""
    return [
        LadderTop(game, list(LadderRating.objects.leaderboard(code)[:size])) for code, game in GAMES.items()
    ]


@require_safe
def ladders(request: HttpRequest) -> HttpResponse:
    """All ladders with their best versions."""
    return render(request, "ladders.html", {"ladders": ladder_tops(10)})


@require_safe
def ladder(request: HttpRequest, code: str) -> HttpResponse:
    """The rating table of one ladder, with pages."""
    game = _find(code)
    page = numbered(request, LadderRating.objects.leaderboard(code), PAGE_SIZE)
    strengths = _strengths(code, page)
    ranked = rated_rows(page.rows, page.first, strengths)
    matchmaker = find_matchmaker(code)
    context = {
        "game": game,
        "page": page,
        "ranked": ranked,
        "estimated": bool(strengths),
        "matchmaking": describe_matchmaker(matchmaker),
        "tournament": matchmaker.tournament,
        "feed": feed_link(Ladder(code=code)),
    }
    return render(request, "ladder.html", context)


@require_safe
def ladder_records(request: HttpRequest, code: str) -> StreamingHttpResponse:
    """All recorded games of a ladder, in the order in which they were rated."""
    _find(code)
    return streamed_records(access.public_records(code), f"{code}.pgn")


def _strengths(code: str, page: Page) -> dict[int, Strength]:
    """Elo with error bars by version; empty for a long ladder, because the estimate would take too long."""
    if page.previous or page.next or len(page.rows) > MOST_ESTIMATED:
        return {}
    return ladder_estimate(code).strengths


def _find(code: str) -> Rules:
    if code not in GAMES:
        raise Http404(f"no ladder {code!r}")
    return GAMES[code]
