"""The site's side of the queues: the workers' app with the site's tasks and its clock.

The record keeper is a worker of this app on the queue ``records``, with one process: it is the only
writer of results. Game workers run ``workers.celery`` alone and know nothing of this module.
"""

from __future__ import annotations

import gc
import os
from typing import Any

# Before the workers' app is made: only then does Celery set Django up in its processes.
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "tournament.settings")

from celery.signals import worker_ready

from workers.celery import app

__all__ = ["app"]

DISPATCH_SECONDS = 1.0
SWEEP_SECONDS = 5.0

app.conf.include = [*(app.conf.include or ()), "tournament.tasks"]
app.conf.task_routes = {**(app.conf.task_routes or {}), "tournament.*": {"queue": "records"}}
# What a stopped keeper missed is not made up for: each of these does all there is to do.
app.conf.beat_schedule = {
    "dispatch": {
        "task": "tournament.dispatch",
        "schedule": DISPATCH_SECONDS,
        "options": {"queue": "records", "expires": 5 * DISPATCH_SECONDS},
    },
    "sweep": {
        "task": "tournament.sweep",
        "schedule": SWEEP_SECONDS,
        "options": {"queue": "records", "expires": 5 * SWEEP_SECONDS},
    },
}


@worker_ready.connect
def _keeper_is_up(**_: Any) -> None:
    from tournament.services.sweep import keeper_started

    keeper_started()
    gc.freeze()  # what is there now stays: with all that reports make it would be looked at again and again
