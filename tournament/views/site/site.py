"""Pages about the site itself: about, robots, files that every page needs."""

from __future__ import annotations

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.templatetags.static import static
from django.urls import reverse
from django.utils.cache import patch_cache_control
from django.views.decorators.http import require_safe

from engines import svg
from engines.arithmetic import ratings
from engines.estimation.estimates import ANCHOR, MAX_ESTIMATED
from engines.formats.rated import MAX_TIMES
from engines.rules.registry import GAMES, family_credits, list_families
from tournament.kit import KIT
from tournament.models import Matchmaking
from tournament.services import signing
from tournament.services.searches import sampling
from tournament.static_files import BOARDS_DIGEST
from tournament.views.downloads import TEXT_TYPE
from tournament.views.exports import origin_of

YEAR_SECONDS = 365 * 24 * 3600


def source_code(request: HttpRequest) -> dict[str, str]:
    """Context of every page: where the source of this site is; empty if the operator names no place."""
    return {"source_url": settings.SOURCE_URL}


@require_safe
def about(request: HttpRequest) -> HttpResponse:
    """Trademarks, licences, private and public data."""
    return render(request, "site/about.html", {"families": list_families(), "credits": family_credits()})


@require_safe
def about_ratings(request: HttpRequest) -> HttpResponse:
    """What a rating is and is not, with the constants of the formula."""
    context = {
        "mu": ratings.MU,
        "sigma": ratings.SIGMA,
        "beta": ratings.BETA,
        "tau": ratings.LADDER_TAU,
        "draws": [(game, ratings.ladder_scale(code).draw_probability) for code, game in GAMES.items()],
        "new_sigma": ratings.NEW_VERSION_SIGMA,
        "settled_sigma": ratings.SETTLED_SIGMA,
        "settled_games": ratings.SETTLED_GAMES,
        "most_estimated": MAX_ESTIMATED,
        "anchor": ANCHOR,
        "most_times": MAX_TIMES,
        "terms": [(GAMES[row.ladder_id], row.terms) for row in Matchmaking.objects.of_ladders()],
        "sampled_games": sampling.GAMES,
        "sampled_ms": sampling.MS,
    }
    return render(request, "site/ratings.html", context)


@require_safe
def robots(request: HttpRequest) -> HttpResponse:
    """Crawlers may read pages, but not every ply of every game, nor archives."""
    lines = (
        "User-agent: *",
        "Disallow: /admin/",
        "Disallow: /*?",
        "Disallow: /*.pgn",
        "Disallow: /*.gz",
        "Disallow: /*.zip",
        "",
    )
    return HttpResponse("\n".join(lines), content_type="text/plain")


@require_safe
def allowed_signers(_: HttpRequest) -> HttpResponse:
    """The public keys of the site's signatures, as ``ssh-keygen -Y verify`` reads them."""
    return HttpResponse(signing.allowed_signers(), content_type=TEXT_TYPE)


@require_safe
def llms(request: HttpRequest) -> HttpResponse:
    """What the site is and where its documents are, in Markdown, for language models."""
    games = [(GAMES[code], reverse("rules", args=[code])) for code in GAMES]
    context = {"games": games, "origin": origin_of(request), "kit_file": KIT}
    return render(request, "site/llms.txt", context, content_type=TEXT_TYPE)


@require_safe
def boards_css(request: HttpRequest, digest: str = "") -> HttpResponse:
    """The style sheet of the boards, defined in ``engines.svg``."""
    response = HttpResponse(svg.STYLE, content_type="text/css; charset=utf-8")
    return cached_by_digest(response, is_current=digest == BOARDS_DIGEST)


def cached_by_digest(response: HttpResponse, *, is_current: bool) -> HttpResponse:
    """Let caches keep a response: for a year if its address has the digest of this content, else an hour."""
    if is_current:
        patch_cache_control(response, public=True, max_age=YEAR_SECONDS, immutable=True)
    else:
        patch_cache_control(response, public=True, max_age=3600)
    return response


@require_safe
def favicon(request: HttpRequest) -> HttpResponse:
    """Browsers request this address without having read a page."""
    return redirect(static("favicon.svg"), permanent=True)
