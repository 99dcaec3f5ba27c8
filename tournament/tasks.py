"""The tasks of the queues ``records`` and ``beat``: each passes its message to one function.

Any message may be delivered twice. A message that cannot be read is logged, counted and acknowledged: a
retry would not help.
"""

from __future__ import annotations

import datetime
import gc
import itertools
import logging
import os
import signal
import time
from collections.abc import Callable
from functools import partial, wraps
from typing import Any, TypeVar

from celery import current_task
from celery.signals import task_failure, worker_init, worker_ready
from celery.worker import state
from django.db import InterfaceError, OperationalError, connection
from django.utils import timezone

from tournament import queues
from tournament.celery import app
from tournament.keyring import BEAT
from tournament.models import EventCount
from tournament.services import calendar
from tournament.services.dispatch import dispatch, workers
from tournament.services.dispatch.leases import keeper_started
from tournament.services.event_counts import count_event, store_counts
from tournament.services.keeper_lock import KeeperLock
from tournament.services.pruning import prune
from tournament.services.results import keeper
from tournament.services.results.estimates import refresh_estimates
from tournament.services.results.recomputing import Recomputer
from tournament.services.schedule.stored_tables import refresh_tables
from tournament.services.uploads import validation
from tournament.services.uploads.availability import QUEUES
from workers.jobs import ComplianceNews, GameReport, Progress, Release
from workers.service.messaging.heartbeat import Heartbeat, Trouble, name_of
from workers.service.messaging.signing import SITE
from workers.service.messaging.transport import message_set_aside
from workers.service.pulse import note_progress, wait_rightly

PAUSES_S = (1.0, 2.0, 5.0)
"""Pauses before a message is stored again that the database did not take; the last one repeats."""
SLOW_S = 0.5
"""A task of the beat that takes longer rests afterwards."""

log = logging.getLogger("tournament.keeper")

_recomputer = Recomputer()
_lock = KeeperLock()

Message = TypeVar("Message", GameReport, Progress, Release, ComplianceNews, Heartbeat, Trouble)


def _from_beat(run: Callable[[], None]) -> Callable[[], None]:
    """Run it only if the site itself sent the message, and if it is slow, not again for as long as it took.

    The queues take turns: a slow task that is always due would leave no time for the messages of workers.
    """
    rests_until = 0.0

    @wraps(run)
    def run_in_turn() -> None:
        nonlocal rests_until
        began = time.monotonic()
        if _is_from_site() and began >= rests_until:
            run()
            took_s = time.monotonic() - began
            rests_until = began + 2 * took_s if took_s > SLOW_S else 0.0

    return run_in_turn


@app.task(name="tournament.record")
def record(message: Any) -> None:
    """Receives the report of a game that ended, or a list of them."""
    messages = message if isinstance(message, list) else [message]
    if reports := [report for one in messages if (report := _read(GameReport, one))]:
        store_patiently(lambda: keeper.record_all(reports))
        dispatch.top_up()


@app.task(name="tournament.progress")
def progress(message: Any) -> None:
    """Receives the progress of a game."""
    if parsed := _read(Progress, message):
        keeper.progress(parsed)


@app.task(name="tournament.release")
def release(message: Any) -> None:
    """Receives one or several games that a worker gives back, because it stops or was late."""
    for one in message if isinstance(message, list) else [message]:
        if parsed := _read(Release, one):
            store_patiently(partial(keeper.release, parsed))


@app.task(name="tournament.news")
def news(message: Any) -> None:
    """Receives the progress or the findings of a compliance check."""
    if parsed := _read(ComplianceNews, message):
        store_patiently(lambda: validation.record_news(parsed, timezone.now()))


@app.task(name="tournament.heartbeat")
def heartbeat(message: Any) -> None:
    """Receives a worker's heartbeat."""
    parsed = _read(Heartbeat, message)
    if parsed and parsed.queue in QUEUES:  # it becomes part of a queue's name
        validation.receive_heartbeat(parsed, timezone.now())


@app.task(name="tournament.trouble")
def trouble(message: Any) -> None:
    """Receives the reason why a worker cannot play."""
    if parsed := _read(Trouble, message):
        workers.record_trouble(parsed, timezone.now())


@app.task(name="tournament.dispatch")
@_from_beat
def dispatch_games() -> None:
    """Do what is due first, so that the games it makes are sent at once.

    Validation games come before further checks, so that a validation that has begun is soon over.
    """
    calendar.tend()
    dispatch.fill_buffer()
    validation.assign_checks()


@app.task(name="tournament.estimates")
@_from_beat
def estimates() -> None:
    """Compute the ladders' estimates that are out of date."""
    refresh_estimates(timezone.now())


@app.task(name="tournament.pages")
@_from_beat
def pages() -> None:
    """Compute what pages show of large tournaments."""
    refresh_tables(timezone.now())


@app.task(name="tournament.recompute")
@_from_beat
def recompute() -> None:
    """Rebuild the ratings of ladders with annulled games, in a thread of its own."""
    _recomputer.start_if_due()


@app.task(name="tournament.prune")
@_from_beat
def prune_tables() -> None:
    """Delete a few rows that are no longer kept."""
    prune(timezone.now())


@app.task(name="tournament.sweep")
def sweep(as_of: str | None = None) -> None:
    """``as_of`` (ISO 8601) is set by a sweep that waited for the reports queued before it."""
    if _is_from_site():
        calendar.sweep(datetime.datetime.fromisoformat(as_of) if as_of else None)
        store_counts()
        if not _lock.keep():
            log.error("another record keeper has taken over: this one ends")
            os.kill(os.getpid(), signal.SIGTERM)


def store_patiently(store: Callable[[], object]) -> None:
    """Repeat it while the database cannot be used: its disk is full, or its server is away.

    Meanwhile the record keeper does nothing else, and no lease ends. A stop of the process ends it.
    """
    for pause in itertools.chain(PAUSES_S, itertools.repeat(PAUSES_S[-1])):
        try:
            store()
            return
        except (OperationalError, InterfaceError) as error:
            if connection.in_atomic_block or state.should_stop is not None:
                raise
            log.error("the database cannot be used, tried again in %.0f s: %s", pause, error)
            connection.close()
        note_progress()
        time.sleep(pause)


def verified_sender() -> str:
    """The sender of the message of the current task, as its signature shows; ``site`` for the site itself."""
    return str(current_task.request.get("sender") or "")


def _is_from_site() -> bool:
    """Whether the site itself sent the message; another one is counted."""
    if verified_sender() == SITE:
        return True
    keeper.count_ignored("foreign")
    return False


def _read(kind: type[Message], message: Any) -> Message | None:
    """Parse a message; None for one that cannot be read or names another worker than its sender."""
    parsed = keeper.read(kind, message)
    if parsed is not None and name_of(parsed.worker) != verified_sender():
        keeper.count_ignored("foreign")
        return None
    return parsed


@message_set_aside.connect
def _count_set_aside(kind: str, number: int, **_: Any) -> None:
    keeper.count_ignored(kind, number)


@task_failure.connect
def _count_failure(sender: Any = None, **_: Any) -> None:
    count_event(EventCount.Kind.ERROR, str(getattr(sender, "name", "")))


@worker_init.connect
def _wait_for_lock(**_: Any) -> None:
    _lock.take(waits=wait_rightly)


@worker_ready.connect
def _keeper_is_up(**_: Any) -> None:
    queues.clear_queue(BEAT)  # what was due while no keeper ran is sent again
    keeper_started()
    gc.freeze()  # the collector skips existing objects; reports make it run often
