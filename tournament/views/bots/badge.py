"""A bot's rating as a small picture, for the README of its author."""

from __future__ import annotations

from django.http import Http404, HttpRequest, HttpResponse
from django.utils.cache import patch_cache_control
from django.utils.html import format_html
from django.views.decorators.http import require_safe

from engines.rules.registry import GAMES
from tournament.models import Bot, LadderRating
from tournament.views.bots.bots import find_bot
from tournament.views.games.scores import uncertainty

KEPT_SECONDS = 300
"""How long caches may keep a badge: sites that show a README ask for it once for all readers."""
LETTER = 6.6
"""The mean width of a letter in pixels."""
_BADGE = """\
<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="20" role="img" aria-label="{label}: {value}">
<title>{label}: {value}</title>
<clipPath id="r"><rect width="{width}" height="20" rx="3"/></clipPath>
<g clip-path="url(#r)"><path fill="#444" d="M0 0h{split}v20H0z"/>
<path fill="#1c6b54" d="M{split} 0h{rest}v20H{split}z"/></g>
<g fill="#fff" text-anchor="middle" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11">
<text x="{label_at}" y="14">{label}</text><text x="{value_at}" y="14">{value}</text></g>
</svg>
"""


@require_safe
def bot_badge(request: HttpRequest, slug: str) -> HttpResponse:
    """The bot's rating and place on the ladder ``?ladder=``, or on the first ladder where it has a rating."""
    bot = find_bot(request, slug)
    code = request.GET.get("ladder", "")
    if code and code not in GAMES:
        raise Http404(f"no ladder {code!r}")
    rated = {rating.ladder_id: rating for rating in _ratings(bot)}
    code = code or next((known for known in GAMES if known in rated), next(iter(GAMES)))
    response = HttpResponse(
        _draw(f"Duarena {GAMES[code].name}", _words(rated.get(code))), content_type="image/svg+xml"
    )
    patch_cache_control(response, max_age=KEPT_SECONDS)
    return response


def _ratings(bot: Bot) -> list[LadderRating]:
    """The ratings of the versions that play; the best settled one of each ladder is the last."""
    playing = LadderRating.objects.playing().filter(version__bot=bot)
    return sorted(playing, key=lambda one: (not one.is_provisional, one.conservative))


def _words(rating: LadderRating | None) -> str:
    if rating is None:
        return "not rated"
    number = f"{rating.conservative:.1f} ± {uncertainty(rating):.1f}"
    places = LadderRating.objects.places(rating.ladder_id)
    place = next((place for pk, place in places if pk == rating.pk), None)
    return f"{number}, provisional" if place is None else f"{number}, place {place}"


def _draw(label: str, value: str) -> str:
    split, rest = (round(LETTER * len(text)) + 12 for text in (label, value))
    return format_html(
        _BADGE,
        width=split + rest,
        split=split,
        rest=rest,
        label=label,
        value=value,
        label_at=split / 2,
        value_at=split + rest / 2,
    )
