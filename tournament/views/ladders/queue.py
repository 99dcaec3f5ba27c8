"""The queue: the games being played, the tournaments that wait, and which game of each bot comes next."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

from django.http import Http404, HttpRequest, HttpResponse
from django.utils import timezone
from django.views.decorators.http import require_safe
from django.views.decorators.vary import vary_on_headers

from engines.rules.registry import GAMES
from tournament import access
from tournament.models import ActiveVersion, BotVersion, Game, Matchmaking, Tournament
from tournament.queues import ANY_GAME
from tournament.services.ladders.queue import NextGame, QueuedEvent, QueueState, queue_state
from tournament.views.exports import MAX_EXPORTED, Row, served_table, table_links
from tournament.views.polling import PART, LivePart, is_part

MAX_LISTED = 40
"""Bots of a ladder on this page; the page of each bot also shows its next game."""
PLAYING = ("white", "white_version", "black", "black_version", "ladder", "tournament", "page")
EVENTS = ("tournament", "priority", "playing", "waiting", "ahead", "page")
BOTS = ("ladder", "bot", "version", "ahead", "when", "game")
"""``ahead``: games that start before its next one, empty if none waits; ``game`` is what it plays now."""


@require_safe
@vary_on_headers(PART)
def queue(request: HttpRequest) -> HttpResponse:
    """The whole page; a script gets the part that changes, or 204."""
    state = queue_state(timezone.now())
    bots = _bots(request, state, MAX_LISTED)
    context = {
        "games": _playing(state, MAX_LISTED),
        "trouble": state.trouble,
        "events": _events(state),
        "ladders": [
            (GAMES[code], row.description, bots[code], max(0, len(state.ladders[code]) - MAX_LISTED))
            for code, row in zip(GAMES, Matchmaking.objects.of_ladders(), strict=True)
        ],
        "files": [table_links(title, "queue-files", name) for name, (title, *_) in TABLES.items()],
    }
    seen = hashlib.sha256(repr(context).encode()).hexdigest()[:16]
    part = LivePart(request, seen, (ANY_GAME,), pause_s=5.0)
    if part.is_shown:
        return part.unchanged()
    return part.render(
        "ladders/pieces/queue_live.html" if is_part(request) else "ladders/queue.html", context
    )


@require_safe
def queue_files(request: HttpRequest, name: str, kind: str) -> HttpResponse:
    """One of ``TABLES``, with at most ``MAX_EXPORTED`` rows a ladder."""
    if name not in TABLES:
        raise Http404(f"no table {name!r} of the queue")
    _, columns, rows_of = TABLES[name]
    state = queue_state(timezone.now())
    return served_table(kind, name, columns, rows_of(request, state), file=f"queue-{name}")


def _playing(state: QueueState, most: int) -> list[Game]:
    """The first games being played, with their players."""
    shown = state.playing[:most]
    games = Game.objects.with_players().filter(pk__in=shown, state=Game.State.CLAIMED).in_bulk()
    return [games[pk] for pk in shown if pk in games]


def _events(state: QueueState) -> list[tuple[Tournament, QueuedEvent]]:
    """The tournaments in the order in which they are played."""
    tournaments = Tournament.objects.in_bulk([event.tournament for event in state.events])
    return [(tournaments[one.tournament], one) for one in state.events if one.tournament in tournaments]


def _bots(request: HttpRequest, state: QueueState, most: int) -> dict[str, list[tuple[BotVersion, NextGame]]]:
    """By ladder the first bots that this user may see, the user's own before others; one query."""
    shown = _own_first(request, state, most)
    columns = BotVersion.objects.select_related("bot").only("number", "bot__name", "bot__slug")
    known = access.visible_versions(request.user, columns)
    versions = known.in_bulk([version for rows in shown.values() for version, _ in rows])
    return {
        code: [(versions[version], one) for version, one in rows if version in versions]
        for code, rows in shown.items()
    }


def _own_first(request: HttpRequest, state: QueueState, most: int) -> dict[str, list[tuple[int, NextGame]]]:
    """By ladder the first active versions, the user's own before others."""
    user = request.user.pk
    return {
        code: sorted(games.items(), key=lambda row: user is None or row[1].owner != user)[:most]
        for code, games in state.ladders.items()
    }


def _playing_rows(request: HttpRequest, state: QueueState) -> Iterable[Row]:
    for game in _playing(state, MAX_EXPORTED):
        players = (game.white.bot.name, game.white.number, game.black.bot.name, game.black.number)
        page = request.build_absolute_uri(game.get_absolute_url())
        yield *players, game.ladder_id, game.tournament.name, page


def _event_rows(request: HttpRequest, state: QueueState) -> Iterable[Row]:
    for tournament, event in _events(state):
        page = request.build_absolute_uri(tournament.get_absolute_url())
        yield tournament.name, tournament.priority, event.playing, event.waiting, event.ahead, page


def _bot_rows(request: HttpRequest, state: QueueState) -> Iterable[Row]:
    active = BotVersion.objects.filter(pk__in=ActiveVersion.objects.values("version"))
    columns = access.visible_versions(request.user, active).values_list("pk", "bot__name", "number")
    names = {version: (bot, number) for version, bot, number in columns}
    for code, rows in _own_first(request, state, MAX_EXPORTED).items():
        for version, one in rows:
            if version in names:
                yield code, *names[version], one.ahead, one.text, one.game


TABLES = {
    "playing": ("Games", PLAYING, _playing_rows),
    "tournaments": ("Tournaments", EVENTS, _event_rows),
    "bots": ("Bots", BOTS, _bot_rows),
}
"""The tables as files by their names in addresses: title, columns, rows."""
