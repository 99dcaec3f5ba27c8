"""The queue: the games being played, the tournaments that wait, and when each bot is likely to play next."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.template.loader import render_to_string
from django.utils import timezone
from django.utils.safestring import mark_safe
from django.views.decorators.http import require_safe
from django.views.decorators.vary import vary_on_headers

from engines.rules.registry import GAMES
from engines.rules.registry import Variant as Rules
from tournament.services.ladders.queue import Queue, QueuedEvent, look
from tournament.views.ladders.forecasts import (
    NOT_NOW,
    NextGame,
    describe_matchmaker,
    format_moment,
    next_games_of,
)
from tournament.views.polling import unchanged

MOST_LISTED = 40
"""Bots of a ladder on this page; the page of each bot also shows its next game."""


@dataclass(frozen=True, slots=True)
class EventRow:
    """A running tournament, and when it begins and ends."""

    event: QueuedEvent
    text: str


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
    context = _context(request, look(timezone.now()))
    content = render_to_string("pieces/queue.html", context)
    seen = hashlib.sha256(content.encode()).hexdigest()[:16]
    if unchanged(request, seen):
        return HttpResponse(status=204)
    whole = "pieces/queue_live.html" if "HX-Request" in request.headers else "queue.html"
    # The content is safe: the template that rendered it has escaped all values.
    return render(request, whole, {"content": mark_safe(content), "seen": seen})


def _context(request: HttpRequest, queue: Queue) -> dict[str, Any]:
    next_games = next_games_of(queue, request.user)
    rows = {row.ladder_id: row for row in queue.matchmakers}
    return {
        "games": queue.playing[:MOST_LISTED],
        "trouble": queue.trouble,
        "events": _events(queue),
        "ladders": [
            _ladder(request, game, describe_matchmaker(rows[code]), next_games.get(code, []))
            for code, game in GAMES.items()
            if code in rows
        ],
    }


def _ladder(request: HttpRequest, game: Rules, matchmaking: str, bots: list[NextGame]) -> LadderRow:
    """The user's own bots come first."""
    mine = [one for one in bots if request.user.pk and one.version.bot.owner_id == request.user.pk]
    others = [one for one in bots if one not in mine]
    listed = [*mine, *others][:MOST_LISTED]
    return LadderRow(game, matchmaking, listed, len(bots) - len(listed))


def _events(queue: Queue) -> list[EventRow]:
    """When each tournament will begin and end; those of higher priority are played first."""
    rows: list[EventRow] = []
    before_s = 0.0
    for _, rank in groupby(queue.events, key=lambda event: event.tournament.priority):
        events = list(rank)
        begins_s = before_s
        before_s += sum((e.playing + e.sent + e.waiting) * e.seconds for e in events) / queue.slots
        rows += [EventRow(event, _when(event, begins_s, before_s, queue.trouble)) for event in events]
    return rows


def _when(event: QueuedEvent, begins_s: float, ends_s: float, trouble: str) -> str:
    if trouble:
        return NOT_NOW
    if not event.playing + event.sent + event.waiting:
        return "its next round is being made"
    if event.tournament.is_version_test:
        return "plays while no other game waits, until its test is decided"
    end = format_moment(ends_s)
    ends = f"this round ends {end}" if event.tournament.is_staged else f"ends {end}"
    if event.playing + event.sent or begins_s == 0:
        return ends
    return f"begins {format_moment(begins_s)}, after tournaments of higher priority; {ends}"
