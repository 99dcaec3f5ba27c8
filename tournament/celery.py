"""The site's Celery app: the workers' app with the site's tasks and its schedule.

The record keeper is a worker of this app on the queue ``records``, with one process: it is the only
writer of results. Game workers run only ``workers.service.celery`` and do not import this module.
"""

from __future__ import annotations

import logging
import os
from typing import Any

from celery.signals import after_setup_logger

# Before the workers' app is created: only then does Celery set Django up in its processes.
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "tournament.settings")

from django.conf import settings

from tournament.keyring import SiteKeyring
from tournament.services.results.received import SiteMemory
from workers.service.celery import app, use_keyring
from workers.service.messaging.quotas import SenderQuotas

__all__ = ["app"]

DISPATCH_SECONDS = 1.0
SWEEP_SECONDS = 5.0
ESTIMATE_SECONDS = 10.0
PAGES_SECONDS = 3.0
RECOMPUTE_SECONDS = 5.0
PRUNE_SECONDS = 30.0

use_keyring(SiteKeyring(), SiteMemory(), SenderQuotas(settings.WORKER_MESSAGES))
app.conf.include = ["tournament.tasks"]  # not the workers' tasks: the site plays no games
app.conf.task_routes = {**(app.conf.task_routes or {}), "tournament.*": {"queue": "records"}}
# Runs that a stopped keeper missed are not repeated: each run does everything that is due.
app.conf.beat_schedule = {
    "dispatch": {
        "task": "tournament.dispatch",
        "schedule": DISPATCH_SECONDS,
        "options": {"queue": "records", "expires": 5 * DISPATCH_SECONDS},
    },
    "estimates": {
        "task": "tournament.estimates",
        "schedule": ESTIMATE_SECONDS,
        "options": {"queue": "records", "expires": 2 * ESTIMATE_SECONDS},
    },
    "pages": {
        "task": "tournament.pages",
        "schedule": PAGES_SECONDS,
        "options": {"queue": "records", "expires": 2 * PAGES_SECONDS},
    },
    "recompute": {
        "task": "tournament.recompute",
        "schedule": RECOMPUTE_SECONDS,
        "options": {"queue": "records", "expires": 2 * RECOMPUTE_SECONDS},
    },
    "prune": {
        "task": "tournament.prune",
        "schedule": PRUNE_SECONDS,
        "options": {"queue": "records", "expires": 2 * PRUNE_SECONDS},
    },
    "sweep": {
        "task": "tournament.sweep",
        "schedule": SWEEP_SECONDS,
        "options": {"queue": "records", "expires": 5 * SWEEP_SECONDS},
    },
}


@after_setup_logger.connect
def _log_once(**_: Any) -> None:
    """Celery's handler writes the lines of the site too."""
    logging.getLogger("tournament").handlers.clear()
