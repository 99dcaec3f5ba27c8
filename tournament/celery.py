"""The site's Celery app: the record keeper's tasks, and their schedule.

``celery -A tournament worker`` is the record keeper, with one process; it is the only writer of results.
``celery -A tournament beat`` sends its tasks. Workers that play games run ``workers.service.celery``.
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

from tournament.queues import redis_url
from tournament.sites import end_without_site
from workers.service.broker import KEEPER, broker_settings
from workers.watchdog import note_task

__all__ = ["app"]

RECORD = "tournament.record"
PERIODS_SECONDS = {
    "record": 1.0,
    "sweep": 5.0,
    "tend": 1.0,
    "ratings": 3.0,
    "recompute": 5.0,
    "estimates": 10.0,
    "samples": 5.0,
    "mails": 60.0,
    "digests": 10.0,
    "evidence": 1.0,
    "prune": 30.0,
}
"""How often the beat sends each task."""
EXPIRES_SECONDS = 60.0
"""The messages that have waited for longer have no effect; those of the next period have."""

for signal_ in (beat_init, worker_ready, task_prerun, task_postrun, after_task_publish):
    signal_.connect(note_task)
import_modules.connect(end_without_site)  # sent when a worker or the beat begins
app = Celery("tournament", include=["tournament.tasks"])
app.conf.update(
    broker_settings(redis_url(), KEEPER), enable_utc=True, worker_concurrency=1, worker_pool="solo"
)
app.conf.beat_schedule = {
    name: {"task": f"tournament.{name}", "schedule": period_s, "options": {"expires": EXPIRES_SECONDS}}
    for name, period_s in PERIODS_SECONDS.items()
}


@after_setup_logger.connect
def _log_once(**_: Any) -> None:
    """Celery's handler writes the lines of the site too; the beat writes none for each task that it sends."""
    logging.getLogger("tournament").handlers.clear()
    logging.getLogger("celery.beat").setLevel(logging.WARNING)
