"""A worker's heartbeat: what it stores, and the validations that can begin because of it."""

from __future__ import annotations

import datetime

from django.db import transaction

from tournament.models import Token
from tournament.services.uploads import availability as uploads
from tournament.services.uploads.validation import validate_waiting
from tournament.services.work import workers
from workers.jobs import Admission, Heartbeat


@transaction.atomic
def receive_heartbeat(heartbeat: Heartbeat, token: Token, now: datetime.datetime) -> Admission:
    """Handle a heartbeat; if uploads are run from now on because of it, start the waiting validations.

    Raises ``WorkerNameError``.
    """
    before = heartbeat.stopping or uploads.current_state().are_run
    refused = workers.is_refusing(heartbeat.worker)
    worker = workers.record_heartbeat(heartbeat, token, now)
    # The worker may have stored its self-test, which counts for the site, before its heartbeat came.
    if (not before or (refused and not worker.refusal)) and uploads.current_state().are_run:
        validate_waiting()
    return Admission(not worker.why, worker.why)
