"""The Celery task of a worker: a free slot asks its site for work."""

from __future__ import annotations

from workers.service import worker as worker  # its main process has a heartbeat
from workers.service.broker import PLAY
from workers.service.celery import app
from workers.service.context import this_slot


@app.task(name=PLAY)
def play() -> None:
    """Play all that the site has for this slot now."""
    this_slot().take_turn()
