"""What the site says to the queues: jobs out, and how long a queue is.

The database holds all that must be played; whatever is lost here is sent again.
"""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from workers.examination import ExamJob
    from workers.jobs import GameJob

GAMES = "games"
VALIDATION = "validation"
RECORDS = "records"


def send_jobs(jobs: Sequence[GameJob], queue: str = GAMES) -> None:
    """Queue jobs in one message, for whichever worker of that queue is free first."""
    _send("workers.play", [job.to_json() for job in jobs], queue)


def send_exam(job: ExamJob) -> None:
    """Queue the examination of a bot."""
    _send("workers.examine", job.to_json(), VALIDATION)


def send_sweep(as_of: datetime.datetime) -> None:
    """Queue a sweep behind all reports that wait now."""
    _send("tournament.sweep", as_of.isoformat(), RECORDS)


def tell_worker(name: str, run: str, *, admitted: bool, why: str) -> None:
    """Whether this run of a worker is to take jobs; lost if it is not there to hear it."""
    from tournament.celery import app

    word = {"run": run, "admitted": admitted, "why": why}
    app.control.broadcast("workers_standing", arguments=word, destination=[name])


def clear_games() -> None:
    """Drop the jobs that wait; those a worker holds are not among them."""
    from tournament.celery import app

    with app.connection_for_write() as connection:
        channel: Any = connection.default_channel
        channel.queue_declare(queue=GAMES)
        channel.queue_purge(queue=GAMES)


def queue_length(name: str) -> int:
    """How many messages wait; those a worker holds are not among them."""
    from tournament.celery import app

    with app.connection_for_write() as connection:
        channel: Any = connection.default_channel  # the stubs leave out what all transports have
        return int(channel.queue_declare(queue=name).message_count)


def _send(task: str, argument: object, queue: str) -> None:
    # Imported late: a page or a command that sends nothing needs no broker.
    from tournament.celery import app

    app.send_task(task, args=[argument], queue=queue)
