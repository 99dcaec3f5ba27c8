"""The queue as everybody sees it: what is played now, what waits, and whose turn comes when."""

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
from tournament.views.ladders.forecasts import NOT_NOW, NextGame, describe_matchmaker, in_about, next_games_of
from tournament.views.polling import unchanged

MOST_LISTED = 40
"""Bots of a ladder on this page; a bot's own page says when it is its turn."""


@dataclass(frozen=True, slots=True)
class EventRow:
    """A tournament that waits or is played."""

    event: QueuedEvent
    words: str


@dataclass(frozen=True, slots=True)
class LadderRow:
    """A ladder with what its bots can expect."""

    game: Rules
    words: str
    bots: list[NextGame]
    more: int
    """Bots that are not listed."""


@require_safe
@vary_on_headers("HX-Request")
def queue(request: HttpRequest) -> HttpResponse:
    """All of it; to htmx only what changes, or 204."""
    context = _context(request, look(timezone.now()))
    content = render_to_string("pieces/queue.html", context)
    seen = hashlib.sha256(content.encode()).hexdigest()[:16]
    if unchanged(request, seen):
        return HttpResponse(status=204)
    whole = "pieces/queue_live.html" if "HX-Request" in request.headers else "queue.html"
    # What is safe was escaped by the template that made it.
    return render(request, whole, {"content": mark_safe(content), "seen": seen})


def _context(request: HttpRequest, queue: Queue) -> dict[str, Any]:
    next_games = next_games_of(queue)
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


def _ladder(request: HttpRequest, game: Rules, words: str, bots: list[NextGame]) -> LadderRow:
    """The visitor's own bots first."""
    mine = [one for one in bots if request.user.pk and one.version.bot.owner_id == request.user.pk]
    others = [one for one in bots if one not in mine]
    listed = [*mine, *others][:MOST_LISTED]
    return LadderRow(game, words, listed, len(bots) - len(listed))


def _events(queue: Queue) -> list[EventRow]:
    """When the games of each will all have been played, one rank after the other."""
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
    done = f"played in about {in_about(ends_s).removeprefix('in about ').removeprefix('in ')}"
    if event.tournament.is_staged:
        done = f"this round is {done}"
    if event.playing + event.sent or begins_s == 0:
        return done
    return f"begins {in_about(begins_s)}, after those of higher priority; {done}"
