"""The ladders and their rating tables."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from django.db.models import Count, Sum
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse, StreamingHttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.safestring import SafeString
from django.views.decorators.http import require_safe

from engines.rules.registry import GAMES
from engines.rules.registry import Variant as Rules
from tournament import access
from tournament.arithmetic.estimates import Strength
from tournament.models import Ladder, LadderRating
from tournament.services.ladders.matchmaking import find_matchmaker
from tournament.services.results.estimates import ladder_estimate
from tournament.views.feeds import feed_link
from tournament.views.games.board import start_board
from tournament.views.games.downloads import attached_csv, streamed_records
from tournament.views.ladders.forecasts import describe_matchmaker
from tournament.views.ladders.ratings import RECENT, drawn_rows
from tournament.views.paging import Page, numbered

PAGE_SIZE = 100
TOP = 5
MOST_ESTIMATED = 50
"""Versions with an estimate, which costs the cube of their number: about 0.3 s for 50, after each game."""
EXPORTED = (
    "place", "bot", "version", "owner", "rating", "mu", "sigma", "games", "wins", "draws", "losses", "page",
)  # fmt: skip
"""Columns of the CSV, and the keys of a row in the JSON."""


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


@dataclass(frozen=True, slots=True)
class LadderCard:
    """A ladder on the page of all ladders."""

    ladder: LadderTop
    bots: int
    """Bots with a rating; several versions of a bot count once."""
    games: int
    """Rated games."""
    board: SafeString


@require_safe
def ladders(request: HttpRequest) -> HttpResponse:
    """All ladders with their best versions, their sizes, and their boards."""
    sizes = _sizes()
    cards = [
        LadderCard(top, *sizes.get(top.game.code, (0, 0)), start_board(top.game.code))
        for top in ladder_tops()
    ]
    return render(request, "ladders.html", {"cards": cards})


@require_safe
def ladder(request: HttpRequest, code: str) -> HttpResponse:
    """The rating table of one ladder, with pages."""
    game = _find(code)
    page = numbered(request, LadderRating.objects.leaderboard(code), PAGE_SIZE)
    strengths = _strengths(code, page)
    ranked = drawn_rows(code, page.rows, page.first, strengths)
    matchmaker = find_matchmaker(code)
    context = {
        "game": game,
        "page": page,
        "ranked": ranked,
        "estimated": bool(strengths),
        "recent": RECENT,
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


@require_safe
def ladder_ratings(request: HttpRequest, code: str, kind: str) -> HttpResponse:
    """The whole rating table as ``csv`` or ``json``."""
    _find(code)
    if kind == "csv":
        return attached_csv(EXPORTED, _exported(request, code), f"{code}-ratings.csv")
    if kind == "json":
        return JsonResponse({"ladder": code, "ratings": list(_exported(request, code))})
    raise Http404(f"no ratings as {kind!r}")


def _exported(request: HttpRequest, code: str) -> Iterator[dict[str, Any]]:
    """The rows of a download, the best first, with the keys of ``EXPORTED``; a sample's owner is None."""
    rows = LadderRating.objects.leaderboard(code).values_list(
        "version__bot__name", "version__number", "version__bot__owner__username",
        "conservative", "mu", "sigma", "games", "wins", "draws", "losses", "version__bot__slug",
    )  # fmt: skip
    for place, (name, number, *values, slug) in enumerate(rows, start=1):
        page = request.build_absolute_uri(reverse("version", args=[slug, number]))
        yield dict(zip(EXPORTED, (place, name, number, *values, page), strict=True))


def _sizes() -> dict[str, tuple[int, int]]:
    """The numbers of rated bots and of rated games by ladder; one query, which reads ratings, not games."""
    counted = (
        LadderRating.objects.order_by()
        .values_list("ladder")
        .annotate(bots=Count("version__bot", distinct=True), played=Sum("games"))
    )
    return {code: (bots, played // 2) for code, bots, played in counted}


def _strengths(code: str, page: Page) -> dict[int, Strength]:
    """Elo with error bars by version; empty for a long ladder, because the estimate would take too long."""
    if page.previous or page.next or len(page.rows) > MOST_ESTIMATED:
        return {}
    return ladder_estimate(code).strengths


def _find(code: str) -> Rules:
    if code not in GAMES:
        raise Http404(f"no ladder {code!r}")
    return GAMES[code]
