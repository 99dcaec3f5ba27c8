"""The Celery task of a worker: a free slot asks its site for work."""

from __future__ import annotations

from workers.service.celery import TASK, app
from workers.service.context import this_slot


@app.task(name=TASK)
def play() -> None:
    """Play all that the site has for this slot now."""
    this_slot().take_turn()
