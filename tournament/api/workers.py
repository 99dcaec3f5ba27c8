"""Registers workers on other hosts: each gets the key with which it signs its messages."""

from __future__ import annotations

from django.http import HttpRequest
from django.utils import timezone

from tournament.api.bundles import check_worker
from tournament.api.envelope import Answer, ApiError, api
from tournament.models import Token
from tournament.sentences import as_sentence
from tournament.services.accounts.tokens import REQUEST_COST
from tournament.services.accounts.worker_keys import WorkerNameError, WorkerNameTaken, register_worker
from tournament.services.uploads.availability import QUEUES


@api("POST", Token.Scope.WORKER, cost=REQUEST_COST)
def register(request: HttpRequest, token: Token) -> Answer:
    """Bind a worker's ``name`` to the token and return its key; ``queue`` is the kind of its jobs."""
    check_worker(request, token)
    if request.POST.get("queue") not in QUEUES:
        raise ApiError(400, f"The queue is one of {', '.join(sorted(QUEUES))}.")
    try:
        known = register_worker(request.POST.get("name", ""), token, timezone.now())
    except WorkerNameError as error:
        raise ApiError(400, as_sentence(str(error))) from None
    except WorkerNameTaken as error:
        raise ApiError(409, as_sentence(str(error))) from None
    return {"name": known.name, "key": known.key}
