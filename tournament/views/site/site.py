"""Pages about the site itself: home, about, health, robots."""

from __future__ import annotations

from django.db import connection
from django.db.models import Q
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.templatetags.static import static
from django.utils.safestring import mark_safe
from django.views.decorators.cache import cache_control
from django.views.decorators.http import require_safe
from django.views.decorators.vary import vary_on_headers

from engines import svg
from engines.rules.registry import family_credits, list_families, picture
from tournament import access
from tournament.models import Game, LiveGame, Tournament
from tournament.services.uploads import availability as uploads
from tournament.views.ladders.ladders import ladder_tops
from tournament.views.polling import unchanged

RUNNING = 6
LATEST_GAMES = 12


@require_safe
@vary_on_headers("HX-Request")
def home(request: HttpRequest) -> HttpResponse:
    """The home page; the response to htmx is the list of running tournaments, or 204."""
    running = _played_now(request.user)
    seen = ".".join(f"{tournament.pk}-{tournament.games_done}" for tournament in running)
    if unchanged(request, seen):
        return HttpResponse(status=204)
    context: dict[str, object] = {"running": running, "seen": seen}
    if "HX-Request" in request.headers:
        return render(request, "pieces/running_list.html", context)
    games = access.visible_games(request.user, Game.objects.done().with_players())
    context |= {
        "ladders": ladder_tops(),
        "games": list(games.order_by("-id")[:LATEST_GAMES]),
        "board": mark_safe(svg.draw(picture())),
        "families": list_families(),
        "uploads": uploads.look(),
    }
    return render(request, "home.html", context)


@require_safe
def about(request: HttpRequest) -> HttpResponse:
    """Ratings, trademarks, licences."""
    return render(request, "about.html", {"families": list_families(), "credits": family_credits()})


@require_safe
def healthz(request: HttpRequest) -> HttpResponse:
    """Check that the site and its database respond, for monitoring."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1")
    return HttpResponse("ok\n", content_type="text/plain")


@require_safe
def robots(request: HttpRequest) -> HttpResponse:
    """Crawlers may read pages, but not every ply of every game."""
    lines = ("User-agent: *", "Disallow: /admin/", "Disallow: /*?", "Disallow: /*.pgn", "")
    return HttpResponse("\n".join(lines), content_type="text/plain")


@require_safe
@cache_control(public=True, max_age=3600)
def boards_css(request: HttpRequest) -> HttpResponse:
    """The style sheet of the boards, which is defined in ``engines.svg``."""
    return HttpResponse(svg.STYLE, content_type="text/css; charset=utf-8")


@require_safe
def favicon(request: HttpRequest) -> HttpResponse:
    """Browsers request this address without having read a page."""
    return redirect(static("favicon.svg"), permanent=True)


def _played_now(user: access.Visitor) -> list[Tournament]:
    """The newest running tournaments; those of ladders, which always run, only during a game."""
    running = access.visible_tournaments(user).running()
    with_live_game = Q(pk__in=LiveGame.objects.values("game__tournament"))
    return list(running.filter(~Q(kind=Tournament.Kind.LADDER) | with_live_game).order_by("-id")[:RUNNING])
