"""The names of the queues and the functions that send to them.

The database holds everything that must be played; a lost message is sent again.
"""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

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


def send_admission(name: str, run: str, *, admitted: bool, why: str) -> None:
    """Tell a worker's current run whether it gets jobs; the message is lost if the worker is not running."""
    from tournament.celery import app

    arguments = {"run": run, "admitted": admitted, "why": why}
    app.control.broadcast("workers_standing", arguments=arguments, destination=[name])


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
