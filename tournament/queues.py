"""The names of the queues and the functions that send to them.

Each worker has a queue of its own for its jobs and one for commands. The database holds everything that must
be played; a lost message is sent again. A worker may be able to put a key of another type in the place of its
queue: its messages are then lost, and the next sweep quarantines it (``QueueBroken``).
"""

from __future__ import annotations

import datetime
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django.db import transaction
from kombu import Queue
from redis.exceptions import AuthenticationError, ResponseError

from tournament.keyring import BEAT as BEAT
from workers.logs import FIELDS
from workers.service.messaging.commands import Command
from workers.service.messaging.signing import COMMANDS, own_queue
from workers.service.messaging.signing import RECORDS as RECORDS
from workers.service.messaging.transport import QueueBroken as QueueBroken

if TYPE_CHECKING:
    from workers.jobs import ComplianceJob, GameJob

GAMES = "games"
VALIDATION = "validation"
"""The kinds of workers."""

log = logging.getLogger("tournament.queues")


def send_on_commit(send: Callable[..., None], *arguments: object) -> None:
    """Call a function of this module when the transaction is committed.

    A failure is logged, and prevents no other call after the same transaction.
    """

    def send_now() -> None:  # not a partial: Django's log of a failure needs a name
        send(*arguments)

    transaction.on_commit(send_now, robust=True)


def send_jobs(jobs: Sequence[GameJob], queue: str) -> None:
    """Queue jobs in one message; ``queue`` is a worker's own."""
    games = [game.key for job in jobs for game in job.games]
    told = {"job": jobs[0].job, "games": games}
    log.info("job %s is sent to %s: %d games", jobs[0].job, queue, len(games), extra={FIELDS: told})
    _send_to_worker(queue, lambda: _send("workers.play", [job.to_json() for job in jobs], queue))


def send_check(job: ComplianceJob, worker: str) -> None:
    """Queue a bot's compliance check for a worker."""
    queue = own_queue(VALIDATION, worker)
    _send_to_worker(queue, lambda: _send("workers.examine", job.to_json(), queue))


def send_sweep(as_of: datetime.datetime) -> None:
    """Queue a sweep behind all reports that wait now."""
    _send("tournament.sweep", as_of.isoformat(), RECORDS)


def send_command(command: Command) -> None:
    """Send a command to the main process of a worker, which ignores it after some time."""
    queue = own_queue(COMMANDS, command.worker)
    _send_to_worker(queue, lambda: _publish(command, queue))


def clear_queue(name: str) -> None:
    """Delete the messages that wait; those that a worker has taken are not affected."""
    from tournament.celery import app

    with app.connection_for_write() as connection:
        channel: Any = connection.default_channel  # the stubs lack attributes that all transports have
        channel.queue_purge(queue=name)


def queue_length(name: str) -> int:
    """How many messages wait, without those that a worker has taken. Raises ``QueueBroken``."""
    from tournament.celery import app

    with app.connection_for_write() as connection:
        channel: Any = connection.default_channel
        return int(channel.length(name))


@dataclass(frozen=True, slots=True)
class BrokerState:
    """How many messages wait in each queue, and the bytes of memory in use; None if they may not be read.

    ``trouble`` says what the broker does instead of working, such as "does not answer"; empty if it works.
    """

    lengths: dict[str, int]
    memory: int | None
    trouble: str = ""


def look_at_broker(names: Sequence[str]) -> BrokerState:
    """The state of the broker, with these queues, in one step; takes seconds if it does not answer."""
    from tournament.celery import app

    with app.connection_for_write() as connection:
        try:
            channel: Any = connection.channel()
            with channel.conn_or_acquire() as client:
                pipeline = client.pipeline(transaction=False)
                for name in names:
                    pipeline.llen(name)
                pipeline.info("memory")
                *lengths, memory = pipeline.execute(raise_on_error=False)
        except (*connection.connection_errors, *connection.channel_errors) as error:
            return BrokerState({}, None, describe_broker_error(error))
    known = {name: length for name, length in zip(names, lengths, strict=True) if isinstance(length, int)}
    return BrokerState(known, memory.get("used_memory") if isinstance(memory, dict) else None)


def describe_broker_error(error: BaseException) -> str:
    """What a Redis that cannot be used does, as a clause without its subject."""
    if isinstance(error, AuthenticationError):
        return f"refuses the user or password of REDIS_URL ({str(error).rstrip('.')})"
    if isinstance(error, ResponseError):
        return f"refuses a command ({str(error).rstrip('.')})"
    return "does not answer"


def _send_to_worker(queue: str, send: Callable[[], None]) -> None:
    """Send a message to a worker; if its queue is broken, the message is dropped."""
    try:
        send()
    except QueueBroken as broken:
        log.error("a message is dropped: %s", broken)


def _publish(command: Command, queue: str) -> None:
    from tournament.celery import app

    with app.producer_or_acquire() as producer:
        producer.publish(command.to_json(), routing_key=queue, exchange="", serializer="json")


def _send(task: str, argument: object, queue: str) -> None:
    # Imported here: a page or a command that sends nothing needs no broker.
    from tournament.celery import app

    app.send_task(task, args=[argument], queue=Queue(queue))  # type: ignore[arg-type]  # a name would be kept for ever
