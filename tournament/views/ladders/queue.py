"""The queue: the games being played, the tournaments that wait, and which game of each bot comes next."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_safe
from django.views.decorators.vary import vary_on_headers

from engines.rules.registry import GAMES
from engines.rules.registry import Variant as Rules
from tournament import access
from tournament.models import BotVersion, Game, Matchmaking, Tournament
from tournament.services.ladders.queue import (
    NextGame,
    QueuedEvent,
    QueueState,
    after_validation,
    queue_state,
)
from tournament.views.exports import MOST_EXPORTED, served_table, table_links
from tournament.views.polling import unchanged

MOST_LISTED = 40
"""Bots of a ladder on this page; the page of each bot also shows its next game."""
TABLES = {"playing": "Games", "tournaments": "Tournaments", "bots": "Bots"}
"""The titles of the tables as files, by their names in addresses."""
PLAYING = ("white", "white_version", "black", "black_version", "ladder", "tournament", "page")
EVENTS = ("tournament", "priority", "playing", "waiting", "ahead", "page")
BOTS = ("ladder", "bot", "version", "ahead", "when", "game")
"""``ahead``: games that start before its next one, empty if none waits; ``game`` is what it plays now."""
Line = tuple[object, ...]


@dataclass(frozen=True, slots=True)
class QueuedBot:
    """A bot on a ladder with its next game."""

    version: BotVersion
    next_game: NextGame


@dataclass(frozen=True, slots=True)
class LadderRow:
    """A ladder with the next games of its bots."""

    game: Rules
    matchmaking: str
    bots: list[QueuedBot]
    more: int
    """How many bots are not listed."""


@require_safe
@vary_on_headers("HX-Request")
def queue(request: HttpRequest) -> HttpResponse:
    """The whole page; the response to htmx is the part that changes, or 204."""
    context = _context(request, queue_state(timezone.now()))
    context["files"] = [table_links(title, "queue-files", name) for name, title in TABLES.items()]
    context["seen"] = hashlib.sha256(repr(context).encode()).hexdigest()[:16]
    if unchanged(request, context["seen"]):
        return HttpResponse(status=204)
    whole = "pieces/queue_live.html" if "HX-Request" in request.headers else "queue.html"
    return render(request, whole, context)


@require_safe
def queue_files(request: HttpRequest, name: str, kind: str) -> HttpResponse:
    """The table ``playing``, ``tournaments`` or ``bots``, with at most ``MOST_EXPORTED`` rows a ladder."""
    state = queue_state(timezone.now())
    if name == "playing":
        return served_table(kind, name, PLAYING, _playing_lines(request, state), file="queue-playing")
    if name == "tournaments":
        return served_table(kind, name, EVENTS, _event_lines(request, state), file="queue-tournaments")
    if name == "bots":
        return served_table(kind, name, BOTS, _bot_lines(request, state), file="queue-bots")
    raise Http404(f"no table {name!r} of the queue")


def _context(request: HttpRequest, state: QueueState) -> dict[str, Any]:
    shown = {code: _first(games, request.user.pk) for code, games in state.ladders.items()}
    for code, games in _validating(request.user, state).items():
        shown[code] = [*shown[code], *games]
    rows = _rows(request, {code: games[:MOST_LISTED] for code, games in shown.items()})
    matchmakers = {row.ladder_id: row for row in Matchmaking.objects.of_ladders()}
    listed = [
        LadderRow(
            GAMES[code],
            matchmakers[code].description,
            rows[code],
            len(games) - min(len(games), MOST_LISTED),
        )
        for code, games in shown.items()
    ]
    return {
        "games": _playing(state, MOST_LISTED),
        "trouble": state.trouble,
        "events": _events(state),
        "ladders": listed,
    }


def _first(games: Sequence[NextGame], user: int | None) -> list[NextGame]:
    """The user's own bots come first."""
    return sorted(games, key=lambda one: user is None or one.owner != user)


def _validating(user: access.Visitor, state: QueueState) -> dict[str, list[NextGame]]:
    """Versions in validation that this user may see, on ladders where no version of their bot is active."""
    found: dict[str, list[NextGame]] = {}
    versions = BotVersion.objects.filter(state=BotVersion.State.VALIDATING).select_related("bot__owner")
    for version in access.visible_versions(user, versions):
        for code in version.games:
            if all(one.bot != version.bot_id for one in state.ladders.get(code, ())):
                found.setdefault(code, []).append(after_validation(version))
    return found


def _rows(request: HttpRequest, games: dict[str, list[NextGame]]) -> dict[str, list[QueuedBot]]:
    """Those whose versions this user may see; one query."""
    known = access.visible_versions(request.user, BotVersion.objects.select_related("bot"))
    versions = known.in_bulk([one.version for some in games.values() for one in some])
    return {
        code: [QueuedBot(versions[one.version], one) for one in some if one.version in versions]
        for code, some in games.items()
    }


def _playing(state: QueueState, most: int) -> list[Game]:
    """The first games being played, with their players."""
    shown = state.playing[:most]
    games = Game.objects.with_players().filter(pk__in=shown, state=Game.State.CLAIMED).in_bulk()
    return [games[pk] for pk in shown if pk in games]


def _events(state: QueueState) -> list[tuple[Tournament, QueuedEvent]]:
    """The tournaments in the order in which they are played."""
    tournaments = Tournament.objects.in_bulk([event.tournament for event in state.events])
    return [(tournaments[one.tournament], one) for one in state.events if one.tournament in tournaments]


def _playing_lines(request: HttpRequest, state: QueueState) -> Iterable[Line]:
    for game in _playing(state, MOST_EXPORTED):
        players = (game.white.bot.name, game.white.number, game.black.bot.name, game.black.number)
        page = request.build_absolute_uri(game.get_absolute_url())
        yield *players, game.ladder_id, game.tournament.name, page


def _event_lines(request: HttpRequest, state: QueueState) -> Iterable[Line]:
    for tournament, event in _events(state):
        page = request.build_absolute_uri(tournament.get_absolute_url())
        yield tournament.name, tournament.priority, event.playing, event.waiting, event.ahead, page


def _bot_lines(request: HttpRequest, state: QueueState) -> Iterable[Line]:
    rows = _rows(request, {code: games[:MOST_EXPORTED] for code, games in state.ladders.items()})
    for code, some in rows.items():
        for row in some:
            one = row.next_game
            yield code, row.version.bot.name, row.version.number, one.ahead, one.text, one.game
