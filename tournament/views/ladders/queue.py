"""The queue: the games being played, the tournaments that wait, and when each bot is likely to play next."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_safe
from django.views.decorators.vary import vary_on_headers

from engines.rules.registry import GAMES
from engines.rules.registry import Variant as Rules
from tournament import access
from tournament.models import BotVersion, Game, Tournament
from tournament.services.ladders.forecasts import ExpectedEvent, ExpectedGame, QueueState, describe_matchmaker
from tournament.services.ladders.matchmaking import find_matchmakers
from tournament.services.ladders.stored_queue import NextGame, queue_state, validating_by_ladder
from tournament.views.exports import table_links
from tournament.views.polling import unchanged

MOST_LISTED = 40
"""Bots of a ladder on this page; the page of each bot also shows its next game."""
TABLES = {"playing": "Games", "tournaments": "Tournaments", "bots": "Bots"}
"""The titles of the tables as files, by their names in addresses."""


@dataclass(frozen=True, slots=True)
class EventRow:
    """A running tournament, and when it begins and ends."""

    event: ExpectedEvent
    tournament: Tournament


@dataclass(frozen=True, slots=True)
class LadderRow:
    """A ladder with the next games of its bots."""

    game: Rules
    matchmaking: str
    bots: list[NextGame]
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


def _context(request: HttpRequest, state: QueueState) -> dict[str, Any]:
    shown = {code: _first(games, request.user.pk) for code, games in state.ladders.items()}
    versions = shown_versions(request, [one.version for games in shown.values() for one in games])
    validating = validating_by_ladder(state, request.user)
    rows = {row.ladder_id: row for row in find_matchmakers()}
    return {
        "games": playing_games(state, MOST_LISTED),
        "trouble": state.trouble,
        "events": queued_events(state),
        "ladders": [
            _ladder(
                game,
                describe_matchmaker(rows[code]),
                [
                    NextGame.of(one, versions[one.version], state.trouble)
                    for one in shown[code]
                    if one.version in versions
                ],
                validating.get(code, []),
                len(state.ladders[code]),
            )
            for code, game in GAMES.items()
            if code in shown
        ],
    }


def _first(games: Sequence[ExpectedGame], user: int | None) -> list[ExpectedGame]:
    """The soonest games; the user's own bots come first."""
    if user is None:
        return list(games[:MOST_LISTED])
    mine = [one for one in games if one.owner == user]
    others = [one for one in games[:MOST_LISTED] if one.owner != user]
    return [*mine, *others][:MOST_LISTED]


def shown_versions(request: HttpRequest, versions: Sequence[int]) -> dict[int, BotVersion]:
    """Those of the versions that this user may see, with their bots."""
    known = access.visible_versions(request.user, BotVersion.objects.select_related("bot"))
    return known.in_bulk(versions)


def _ladder(
    game: Rules, matchmaking: str, bots: list[NextGame], validating: list[NextGame], active: int
) -> LadderRow:
    listed = [*bots, *validating][:MOST_LISTED]
    return LadderRow(game, matchmaking, listed, active + len(validating) - len(listed))


def playing_games(state: QueueState, most: int) -> list[Game]:
    """The first games being played, with their players."""
    shown = state.playing[:most]
    games = Game.objects.with_players().filter(pk__in=shown, state=Game.State.CLAIMED).in_bulk()
    return [games[pk] for pk in shown if pk in games]


def queued_events(state: QueueState) -> list[EventRow]:
    """The tournaments in the order in which they are played."""
    tournaments = Tournament.objects.in_bulk([event.tournament for event in state.events])
    return [
        EventRow(event, tournaments[event.tournament])
        for event in state.events
        if event.tournament in tournaments
    ]
