"""The events of `/tv/`: which game it shows, and the moves of that game."""

from __future__ import annotations

from itertools import islice

import msgspec
from django.http import HttpRequest

from tournament.api.v1.events.batches import MAX_EVENTS, EventBatch, after_of, now_text, reset
from tournament.api.v1.events.cursors import Whole, read_cursor, write_cursor
from tournament.api.v1.events.games import GameCursor, game_events
from tournament.api.v1.events.running import started_games
from tournament.api.v1.events.types import ApiEvent, GameFeatured
from tournament.api.v1.schemas import check_ladder
from tournament.queues import ANY_GAME, game_topic
from tournament.views.exports import origin_of
from tournament.views.games.broadcast import find_shown
from tournament.views.site.featured import list_running


class TvCursor(msgspec.Struct, array_like=True, frozen=True):
    game: Whole = 0
    moves: GameCursor = GameCursor()


def tv_batch(request: HttpRequest, ladder: str) -> EventBatch:
    """The moves after the client's cursor, and the game that is shown now if it is another one.

    A game stays until some seconds after its end. With ``ladder`` only games of this ladder are shown.
    """
    check_ladder(ladder)
    after = after_of(request)
    known = read_cursor(after, TvCursor) if after else TvCursor()
    events: list[ApiEvent] = []
    if known is None:
        known = TvCursor()
        events.append(reset(write_cursor(known), after))
    running = list_running()
    shown = find_shown(request, ladder, running, known.game) or find_shown(request, ladder, running)
    topics: tuple[str, ...] = (ANY_GAME,)
    if shown is not None:
        topics = (ANY_GAME, game_topic(shown.pk))
        if shown.pk != known.game:
            known = TvCursor(shown.pk)
            row = started_games(origin_of(request), [shown.pk])[shown.pk]
            events.append(GameFeatured(id=write_cursor(known), at=now_text(shown.started_at), data=row))

        def write(moves: GameCursor) -> str:
            return write_cursor(TvCursor(shown.pk, moves))

        for event, moves in islice(game_events(request, shown, known.moves, after, write), MAX_EVENTS):
            known = TvCursor(shown.pk, moves)
            events.append(event)
    parameters = {"ladder": ladder} if ladder else {}
    return EventBatch(
        events,
        write_cursor(known),
        topics,
        is_whole=len(events) < MAX_EVENTS,
        pause_s=0.4,
        again_s=3.0,
        parameters=parameters,
    )
