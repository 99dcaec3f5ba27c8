"""The part of the home page that changes with results: ladders, notable games, new versions, latest games."""

from __future__ import annotations

from dataclasses import dataclass

from django.db.models import Sum
from django.template.loader import render_to_string
from django.utils.safestring import SafeString, mark_safe

from tournament import access
from tournament.caches import cache
from tournament.models import BotVersion, Game, Ladder
from tournament.views.ladders.drawings import draw_picture
from tournament.views.ladders.ladders import ladder_tops
from tournament.views.site.notable import DAYS, find_notable

LATEST_GAMES = 10
NEW_VERSIONS = 5
REFRESHES = 1000
"""The part is made anew after each game, on a site with more games than this after a share of them."""
KEPT_SECONDS = 60
"""Seconds after which the part is made anew in any case: time passes, and versions are withdrawn."""


@dataclass(frozen=True, slots=True)
class News:
    """The rendered part, and a finished game for the board of a site that plays none at the moment."""

    html: SafeString
    final: Game | None
    final_title: str
    """Why it is shown: ``the longest game of the last 7 days``."""


def look_up_news() -> News:
    """The part for all visitors: one query if it is in the cache."""
    key = f"home-news-{_version()}"
    known: News | None = cache.get(key)
    if known is None:
        known = _make()
        cache.set(key, known, KEPT_SECONDS)
    return known


def _version() -> str:
    """Changes with the number of recorded games, the sum of the ladders' sequences, and with annulments."""
    sums = Ladder.objects.aggregate(total=Sum("sequence"), revisions=Sum("revision"))
    total: int = sums["total"] or 0
    step = max(1, total // REFRESHES)
    return f"{step}-{total // step}-{sums['revisions'] or 0}"


def _make() -> News:
    notable = find_notable()
    done = Game.objects.counted().with_players().select_related("pairing")
    games = list(access.visible_games(access.PUBLIC, done).order_by("-id")[:LATEST_GAMES])
    context = {
        "ladders": [(game, top, draw_picture(game.code)) for game, top in ladder_tops()],
        "games": games,
        "notable": notable,
        "days": DAYS,
        "versions": BotVersion.objects.valid().select_related("bot__owner").order_by("-pk")[:NEW_VERSIONS],
    }
    html = mark_safe(render_to_string("site/pieces/news.html", context))
    if not notable:
        return News(html, next(iter(games), None), "the latest game")
    title, latest, _ = max(notable, key=_finished)
    return News(html, latest, f"the {title.lower()} of the last {DAYS} days")


def _finished(notable: tuple[str, Game, str]) -> float:
    finished_at = notable[1].finished_at
    return finished_at.timestamp() if finished_at else 0.0
