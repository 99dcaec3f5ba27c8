"""The queue: the games being played, the tournaments that wait, and which game of each bot comes next."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable
from typing import Annotated

import msgspec
from django.http import Http404, HttpRequest, HttpResponse
from django.utils import timezone
from django.views.decorators.http import require_safe
from django.views.decorators.vary import vary_on_headers
from msgspec import Meta

from engines.rules.registry import GAMES
from tournament import access
from tournament.models import ActiveVersion, BotVersion, Game, Matchmaking, Tournament
from tournament.queues import ANY_GAME
from tournament.rows.fields import Address
from tournament.services.ladders.queue import NextGame, QueuedEvent, QueueState, queue_state
from tournament.views.exports import MAX_EXPORTED, served_rows, table_links
from tournament.views.polling import PART, LivePart, is_part

MAX_LISTED = 40
"""Bots of a ladder on this page; the page of each bot also shows its next game."""


class PlayingRow(msgspec.Struct, frozen=True):
    """A game that is being played."""

    white: str
    white_version: int
    black: str
    black_version: int
    ladder: str
    tournament: Annotated[str, Meta(description="Its name.")]
    page: Address
    id: int


class QueuedEventRow(msgspec.Struct, frozen=True):
    """A tournament with games that wait, in the order in which they are played."""

    tournament: Annotated[str, Meta(description="Its name.")]
    priority: int
    playing: int
    waiting: int
    ahead: int
    page: Address
    slug: str


class QueuedBotRow(msgspec.Struct, frozen=True):
    """What a version plays next on a ladder."""

    ladder: str
    bot: str
    version: int
    ahead: Annotated[int | None, Meta(description="Games before its next one; null if none waits.")]
    when: Annotated[str, Meta(description="The same in words.")]
    game: Annotated[int | None, Meta(description="The game that it is playing now.")]
    slug: str


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
    _, row, rows_of = TABLES[name]
    state = queue_state(timezone.now())
    return served_rows(kind, name, row, rows_of(request, state), file=f"queue-{name}")


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


def _playing_rows(request: HttpRequest, state: QueueState) -> Iterable[PlayingRow]:
    for game in _playing(state, MAX_EXPORTED):
        players = (game.white.bot.name, game.white.number, game.black.bot.name, game.black.number)
        page = request.build_absolute_uri(game.get_absolute_url())
        yield PlayingRow(*players, game.ladder_id, game.tournament.name, page, game.pk)


def _event_rows(request: HttpRequest, state: QueueState) -> Iterable[QueuedEventRow]:
    for tournament, event in _events(state):
        page = request.build_absolute_uri(tournament.get_absolute_url())
        counts = (tournament.priority, event.playing, event.waiting, event.ahead)
        yield QueuedEventRow(tournament.name, *counts, page, tournament.slug)


def _bot_rows(request: HttpRequest, state: QueueState) -> Iterable[QueuedBotRow]:
    active = BotVersion.objects.filter(pk__in=ActiveVersion.objects.values("version"))
    known = access.visible_versions(request.user, active)
    columns = known.values_list("pk", "bot__name", "number", "bot__slug")
    names = {version: (name, number, slug) for version, name, number, slug in columns}
    for code, rows in _own_first(request, state, MAX_EXPORTED).items():
        for version, one in rows:
            if version in names:
                name, number, slug = names[version]
                yield QueuedBotRow(code, name, number, one.ahead, one.text, one.game, slug)


TABLES: dict[str, tuple[str, type[msgspec.Struct], Callable[..., Iterable[msgspec.Struct]]]] = {
    "playing": ("Games", PlayingRow, _playing_rows),
    "tournaments": ("Tournaments", QueuedEventRow, _event_rows),
    "bots": ("Bots", QueuedBotRow, _bot_rows),
}
"""The tables as files by their names in addresses: title, type of the rows, rows."""


def queue_rows(request: HttpRequest, state: QueueState, name: str) -> list[msgspec.Struct]:
    """The rows of one of ``TABLES``, at most ``MAX_EXPORTED`` of a ladder."""
    return list(TABLES[name][2](request, state))
