"""The main navigation of every page, and the page from which everything for analysis is reached."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from django.db import Error
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from engines.rules.registry import GAMES
from tournament.caches import cache
from tournament.views.analysis.tasks import list_tasks
from tournament.views.ladders.drawings import draw_picture
from tournament.views.site.featured import running_games

SECTIONS: Final = {
    "Watch": ("/tv/", "/queue/"),
    "Play": ("/play/",),
    "Analyse": ("/analyse/", "/explore/", "/searches/"),
    "Ladders": ("/ladders/",),
    "Tournaments": ("/tournaments/", "/version-tests/"),
    "Bots": ("/bots/", "/start/", "/upload/", "/people/"),
    "Games": ("/games/",),
    "Rules": ("/rules/",),
}
"""The entries with their addresses, and those of the other pages that belong to them."""
KEPT_SECONDS = 2.0
"""Seconds for which the number of games is not counted again."""


@dataclass(frozen=True, slots=True)
class NavigationEntry:
    """A link of the navigation; ``count`` is the number of games to watch there, 0 elsewhere."""

    label: str
    address: str
    is_current: bool
    count: int


def navigation(request: HttpRequest) -> dict[str, object]:
    """A context processor: ``navigation`` gives the entries, which only whole pages draw."""
    return {"navigation": lambda: list(_entries(request.path))}


def _entries(path: str) -> Iterator[NavigationEntry]:
    for label, addresses in SECTIONS.items():
        count = count_playing() if label == "Watch" else 0
        yield NavigationEntry(label, addresses[0], path.startswith(addresses), count)


def count_playing() -> int:
    """How many games are being played that everybody may see; 0 while the database cannot be read."""
    try:
        return cache.get_or_set("count-playing", running_games().count, KEPT_SECONDS) or 0
    except Error:
        return 0


@require_safe
def analyse(request: HttpRequest) -> HttpResponse:
    """Each ladder with its analysis board, its explorer and its tasks."""
    rows = [(game, draw_picture(code), list_tasks(code)) for code, game in GAMES.items()]
    return render(request, "site/analyse.html", {"rows": rows})
