"""The site's Celery app: the workers' app with the site's tasks and its schedule.

The record keeper is a worker of this app on the queue ``records``, with one process: it is the only
writer of results. It also reads the queue of the beat, whose messages do not wait behind those of workers.
Game workers run only ``workers.service.celery`` and do not import this module.
"""

from __future__ import annotations

import logging
import os
from typing import Any

from celery.signals import after_setup_logger, celeryd_after_setup

# Before the workers' app is created: only then does Celery set Django up in its processes.
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "tournament.settings")

from django.conf import settings
from kombu import Queue

from tournament.keyring import BEAT, SiteKeyring
from tournament.services.results.received import SiteMemory
from workers.service.celery import app, use_keyring
from workers.service.messaging.quotas import SenderQuotas

__all__ = ["app"]

PERIODS_S = {"dispatch": 1.0, "estimates": 10.0, "pages": 3.0, "recompute": 5.0, "prune": 30.0, "sweep": 5.0}
"""How often the beat sends each of its tasks."""

use_keyring(SiteKeyring(), SiteMemory(), SenderQuotas(settings.WORKER_MESSAGES))
app.conf.include = ["tournament.tasks"]  # not the workers' tasks: the site plays no games
app.conf.task_routes = {**(app.conf.task_routes or {}), "tournament.*": {"queue": "records"}}
# Runs that a stopped keeper missed are not repeated: each run does everything that is due.
app.conf.beat_schedule = {
    name: {
        "task": f"tournament.{name}",
        "schedule": period,
        "options": {"queue": BEAT, "expires": (5 if name in {"dispatch", "sweep"} else 2) * period},
    }
    for name, period in PERIODS_S.items()
}


@celeryd_after_setup.connect
def _take_from_beat(instance: Any, **_: Any) -> None:
    """Have the record keeper read the queue of the beat too; Kombu takes from both by turns."""
    instance.app.amqp.queues.select_add(Queue(BEAT))


@after_setup_logger.connect
def _log_once(**_: Any) -> None:
    """Celery's handler writes the lines of the site too."""
    logging.getLogger("tournament").handlers.clear()
