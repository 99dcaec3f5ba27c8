"""The moves of running games on their live pages, as slots post them: they are not verified yet."""

from __future__ import annotations

import datetime

from django.db import transaction

from engines.timecontrol import MAX_LIMIT
from engines.visible import visible
from tournament.models import Attempt, LiveGame
from tournament.queues import ANY_GAME, announce, game_topic, pace_ms
from tournament.services.locks import lock
from workers.jobs import Progress

SHOWN_EVERY = datetime.timedelta(seconds=1)
"""A live game is written no more often; while somebody watches it, at twice the pace asked of its slot."""
MAX_TOKEN, MAX_COMMENT, MAX_LIVE_MOVES = 100, 1000, 20_000
"""Limits for the progress of a game, in characters and moves."""


def show_moves(
    progress: Progress, attempt: Attempt | None, slot: str, now: datetime.datetime
) -> tuple[int, int]:
    """Add the moves of a running game to its live page; ``attempt`` is None if the slot has no such one.

    Returns how many plies the site has, and how often the next ones are wanted (``PostAnswer``).
    """
    if attempt is None or attempt.game.key != progress.key or attempt.ended_at or attempt.reported_at:
        return 0, 0
    topic = game_topic(attempt.game_id)
    pace = pace_ms(topic)
    live = LiveGame.objects.filter(game=attempt.game_id).first()
    moves = live.moves if live else []
    is_new = attempt.started_at is None
    every = datetime.timedelta(milliseconds=pace) / 2 or SHOWN_EVERY
    if progress.from_ply > len(moves) or (live and not is_new and now - live.updated_at < every):
        return len(moves), pace
    moves = (moves + _shown_moves(progress, len(moves)))[:MAX_LIVE_MOVES]
    shown = {
        "moves": moves,
        "white_ms": _clock(progress.white_ms),
        "black_ms": _clock(progress.black_ms),
        "updated_at": now,
    }
    with transaction.atomic():
        still = Attempt.objects.filter(pk=attempt.pk, ended_at__isnull=True, reported_at__isnull=True)
        if not lock(still.only("pk")):
            return 0, 0
        if is_new:
            Attempt.objects.filter(pk=attempt.pk).update(started_at=now, worker=slot)
        LiveGame.objects.bulk_create(
            [LiveGame(game_id=attempt.game_id, **shown)],
            update_conflicts=True,
            unique_fields=["game"],
            update_fields=[*shown],
        )
    announce(topic, *([ANY_GAME] if is_new else []))
    return len(moves), pace


def _clock(shown_ms: int | None) -> int | None:
    """A clock limited to the range of its column."""
    return None if shown_ms is None else min(max(shown_ms, -MAX_LIMIT), MAX_LIMIT)


def _shown_moves(progress: Progress, known: int) -> list[list[str]]:
    """The moves after the first ``known`` plies, cleaned and bounded: they are not verified yet."""
    moves = progress.moves[known - progress.from_ply :][:MAX_LIVE_MOVES]
    return [[visible(token, MAX_TOKEN), visible(comment, MAX_COMMENT)] for token, comment in moves]
