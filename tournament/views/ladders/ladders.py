"""The ladders and their rating tables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, replace
from itertools import islice
from typing import Any

from django.contrib import messages
from django.db.models import Avg, Count, Sum
from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_safe
from django.views.decorators.vary import vary_on_headers

from engines.arithmetic.ratings import SETTLED_GAMES, SETTLED_SIGMA, Rating
from engines.estimation.estimates import Agreement, Estimate, Strength
from engines.rules.base import Side
from engines.rules.registry import GAMES, Variant
from tournament import access
from tournament.models import BotVersion, Game, Ladder, LadderRating, Matchmaking
from tournament.queues import ladder_topic
from tournament.sentences import isolated
from tournament.services.results.estimates import ladder_estimate
from tournament.views.exports import origin_of, served_rows, table_links
from tournament.views.feeds import feed_link
from tournament.views.games.record_files import ladder_file, served_records
from tournament.views.ladders.drawings import draw_picture
from tournament.views.ladders.ratings import COLUMNS, SORTED, drawn_rows
from tournament.views.ladders.rows import RatingRow, rating_rows
from tournament.views.links import FilterChoice, comparison_address
from tournament.views.paging import LAST_ID, Page, numbered, whole_number
from tournament.views.polling import PART, LivePart, given_parameters, is_part
from tournament.views.requests import fresh_buttons
from tournament.views.sorting import Sorting, read_sorting

PAGE_SIZE = 100
PAUSE_SECONDS = 2.0
"""The shortest time between two new tables of a page."""
TOP = 5


def ladder_tops() -> list[tuple[Variant, list[LadderRating]]]:
    """The best bots of each ladder, each with its best version; two queries per ladder.

    Their places are those of the ladder's page.
    """
    ratings = LadderRating.objects
    return [
        (game, ratings.placed(islice(ratings.places(code, of_bots=True), TOP)))
        for code, game in GAMES.items()
    ]


@require_safe
def ladders(request: HttpRequest) -> HttpResponse:
    """All ladders with their best versions, their sizes, and their boards."""
    sizes = ladder_sizes()
    cards = [
        (game, top, *sizes.get(game.code, (0, 0)), draw_picture(game.code)) for game, top in ladder_tops()
    ]
    return render(request, "ladders/ladders.html", {"cards": cards})


@require_safe
@fresh_buttons
@vary_on_headers(PART)
def ladder(request: HttpRequest, code: str) -> HttpResponse:
    """The rating table of one ladder, with pages; a script gets the table, or 204."""
    game = find_ladder(code)
    state = get_object_or_404(Ladder, pk=code)
    seen = f"{state.sequence}-{state.revision}-{state.rated_revision}"
    part = LivePart(
        request,
        seen,
        (ladder_topic(code),),
        PAUSE_SECONDS,
        parameters=given_parameters(request, "page", "sort"),
    )
    if part.is_shown:
        return part.unchanged()
    sorting = read_sorting(request, SORTED)
    page = numbered(request, _sorted(code, sorting), PAGE_SIZE)
    page = replace(page, rows=LadderRating.objects.placed(page.rows))
    estimate = ladder_estimate(code) if page.rows else None
    ranked = drawn_rows(code, page.rows, _agreements(code, page, estimate))
    context: dict[str, Any] = {
        "latest": access.visible_games(access.PUBLIC, Game.objects.by_completion(code).with_players()).last(),
        "ranked": ranked,
        "sorting": sorting,
        "columns": COLUMNS,
        "provisional_width": 6 * SETTLED_SIGMA,
        "settled_games": SETTLED_GAMES,
    }
    if is_part(request):
        return part.render("ladders/pieces/ladder_live.html", context)
    (matchmaker,) = Matchmaking.objects.of_ladders([code])
    context |= {
        "game": game,
        "page": page,
        "choices": [FilterChoice(one.version_id, isolated(one.version)) for one in page.rows],
        "rival": _best_rival(page.rows),
        "outdated": [state] if state.is_outdated else [],
        "estimate": estimate,
        "first_advantage": estimate and first_advantage(game, estimate.advantage),
        "matchmaking": matchmaker.description,
        "manages": access.may_run_site(request.user),
        "tournament": matchmaker.tournament,
        "files": [table_links("Ratings", "ladder-ratings", code)],
        "feed": feed_link(Ladder(code=code), request.user),
    }
    return part.render("ladders/ladder.html", context)


def _sorted(code: str, sorting: Sorting) -> list[tuple[int, int | None]]:
    """The ids and places of a ladder's ratings in the order that the address asks for."""
    places = list(LadderRating.objects.places(code))
    if not sorting.name:
        return places
    place = dict(places)
    rows = sorting.of_query(LadderRating.objects.filter(ladder=code)).values_list("pk", flat=True)
    return [(pk, place[pk]) for pk in rows if pk in place]


@require_safe
def ladder_compare(request: HttpRequest, code: str) -> HttpResponse:
    """Go to the comparison of the versions with the ids ``one`` and ``other``, on this ladder."""
    find_ladder(code)
    versions = access.visible_versions(request.user, BotVersion.objects.select_related("bot"))
    first, second = (
        get_object_or_404(versions, pk=whole_number(request, name, 0, most=LAST_ID))
        for name in ("one", "other")
    )
    if first == second:
        messages.error(request, "Choose two different versions.")
        return redirect("ladder", code)
    return redirect(
        comparison_address(
            first.bot.slug,
            second.bot.slug,
            ladder=code,
            version=first.number,
            opponent_version=second.number,
        )
    )


@require_safe
def ladder_records(request: HttpRequest, code: str) -> HttpResponseBase:
    """All recorded games of a ladder, in the order in which they were rated."""
    find_ladder(code)
    return served_records(request, lambda: ladder_file(code), f"{code}.pgn")


@require_safe
def ladder_ratings(request: HttpRequest, code: str, kind: str) -> HttpResponse:
    """The whole rating table as ``csv`` or ``json``; the latter with the terms of the ladder's own games."""
    find_ladder(code)
    rows = rating_rows(origin_of(request), code)
    (matchmaker,) = Matchmaking.objects.of_ladders([code])
    about = {"ladder": code, **asdict(matchmaker.terms)}
    return served_rows(kind, "ratings", RatingRow, rows, file=f"{code}-ratings", **about)


def ladder_sizes() -> dict[str, tuple[int, int]]:
    """The numbers of rated bots and of rated games by ladder; one query, which reads ratings, not games.

    Several versions of a bot count once.
    """
    counted = (
        LadderRating.objects.order_by()
        .values_list("ladder")
        .annotate(bots=Count("version__bot", distinct=True), played=Sum("games"))
    )
    return {code: (bots, played // 2) for code, bots, played in counted}


def first_advantage(game: Variant, white: Strength) -> float:
    """The advantage of the player who moves first, in Elo, from that of White."""
    return white.elo if game.first is Side.WHITE else -white.elo


def _best_rival(ratings: Sequence[LadderRating]) -> int | None:
    """The best version of another bot than the first one's; None if there is no other bot."""
    others = (one.version_id for one in ratings if one.version.bot_id != ratings[0].version.bot_id)
    return next(others, None)


def _agreements(code: str, page: Page, estimate: Estimate | None) -> dict[int, Agreement]:
    """The live ratings of a page beside the estimate, by version; one query."""
    if estimate is None:
        return {}
    estimated = LadderRating.objects.filter(ladder=code, version__in=estimate.strengths)
    mean = estimated.aggregate(mean=Avg("mu"))["mean"]
    zero = estimate.anchor.elo if estimate.anchor else 0.0
    return {
        row.version_id: Agreement.of(
            Rating(row.mu, row.sigma), mean, estimate.strengths[row.version_id], zero
        )
        for row in page.rows
        if row.version_id in estimate.strengths
    }


def find_ladder(code: str) -> Variant:
    """Raises ``Http404`` for another code."""
    if code not in GAMES:
        raise Http404(f"no ladder {code!r}")
    return GAMES[code]
