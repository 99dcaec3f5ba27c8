"""What arrives on the queue ``records``: each task hands its message to one plain function.

All may be delivered twice. A message that cannot be read is logged, counted and done with: it would be
no better the next time.
"""

from __future__ import annotations

import datetime
from typing import Any

from django.utils import timezone

from tournament.celery import app
from tournament.services import calendar, dispatch, keeper, validation, workers
from tournament.services import sweep as sweeping
from workers.examination import ExamNews
from workers.heartbeat import Heartbeat, Trouble
from workers.jobs import GameReport, Progress, Release


@app.task(name="tournament.record")
def record(message: Any) -> None:
    """The reports of games that ended, or one of them."""
    messages = message if isinstance(message, list) else [message]
    if reports := [report for one in messages if (report := keeper.read(GameReport, one))]:
        keeper.record_all(reports)
        dispatch.top_up()


@app.task(name="tournament.progress")
def progress(message: Any) -> None:
    """A word from a game that is being played."""
    if word := keeper.read(Progress, message):
        keeper.progress(word)


@app.task(name="tournament.release")
def release(message: Any) -> None:
    """Games given back by a worker that stops or was late, or one of them."""
    for one in message if isinstance(message, list) else [message]:
        if word := keeper.read(Release, one):
            keeper.release(word)


@app.task(name="tournament.news")
def news(message: Any) -> None:
    """Word of an examination."""
    if told := keeper.read(ExamNews, message):
        validation.hear(told, timezone.now())


@app.task(name="tournament.heartbeat")
def heartbeat(message: Any) -> None:
    """A worker's word of itself."""
    if told := keeper.read(Heartbeat, message):
        workers.hear(told, timezone.now())


@app.task(name="tournament.trouble")
def trouble(message: Any) -> None:
    """What keeps a worker from playing."""
    if told := keeper.read(Trouble, message):
        workers.hear_trouble(told, timezone.now())


@app.task(name="tournament.dispatch")
def dispatch_games() -> None:
    """First what is due, so that the games it makes are given out at once."""
    calendar.tend()
    dispatch.fill_buffer()


@app.task(name="tournament.sweep")
def sweep(as_of: str | None = None) -> None:
    """``as_of`` (ISO 8601) is set by a sweep that waited for the reports queued before it."""
    sweeping.sweep(datetime.datetime.fromisoformat(as_of) if as_of else None)
