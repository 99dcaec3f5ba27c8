"""The events of a game: its moves as they are played, and its end."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice

import msgspec
from django.http import HttpRequest

from engines.timecontrol import parse_time_control
from tournament import access
from tournament.api.v1.events.batches import MAX_EVENTS, EventBatch, after_of, now_text, reset
from tournament.api.v1.events.cursors import Whole, read_cursor, write_cursor
from tournament.api.v1.events.types import ApiEvent, GameEnded, MovePlayed
from tournament.models import Game
from tournament.queues import game_topic
from tournament.rows.games import game_rows
from tournament.views.exports import origin_of
from tournament.views.games.board import find_game_for, load_replay
from tournament.views.games.replay import Replay
from tournament.views.games.rows import played_moves

OPEN = (Game.State.WAITING, Game.State.CLAIMED)


class GameCursor(msgspec.Struct, array_like=True, frozen=True):
    attempt: str = ""
    """The beginning of its id."""
    ply: Whole = 0
    is_over: bool = False


def game_batch(request: HttpRequest, pk: int) -> EventBatch:
    """The moves after the client's cursor, or all, and the end.

    If the game has been begun again, its moves come again from the first one.
    """
    game = find_game_for(request, pk)
    after = after_of(request)
    known = read_cursor(after, GameCursor) if after else GameCursor()
    told = list(islice(game_events(request, game, known, after), MAX_EVENTS))
    known = told[-1][1] if told else known or GameCursor()
    return EventBatch(
        [event for event, _ in told],
        write_cursor(known),
        (game_topic(pk),),
        is_over=game.state not in OPEN,
        is_whole=len(told) < MAX_EVENTS,
        is_personal=not access.may_see_tournament(access.PUBLIC, game.tournament),
    )


def game_events(
    request: HttpRequest,
    game: Game,
    known: GameCursor | None,
    after: str,
    write: Callable[[GameCursor], str] = write_cursor,
) -> Iterator[tuple[ApiEvent, GameCursor]]:
    """What happened after ``known``, which the client named as ``after``, each with the cursor after it."""
    replay, live, _ = load_replay(game)
    attempt = str(game.attempt or "")[:8]
    if known is None or _is_another(known, attempt, replay):
        known = GameCursor(attempt)
        yield reset(write(known), after), known
    at = now_text(live.updated_at if live else game.finished_at)
    control = parse_time_control(game.tournament.time_control)
    for move in played_moves(replay, control, after=known.ply):
        known = GameCursor(attempt, move.ply)
        yield MovePlayed(id=write(known), at=at, data=move), known
    if game.state not in OPEN and not known.is_over:
        known = GameCursor(attempt, replay.plies, True)
        (row,) = game_rows(origin_of(request), [game.pk])
        yield GameEnded(id=write(known), at=row.finished or now_text(), data=row), known


def _is_another(known: GameCursor, attempt: str, replay: Replay) -> bool:
    """Whether the client knows moves of an earlier attempt, which the game no longer has."""
    return known.ply > replay.plies or (known.attempt != attempt and known.ply > replay.opening_plies)
