"""The names of the queues and the functions that send to them.

The database holds everything that must be played; a lost message is sent again.
"""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from workers.service.messaging.commands import Command, commands_queue

if TYPE_CHECKING:
    from workers.jobs import GameJob
    from workers.service.compliance import ComplianceJob

GAMES = "games"
VALIDATION = "validation"
RECORDS = "records"


def send_jobs(jobs: Sequence[GameJob], queue: str = GAMES) -> None:
    """Queue jobs in one message, for the first free worker of that queue."""
    _send("workers.play", [job.to_json() for job in jobs], queue)


def send_check(job: ComplianceJob) -> None:
    """Queue a bot's compliance check."""
    _send("workers.examine", job.to_json(), VALIDATION)


def send_sweep(as_of: datetime.datetime) -> None:
    """Queue a sweep behind all reports that wait now."""
    _send("tournament.sweep", as_of.isoformat(), RECORDS)


def send_command(command: Command) -> None:
    """Send a command to the main process of a worker, which ignores it after some time."""
    from tournament.celery import app

    with app.producer_or_acquire() as producer:
        producer.publish(
            command.to_json(), routing_key=commands_queue(command.worker), exchange="", serializer="json"
        )


def clear_games() -> None:
    """Delete the waiting jobs; jobs that a worker holds are not affected."""
    from tournament.celery import app

    with app.connection_for_write() as connection:
        channel: Any = connection.default_channel
        channel.queue_declare(queue=GAMES)
        channel.queue_purge(queue=GAMES)


def queue_length(name: str) -> int:
    """How many messages wait, without those that a worker holds."""
    from tournament.celery import app

    with app.connection_for_write() as connection:
        channel: Any = connection.default_channel  # the stubs lack attributes that all transports have
        return int(channel.queue_declare(queue=name).message_count)


def _send(task: str, argument: object, queue: str) -> None:
    # Imported here: a page or a command that sends nothing needs no broker.
    from tournament.celery import app

    app.send_task(task, args=[argument], queue=queue)
