"""The tables of the queue as CSV and JSON, with the same columns in both.

A separate module, because the page shows the beginnings of these tables, and the files more.
"""

from __future__ import annotations

from collections.abc import Iterable

from django.http import Http404, HttpRequest, HttpResponse
from django.utils import timezone
from django.views.decorators.http import require_safe

from tournament.services.ladders.forecasts import NEVER_S, QueueState
from tournament.services.ladders.stored_queue import queue_state
from tournament.views.exports import MOST_EXPORTED, served_table
from tournament.views.ladders.queue import playing_games, queued_events, shown_versions

Line = tuple[object, ...]

PLAYING = ("white", "white_version", "black", "black_version", "ladder", "tournament", "page")
EVENTS = ("tournament", "priority", "playing", "waiting", "when", "page")
BOTS = ("ladder", "bot", "version", "seconds", "when", "game")
"""``seconds`` until the bot is likely to play, empty if that is not known; ``game`` is what it plays now."""


@require_safe
def queue_files(request: HttpRequest, name: str, kind: str) -> HttpResponse:
    """The table ``playing``, ``tournaments`` or ``bots``, with at most ``MOST_EXPORTED`` games a ladder."""
    state = queue_state(timezone.now())
    if name == "playing":
        return served_table(kind, name, PLAYING, _playing(request, state), file="queue-playing")
    if name == "tournaments":
        return served_table(kind, name, EVENTS, _events(request, state), file="queue-tournaments")
    if name == "bots":
        return served_table(kind, name, BOTS, _bots(request, state), file="queue-bots")
    raise Http404(f"no table {name!r} of the queue")


def _playing(request: HttpRequest, state: QueueState) -> Iterable[Line]:
    for game in playing_games(state, MOST_EXPORTED):
        players = (game.white.bot.name, game.white.number, game.black.bot.name, game.black.number)
        page = request.build_absolute_uri(game.get_absolute_url())
        yield *players, game.ladder_id, game.tournament.name, page


def _events(request: HttpRequest, state: QueueState) -> Iterable[Line]:
    for row in queued_events(state):
        event, page = row.event, request.build_absolute_uri(row.tournament.get_absolute_url())
        yield row.tournament.name, row.tournament.priority, event.playing, event.waiting, event.text, page


def _bots(request: HttpRequest, state: QueueState) -> Iterable[Line]:
    expected = {code: games[:MOST_EXPORTED] for code, games in state.ladders.items()}
    versions = shown_versions(request, [one.version for games in expected.values() for one in games])
    for code, games in expected.items():
        for one in games:
            if version := versions.get(one.version):
                seconds = None if one.seconds == NEVER_S else round(one.seconds)
                yield code, version.bot.name, version.number, seconds, one.text, one.game
