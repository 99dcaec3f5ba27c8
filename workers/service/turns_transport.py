"""A transport of Celery whose messages have no content: a *turn* only says that a task should run now.

A turn is an item of a Redis list, whatever its bytes. The list is shortened without reading the item, and
Celery gets a constant message: the list's task without arguments. So whoever can write to Redis can start
these tasks more often or remove turns, and nothing else.

A thread of the consuming process takes turns while a process of its pool is free. It also makes turns of
its own, so that a task runs every few seconds without Redis. Errors of Redis stay in this thread: Celery
never loses its connection.
"""

from __future__ import annotations

import base64
import json
import logging
import os
import random
import threading
import time
import uuid
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from queue import Empty
from typing import Any

import redis
from celery import Celery
from celery.signals import after_setup_logger, after_setup_task_logger
from kombu import Exchange, Queue
from kombu.transport import TRANSPORT_ALIASES, virtual

from workers.logs import make_formatter, use_json
from workers.service.turns import open_redis, push, take

RETRY_SECONDS = 1.0
_BODY = base64.b64encode(
    json.dumps([[], {}, {"callbacks": None, "errbacks": None, "chain": None, "chord": None}]).encode()
).decode()

log = logging.getLogger("workers.service.turns_transport")


@dataclass(frozen=True, slots=True)
class TurnOptions:
    """How a process gets its turns: see ``use_turns``."""

    url: str
    tasks: Mapping[str, str]
    poll_s: float
    idle_s: float
    may_take: Callable[[], bool]


def use_turns(
    app: Celery,
    url: str,
    tasks: Mapping[str, str],
    *,
    poll_s: float = 0.2,
    idle_s: float = 5.0,
    may_take: Callable[[], bool] = lambda: True,
) -> None:
    """Have an app take turns from the lists ``tasks``, each with the name of its task.

    ``url`` is the address of a Redis, or empty for none. The lists are polled every ``poll_s`` seconds while
    a process of the pool is free and ``may_take`` returns true; every ``idle_s`` seconds at most each free
    process gets a turn in any case.
    """
    TRANSPORT_ALIASES["turns"] = f"{__name__}:TurnsTransport"
    first = next(iter(tasks))
    app.conf.update(
        broker_url="turns://localhost",
        broker_transport_options={"turns": TurnOptions(url, tasks, poll_s, idle_s, may_take)},
        task_acks_late=True,  # a process of the pool is free once its turn is acknowledged
        task_default_exchange="",
        task_default_queue=first,
        task_default_routing_key=first,
        task_ignore_result=True,
        task_queues=[Queue(name, Exchange(""), routing_key=name) for name in tasks],
        task_reject_on_worker_lost=False,
        task_routes={task: {"queue": name} for name, task in tasks.items()},
        worker_detect_quorum_queues=False,
        worker_enable_remote_control=False,
        worker_prefetch_multiplier=1,
        worker_send_task_events=False,
    )


class TurnReader:
    """The thread that takes turns; each goes to ``deliver`` as the name of its list.

    ``count_free`` returns the number of free processes. After a fork the child has no thread.
    """

    def __init__(
        self, options: TurnOptions, deliver: Callable[[str], None], count_free: Callable[[], int]
    ) -> None:
        self._options = options
        self._deliver = deliver
        self._count_free = count_free
        self._client = open_redis(options.url) if options.url else None
        self._next_try = self._next_own = float("-inf")
        self._trouble = ""
        self._closed = threading.Event()
        self._thread = threading.Thread(target=self._run, name="turns", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def close(self) -> None:
        """End the thread, within a moment; may be called by it."""
        self._closed.set()

    def _run(self) -> None:
        while not self._closed.wait(self._options.poll_s):
            try:
                self.step(time.monotonic())
            except Exception:
                log.exception("turns cannot be taken")

    def step(self, now: float) -> None:
        """Take what there is at ``now``, seconds of a monotonic clock."""
        if not self._options.may_take():
            self._next_own = float("-inf")
            return
        if now >= self._next_own:
            self._next_own = now + random.uniform(0.8, 1.0) * self._options.idle_s
            for number in range(self._count_free()):
                self._deliver(self._names[number % len(self._names)])
        elif self._client is not None and now >= self._next_try:
            self._take_from(self._client, now)

    @property
    def _names(self) -> list[str]:
        return list(self._options.tasks)

    def _take_from(self, client: redis.Redis, now: float) -> None:
        try:
            for name in self._names:
                if free := self._count_free():
                    for _ in range(take(client, name, free)):
                        self._deliver(name)
        except redis.RedisError as error:
            self._next_try = now + RETRY_SECONDS
            if not self._trouble:
                log.error("no turns are read from Redis: %s", error)
            self._trouble = str(error)
        else:
            if self._trouble:
                log.warning("turns are read from Redis again")
            self._trouble = ""


class TurnsChannel(virtual.Channel):
    """A channel with the state of its messages in memory only."""

    do_restore = False
    from_transport_options = (*virtual.Channel.from_transport_options, "turns")
    turns: TurnOptions
    """Set from the transport options of the connection."""

    def _put(self, queue: str, message: object, **_: Any) -> None:
        """Send: the message itself is discarded."""
        with open_redis(self.turns.url) as client:
            push(client, queue)

    def _get(self, queue: str, timeout: float | None = None) -> Any:
        raise Empty

    def _purge(self, queue: str) -> int:
        return 0


class TurnsTransport(virtual.Transport):
    """Delivers turns to the event loop of Celery's worker, and sends them."""

    Channel = TurnsChannel
    driver_type = "turns"
    driver_name = "turns"
    implements = virtual.Transport.implements.extend(asynchronous=True)
    connection_errors = (
        *virtual.Transport.connection_errors,
        redis.ConnectionError,
        redis.TimeoutError,
        OSError,
    )
    channel_errors = (*virtual.Transport.channel_errors, redis.RedisError)

    def __init__(self, client: Any, **more: Any) -> None:
        super().__init__(client, **more)
        self._options: TurnOptions = client.transport_options["turns"]
        self._taken: deque[str] = deque()
        self._wake = -1
        self._reader: TurnReader | None = None

    def register_with_event_loop(self, connection: Any, loop: Any) -> None:
        self._wake = os.eventfd(0, os.EFD_NONBLOCK | os.EFD_CLOEXEC)
        loop.add_reader(self._wake, self._deliver_taken)
        self._reader = TurnReader(self._options, self._on_taken, self._count_free)
        self._reader.start()

    def close_connection(self, connection: Any) -> None:
        if self._reader is not None:
            self._reader.close()
        super().close_connection(connection)

    def _on_taken(self, name: str) -> None:
        """Called by the reader's thread."""
        self._taken.append(name)
        os.eventfd_write(self._wake, 1)

    def _count_free(self) -> int:
        """Called by the reader's thread."""
        channels: Any = self.channels
        taking = [channel for channel in channels if channel._consumers]
        free = [channel.qos.can_consume_max_estimate() or 0 for channel in taking]
        return sum(free) - len(self._taken)

    def _deliver_taken(self) -> None:
        os.eventfd_read(self._wake)
        while self._taken:
            name = self._taken.popleft()
            if name in (self._callbacks or ()):  # else the consumer has just been cancelled
                self._deliver(_message(self._options.tasks[name], name), name)


def _message(task: str, queue: str) -> dict[str, Any]:
    """The constant message for a turn of a list."""
    name = str(uuid.uuid4())
    return {
        "body": _BODY,
        "content-type": "application/json",
        "content-encoding": "utf-8",
        "headers": {"lang": "py", "task": task, "id": name, "root_id": name, "retries": 0},
        "properties": {
            "delivery_tag": name,
            "delivery_info": {"exchange": "", "routing_key": queue},
            "body_encoding": "base64",
            "correlation_id": name,
        },
    }


@after_setup_logger.connect
def _use_formatter(logger: logging.Logger, format: str, **_: Any) -> None:  # noqa: A002  # Celery's name
    for handler in logger.handlers:
        handler.setFormatter(make_formatter(format))
    for name in ("celery.worker.strategy", "celery.app.trace"):  # two lines a turn; most turns find nothing
        logging.getLogger(name).setLevel(logging.WARNING)


@after_setup_task_logger.connect
def _use_json(logger: logging.Logger, **_: Any) -> None:
    use_json(logger)
