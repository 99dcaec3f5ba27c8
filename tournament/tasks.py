"""The record keeper's one task: it handles the inbox of reports, and then does what is due.

It may run at any time and any number of times; a killed one is repeated.
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

from tournament.celery import app
from tournament.models import EventCount
from tournament.services import calendar
from tournament.services.accounts.digest_mail import send_digests
from tournament.services.accounts.mails import send_waiting
from tournament.services.event_counts import count_event, store_counts
from tournament.services.keeper_lock import KeeperLock
from tournament.services.pruning import prune
from tournament.services.results.estimates import refresh_estimates
from tournament.services.results.keeper import record_inbox
from tournament.services.results.recomputing import Recomputer
from tournament.services.schedule.own_ratings import refresh_ratings
from tournament.services.work.turns import look as look_again
from tournament.services.work.turns import push_turns
from workers.watchdog import note_task

INBOX_S = 1.0
"""How long reports are handled before what is due gets its turn."""
PAUSES_S = (1.0, 2.0, 5.0)
"""Pauses before reports are stored again that the database did not take; the last one repeats."""
SLOW_S = 0.5
"""What takes longer rests afterwards for as long as it took, so that time is left for reports."""

log = logging.getLogger("tournament.keeper")

_recomputer = Recomputer()
_lock = KeeperLock()


class Duty:
    """Something that is done every few seconds, by this process's own clock."""

    def __init__(self, name: str, period_s: float, run: Callable[[], object]) -> None:
        self.name = name
        self._period_s = period_s
        self._run = run
        self._due_at = 0.0

    def run_if_due(self) -> None:
        """Run it if it is due; what it raises is logged and counted."""
        began = time.monotonic()
        if began < self._due_at:
            return
        try:
            self._run()
        except Exception:
            log.exception("%s failed", self.name)
            count_event(EventCount.Kind.ERROR, self.name)
        took_s = time.monotonic() - began
        self._due_at = began + max(self._period_s, 2 * took_s if took_s > SLOW_S else 0.0)


@app.task(name="tournament.look")
def look() -> None:
    """Handle reports for a while, do what is due, and have this run again if reports are left."""
    are_left: list[bool] = []
    store_patiently(lambda: are_left.append(record_inbox(INBOX_S)))
    for duty in DUTIES:
        duty.run_if_due()
        note_task()
    if are_left[0]:
        look_again()


def tend() -> None:
    """Make what is due, and then tell idle slots to ask for work."""
    calendar.tend()
    push_turns(timezone.now())


def sweep() -> None:
    """End expired leases, store what was counted, and end this process if another one has its lock."""
    calendar.sweep()
    store_counts()
    if not _lock.keep():
        log.error("another record keeper has taken over: this one ends")
        os.kill(os.getpid(), signal.SIGTERM)


DUTIES = (
    Duty("sweep", 5, sweep),
    Duty("tend", 1, tend),
    Duty("ratings", 3, lambda: refresh_ratings(timezone.now())),
    Duty("recompute", 5, _recomputer.start_if_due),
    Duty("estimates", 10, lambda: refresh_estimates(timezone.now())),
    Duty("mails", 60, lambda: send_waiting(timezone.now())),
    Duty("digests", 10, lambda: send_digests(timezone.now())),
    Duty("prune", 30, lambda: prune(timezone.now())),
)


def store_patiently(store: Callable[[], object]) -> None:
    """Repeat it while the database cannot be used: its disk is full, or its server is away.

    Meanwhile the record keeper does nothing else. A stop of the process ends it.
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
        note_task()
        time.sleep(pause)


@task_failure.connect
def _count_failure(sender: Any = None, **_: Any) -> None:
    count_event(EventCount.Kind.ERROR, "look")


@worker_init.connect
def _wait_for_lock(**_: Any) -> None:
    _lock.take()


@worker_ready.connect
def _keeper_is_up(**_: Any) -> None:
    gc.freeze()  # the collector skips existing objects; reports make it run often
