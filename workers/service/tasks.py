"""The Celery tasks of the queues ``games`` and ``validation``. Each passes its message to the consumer."""

from __future__ import annotations

from typing import Any

from workers.service.celery import app
from workers.service.context import slot_consumer
from workers.service.messaging.sending import PROGRESS


@app.task(name="workers.play")
def play(message: Any) -> None:
    """Play one job or a list of jobs; report games as they end, and return the rest after a stop."""
    PROGRESS.flush_now()  # the first progress message reports that the games have begun
    slot_consumer().play(message if isinstance(message, list) else [message])


@app.task(name="workers.examine")
def check(message: Any) -> None:
    """Run the compliance check of a bot; send news of it while it runs, and always a last one."""
    slot_consumer().check(message)
