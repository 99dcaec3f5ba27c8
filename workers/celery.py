"""The queues' hands: the Celery app of a game worker, set up from the environment.

    REDIS_URL         the broker, as redis://host:6379/0 or redis+socket:///path?virtual_host=0
    DUARENA_BUNDLES   the store folder of bundles
    DUARENA_CACHE     where bundles are unpacked
    DUARENA_PIN       "0" leaves it to the system which core a slot runs on
    DUARENA_NAME      the worker's name
    DUARENA_TOKEN     a worker token, with which bundles are fetched from DUARENA_SITE

A message is acknowledged when its job is done, so a killed worker's comes back in
the end; that its games are played long before is the site's leases' business. The
results a job has travel as messages of their own.
"""

from __future__ import annotations

import os
import socket
from typing import Any

from billiard.process import current_process
from celery import Celery
from celery.signals import worker_process_init, worker_shutting_down
from kombu import Queue

from workers.slots import SLOTS, SlotState

GAMES = "games"
VALIDATION = "validation"
"""Examinations and validation games: a worker of its own is always free for them."""
RECORDS = "records"
DEFAULT_BROKER = "redis://127.0.0.1:6379/0"
VISIBILITY_SECONDS = 6 * 3600
"""After this a message that nobody acknowledged comes back; longer than any job."""
SILENCE_SECONDS = 20
"""A broker that is not heard of for so long is gone, though no network may ever say so."""
CONNECT_SECONDS = 5
SOFT_SHUTDOWN_SECONDS = 4
"""For a job to give its game back when the worker is told to stop at once."""

app = Celery("duarena", broker=os.environ.get("REDIS_URL", DEFAULT_BROKER), include=["workers.tasks"])
app.conf.update(
    accept_content=["json"],
    broker_connection_max_retries=None,
    broker_connection_retry_on_startup=True,
    broker_transport_options={
        "visibility_timeout": VISIBILITY_SECONDS,
        "socket_connect_timeout": CONNECT_SECONDS,
        "socket_keepalive": True,
        # Both are needed: what was sent and is not acknowledged is not asked about.
        "socket_keepalive_options": {
            socket.TCP_KEEPIDLE: SILENCE_SECONDS // 4,
            socket.TCP_KEEPINTVL: SILENCE_SECONDS // 4,
            socket.TCP_KEEPCNT: 3,
            socket.TCP_USER_TIMEOUT: SILENCE_SECONDS * 1000,
        },
        "socket_timeout": SILENCE_SECONDS,
    },
    enable_utc=True,
    task_acks_late=True,
    task_default_queue=GAMES,
    task_ignore_result=True,
    task_queues=[Queue(GAMES), Queue(VALIDATION), Queue(RECORDS)],
    # Not put back at once: a job that kills whoever takes it would go round for ever.
    task_reject_on_worker_lost=False,
    task_routes={
        "workers.examine": {"queue": VALIDATION},
        "workers.*": {"queue": GAMES},
        "tournament.*": {"queue": RECORDS},
    },
    task_serializer="json",
    worker_hijack_root_logger=False,
    worker_prefetch_multiplier=1,
    worker_redirect_stdouts=False,
    worker_soft_shutdown_timeout=SOFT_SHUTDOWN_SECONDS,
)


@worker_shutting_down.connect
def _tell_the_pool(**_: Any) -> None:
    SLOTS.stop()


@worker_process_init.connect
def _take_a_core(**_: Any) -> None:
    """Keep a slot and its engines on one core: a message that wakes another core costs ten times as much."""
    SLOTS.enter(slot_index(), SlotState.IDLE)  # the process that had this slot may have been killed in a game
    pin(slot_index())


def slot_index() -> int:
    """Which slot of its worker this process is, from 0."""
    return getattr(current_process(), "index", 0)


def pin(slot: int) -> None:
    """Bind this process, and what it starts, to the core of this slot (from 0)."""
    cores = sorted(os.sched_getaffinity(0))
    if os.environ.get("DUARENA_PIN", "1") != "0":
        os.sched_setaffinity(0, {cores[slot % len(cores)]})
