"""The Celery app of a game worker, configured by environment variables.

    REDIS_URL         the broker, as redis://host:6379/0 or redis+socket:///path?virtual_host=0
    DUARENA_BUNDLES   the store folder of bundles
    DUARENA_CACHE     where bundles are unpacked
    DUARENA_PIN       "0" lets the system choose the core of each slot
    DUARENA_NAME      the worker's name
    DUARENA_TOKEN     a worker token, with which the worker registers at DUARENA_SITE and fetches bundles
    DUARENA_LOG       "json" for logs with a JSON object a line
    DUARENA_KEY       the worker's key, if the site has given it one; it needs no token to register then

A message leaves the broker when a worker takes it, and a worker takes none twice. The message of a killed
worker is lost; the site's leases expire and let other workers play its games. Results are sent as separate
messages.
"""

from __future__ import annotations

import logging
import os
import socket
from typing import Any

from billiard import pool as billiard_pool
from billiard.process import current_process
from celery import Celery
from celery.signals import (
    after_setup_logger,
    after_setup_task_logger,
    worker_process_init,
    worker_shutting_down,
)
from kombu import Queue

from workers.logs import make_formatter, use_json
from workers.service.messaging.quotas import SenderQuotas
from workers.service.messaging.replays import MessageMemory
from workers.service.messaging.signing import RECORDS, Keyring, Signer
from workers.service.messaging.transport import options_of, use_hardened_transport
from workers.service.pulse import connect_pulse
from workers.service.restart import RESTART
from workers.service.slot_watch import start_beat
from workers.service.slots import SLOTS, SlotState

GAMES = "games"
VALIDATION = "validation"
"""Compliance checks and validation games. A separate worker takes them, so they do not wait for games.

Each worker of a kind has a queue of its own, see ``messaging.signing.own_queue``.
"""
DEFAULT_BROKER = "redis://127.0.0.1:6379/0"
VISIBILITY_SECONDS = 6 * 3600
"""After this time the site takes a message again that it has not acknowledged, because it was killed."""
SILENCE_SECONDS = 20
"""After this time without data the connection counts as lost: the network may report no error."""
CONNECT_SECONDS = 5
SOFT_SHUTDOWN_SECONDS = 4
"""The time for a job to return its game when the worker must stop at once."""
RESULTS_READ_SECONDS = 2.0
"""How long a stopping slot waits until the main process has read its last results."""

use_hardened_transport()
connect_pulse()
app = Celery("duarena", broker=os.environ.get("REDIS_URL", DEFAULT_BROKER), include=["workers.service.tasks"])
app.conf.update(
    accept_content=["json"],
    broker_connection_max_retries=None,
    broker_connection_retry_on_startup=True,
    broker_transport_options={
        "priority_steps": [0],
        "visibility_timeout": VISIBILITY_SECONDS,
        "socket_connect_timeout": CONNECT_SECONDS,
        "socket_keepalive": True,
        # Both are needed: TCP sends no keepalive probes while sent data is unacknowledged.
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
    task_queues=[Queue(RECORDS)],
    # Not queued again at once: a job that kills its worker process would be delivered without end.
    task_reject_on_worker_lost=False,
    task_routes={"tournament.*": {"queue": RECORDS}},
    task_serializer="json",
    # With it, a message could stop every process; see ``messaging.commands``.
    worker_enable_remote_control=False,
    worker_hijack_root_logger=False,
    worker_prefetch_multiplier=1,
    worker_redirect_stdouts=False,
    worker_soft_shutdown_timeout=SOFT_SHUTDOWN_SECONDS,
)
# After a lost connection Celery discards results that it has not read, so billiard would wait for them until
# its limit, which is 30 seconds and has no setting. The reports of games are sent before and do not need it.
billiard_pool.GUARANTEE_MESSAGE_CONSUMPTION_RETRY_LIMIT = round(
    RESULTS_READ_SECONDS / billiard_pool.GUARANTEE_MESSAGE_CONSUMPTION_RETRY_INTERVAL
)


def use_keyring(keyring: Keyring, memory: MessageMemory, quotas: SenderQuotas | None = None) -> None:
    """Sign and verify all messages of this process from now on; call it before the first connection.

    ``memory`` has the messages that were received before; ``quotas`` limit those of each worker.
    """
    options = options_of(Signer(keyring, memory, quotas))
    app.conf.broker_transport_options = {**app.conf.broker_transport_options, **options}


@after_setup_logger.connect
def _use_formatter(logger: logging.Logger, format: str, **_: Any) -> None:  # noqa: A002  # Celery's name
    for handler in logger.handlers:
        handler.setFormatter(make_formatter(format))


@after_setup_task_logger.connect
def _use_json(logger: logging.Logger, **_: Any) -> None:
    use_json(logger)


@worker_shutting_down.connect
def _stop_slots(**_: Any) -> None:
    SLOTS.stop()
    RESTART.note_stop()


@worker_process_init.connect
def _set_up_slot(**_: Any) -> None:
    """Pin a slot and its engines to one core: to wake a process on another core costs ten times as much.

    From now on the slot also shows that it runs.
    """
    SLOTS.enter(slot_index(), SlotState.IDLE)  # the process that had this slot may have been killed in a game
    pin(slot_index())
    start_beat(SLOTS, slot_index())


def slot_index() -> int:
    """The number of this process among the slots of its worker, from 0."""
    return getattr(current_process(), "index", 0)


def pin(slot: int) -> None:
    """Bind this process and the processes it starts to the core of a slot (from 0)."""
    cores = sorted(os.sched_getaffinity(0))
    if os.environ.get("DUARENA_PIN", "1") != "0":
        os.sched_setaffinity(0, {cores[slot % len(cores)]})
