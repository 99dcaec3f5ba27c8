"""The record keeper's tasks: one handles the inbox of reports, the others do what is due.

They run one after the other, at any time and any number of times; a killed one is repeated.
"""

from __future__ import annotations

import gc
import itertools
import logging
import os
import signal
import time
from collections.abc import Callable
from typing import Any

from celery.signals import task_failure, worker_init, worker_ready
from celery.worker import state
from django.db import InterfaceError, OperationalError, connection
from django.utils import timezone

from tournament.celery import PERIODS_SECONDS, RECORD, app
from tournament.models import EventCount
from tournament.queues import send
from tournament.services import calendar
from tournament.services.accounts.digest_mail import send_digests
from tournament.services.accounts.mails import send_waiting
from tournament.services.dumps.making import DumpMaker
from tournament.services.event_counts import count_event, store_counts
from tournament.services.evidence.making import EvidenceMaker
from tournament.services.keeper_lock import KeeperLock
from tournament.services.pruning import prune
from tournament.services.results.estimates import refresh_estimates
from tournament.services.results.keeper import record_inbox
from tournament.services.results.recomputing import Recomputer
from tournament.services.schedule.own_ratings import refresh_ratings
from tournament.services.searches.sampling import sample_moves
from tournament.services.work.messages import send_plays, send_record
from workers.service.broker import KEEPER
from workers.watchdog import note_task

INBOX_SECONDS = 1.0
"""How long reports are handled before the other tasks."""
PAUSES_SECONDS = (1.0, 2.0, 5.0)
"""Pauses before reports are stored again that the database did not take; the last one repeats."""
SLOW_SECONDS = 0.5
"""What takes longer rests afterwards for as long as it took, so that time is left for reports."""

log = logging.getLogger("tournament.keeper")

_recomputer = Recomputer()
_evidence = EvidenceMaker()
_dumps = DumpMaker()
_lock = KeeperLock()


class Rested:
    """A function that, if it took long, does nothing for as long as it took; nor if it ran just now."""

    def __init__(self, name: str, run: Callable[[], object]) -> None:
        self.name = name
        self.run = run
        self.due_at = 0.0

    def __call__(self) -> None:
        began = time.monotonic()
        if began < self.due_at:
            return
        try:
            self.run()
        finally:
            took_s = time.monotonic() - began
            self.due_at = began + max(
                PERIODS_SECONDS[self.name] / 2, 2 * took_s if took_s > SLOW_SECONDS else 0.0
            )


@app.task(name=RECORD)
def record() -> None:
    """Handle reports for a while, and have this run again if reports are left."""
    are_left: list[bool] = []
    store_patiently(lambda: are_left.append(record_inbox(INBOX_SECONDS)))
    if are_left[0]:
        send_record()


def tend() -> None:
    """Make what is due, and then tell idle slots to ask for work."""
    calendar.tend()
    send_plays()


def sweep() -> None:
    """End expired leases, store what was counted, and end this process if another one has its lock."""
    calendar.sweep()
    store_counts()
    if not _lock.keep():
        log.error("another record keeper has taken over: this one ends")
        os.kill(os.getpid(), signal.SIGTERM)


RESTED = (
    Rested("sweep", sweep),
    Rested("tend", tend),
    Rested("ratings", lambda: refresh_ratings(timezone.now())),
    Rested("recompute", _recomputer.start_if_due),
    Rested("estimates", lambda: refresh_estimates(timezone.now())),
    Rested("samples", lambda: sample_moves(timezone.now())),
    Rested("mails", lambda: send_waiting(timezone.now())),
    Rested("digests", lambda: send_digests(timezone.now())),
    Rested("evidence", lambda: _evidence.step() or _dumps.step()),
    Rested("prune", lambda: prune(timezone.now())),
)


def _add_task(rested: Rested) -> None:
    @app.task(name=f"tournament.{rested.name}")
    def run() -> None:
        rested()


for each in RESTED:
    _add_task(each)


def store_patiently(store: Callable[[], object]) -> None:
    """Repeat it while the database cannot be used: its disk is full, or its server is away.

    Meanwhile the record keeper does nothing else. A stop of the process ends it.
    """
    for pause in itertools.chain(PAUSES_SECONDS, itertools.repeat(PAUSES_SECONDS[-1])):
        try:
            store()
            return
        except (OperationalError, InterfaceError) as error:
            if connection.in_atomic_block or state.should_stop is not None:
                raise
            log.error("the database cannot be used, tried again in %.0f s: %s", pause, error)
            connection.close()
        note_task()
        time.sleep(pause)


@task_failure.connect
def _count_failure(sender: Any = None, **_: Any) -> None:
    count_event(EventCount.Kind.ERROR, getattr(sender, "name", "").removeprefix("tournament."))


@worker_init.connect
def _wait_for_lock(**_: Any) -> None:
    _lock.take()


@worker_ready.connect
def _keeper_is_up(**_: Any) -> None:
    gc.freeze()  # the collector skips existing objects; reports make it run often
    send(app, "tournament.sweep", KEEPER)  # the site is unhealthy until then
