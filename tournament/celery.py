"""The site's Celery app: the record keeper's one task, and its schedule.

The record keeper is a worker of this app with one process; it is the only writer of results. Workers that
play games run ``workers.service.celery``.
"""

from __future__ import annotations

import logging
import os
from typing import Any

from celery import Celery
from celery.signals import (
    after_setup_logger,
    after_task_publish,
    beat_init,
    import_modules,
    task_postrun,
    task_prerun,
    worker_ready,
)

# Before the app is created: only then does Celery set Django up in its processes.
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "tournament.settings")

from tournament.management.sites import end_without_site
from tournament.queues import redis_url
from workers.service.turns import LOOK
from workers.service.turns_transport import use_turns
from workers.watchdog import note_task

__all__ = ["app"]

TASK = "tournament.look"
PERIOD_S = 1.0

for signal_ in (beat_init, worker_ready, task_prerun, task_postrun, after_task_publish):
    signal_.connect(note_task)
import_modules.connect(end_without_site)  # sent when a worker or the beat begins
app = Celery("tournament", include=["tournament.tasks"])
app.conf.update(enable_utc=True, worker_hijack_root_logger=False, worker_redirect_stdouts=False)
use_turns(app, redis_url(), {LOOK: TASK}, poll_s=0.1)
app.conf.beat_schedule = {"look": {"task": TASK, "schedule": PERIOD_S}}


@after_setup_logger.connect
def _log_once(**_: Any) -> None:
    """Celery's handler writes the lines of the site too; the beat writes none for each task that it sends."""
    logging.getLogger("tournament").handlers.clear()
    logging.getLogger("celery.beat").setLevel(logging.WARNING)
