"""The Celery app of a worker, configured by environment variables.

    REDIS_URL         the site's Redis, as redis://host:6379/0 or redis+socket:///path; without it the worker
                      has free slots ask the site every few seconds
    DUARENA_SITE      the site's address
    DUARENA_TOKEN     a worker token of the site
    DUARENA_NAME      the worker's name
    DUARENA_TAKES     "games" or "checks"
    DUARENA_BUNDLES   the store folder of bundles
    DUARENA_CACHE     where bundles are unpacked
    DUARENA_PIN       "0" lets the system choose the core of each slot
    DUARENA_LOG       "json" for logs with a JSON object a line

``celery -A workers.service worker`` starts the worker. Its task has no arguments: a free slot asks the site.
"""

from __future__ import annotations

import os
from typing import Any

from billiard.process import current_process
from celery import Celery
from celery.signals import worker_process_init, worker_shutting_down

from workers.cores import claim_cores
from workers.jobs import Work
from workers.service.broker import QUEUES, broker_settings
from workers.service.restart import RESTART
from workers.service.slots import SLOTS, SlotState
from workers.watchdog import end_with_parent, watch_threads

TAKES = "DUARENA_TAKES"
MEMORY = "memory://"
"""The broker of a worker without the site's Redis: its own main process."""


def work_taken() -> tuple[Work, ...]:
    """What the slots of this worker take: all of them search for people too."""
    return Work(os.environ.get(TAKES) or Work.GAMES), Work.ANALYSIS


app = Celery("duarena", include=["workers.service.tasks"])
app.conf.update(broker_settings(os.environ.get("REDIS_URL") or MEMORY, QUEUES[work_taken()[0]]))
app.conf.worker_lost_wait = 1.0  # until the message of a killed slot counts as done


@worker_shutting_down.connect
def _stop_slots(**_: Any) -> None:
    SLOTS.stop()
    RESTART.note_stop()


@worker_process_init.connect
def _set_up_slot(**_: Any) -> None:
    """Pin a slot and its engines to one core: to wake a process on another core costs ten times as much.

    A slot ends with its worker, and when it hangs.
    """
    SLOTS.enter(slot_index(), SlotState.IDLE)  # the process that had this slot may have been killed in a game
    SLOTS.set_trouble(slot_index(), "")
    pin(slot_index())
    end_with_parent()
    watch_threads()


def slot_index() -> int:
    """The number of this process among the slots of its worker, from 0."""
    return getattr(current_process(), "index", 0)


def pin(slot: int) -> None:
    """Bind this process and the processes it starts to a core for a slot (from 0), a free one if possible."""
    if os.environ.get("DUARENA_PIN", "1") != "0":
        os.sched_setaffinity(0, claim_cores(1, slot))
