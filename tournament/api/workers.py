"""Requests of workers: who may send them, in what form; heartbeats and bundles. Slots ask in `work.py`."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any

import msgspec
from django.conf import settings
from django.db import InterfaceError, OperationalError, connection
from django.http import FileResponse, HttpRequest, UnreadablePostError
from django.http.response import HttpResponseBase
from django.utils import timezone
from django.views.decorators.csrf import csrf_exempt

from tournament import access
from tournament.api.envelope import Answer, ApiError, answer_of, api, find_token_of
from tournament.models import BotVersion, Bundle, Token, Worker
from tournament.sentences import as_sentence
from tournament.services.accounts.tokens import REQUEST_COST
from tournament.services.heartbeats import receive_heartbeat
from tournament.services.work.workers import WorkerNameError, find_own, why_foreign
from workers.bundles.bundle_site import PROTOCOL_HEADER
from workers.jobs import PROTOCOL, Heartbeat, JobError
from workers.messages import Message, decode

WRITE_LOCK_SECONDS = 2
"""The time a request waits for other writers on SQLite: a worker tries again, a thread must not be held."""
MAX_REQUESTS, REQUESTS_A_SECOND = 600.0, 300.0
"""The requests at once, and requests a second, for each worker token and process of the site."""
OWN_COST = 10.0
"""What a request of a user's own worker counts, which has few slots."""
SCOPES = (Token.Scope.WORKER, Token.Scope.OWN_WORKER)


class TokenBuckets:
    """Limits the requests of each token, in memory."""

    def __init__(self) -> None:
        self._left: dict[int, tuple[float, float]] = {}
        self._lock = threading.Lock()

    def take(self, token: int, now: float, cost: float = 1.0) -> bool:
        """Count a request; False if the token has sent too many. ``now`` is a time in seconds."""
        with self._lock:
            left, at = self._left.get(token, (MAX_REQUESTS, now))
            left = min(MAX_REQUESTS, left + max(0.0, now - at) * REQUESTS_A_SECOND)
            self._left[token] = (max(0.0, left - cost), now)
            return left >= cost


_BUCKETS = TokenBuckets()


def worker_api(
    view: Callable[..., Answer | HttpResponseBase],
) -> Callable[..., HttpResponseBase]:
    """Decorate a view of POST requests of workers: ``view(request, token, …)``, as ``envelope.api`` does."""

    @csrf_exempt
    @wraps(view)
    def answer(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        def act() -> Answer | HttpResponseBase:
            with _waiting_briefly():
                token = find_token_of(request, "POST", SCOPES)
                cost = OWN_COST if token.is_of_own_worker else 1.0
                if not _BUCKETS.take(token.pk, time.monotonic(), cost):
                    raise ApiError(429, "This token sends too many requests.", {"Retry-After": "1"})
                check_worker(request, token)
                return view(request, token, *args, **kwargs)

        return answer_of(act)

    return answer


@worker_api
def heartbeat(request: HttpRequest, token: Token) -> Answer:
    """Store a worker's heartbeat; the answer says whether it gets work."""
    sent = read(Heartbeat, request)
    try:
        admission = receive_heartbeat(sent, token, timezone.now())
    except WorkerNameError as error:
        raise ApiError(403, as_sentence(str(error))) from None
    return {"admission": msgspec.to_builtins(admission)}


@api("GET", *SCOPES, cost=REQUEST_COST)
def bundles(request: HttpRequest, token: Token) -> Answer:
    """Check the token; a worker requests this when it starts."""
    check_worker(request, token)
    return {"user": token.user.get_username(), "max_bundle_bytes": settings.MAX_BUNDLE_BYTES}


@api("GET", *SCOPES, cost=REQUEST_COST)
def bundle(request: HttpRequest, token: Token, sha256: str) -> FileResponse:
    """The zip of this SHA-256; the site's workers have all, a user's own those that it may play."""
    check_lending(token)
    versions = BotVersion.objects.filter(bundle=sha256).select_related("bot")
    try:
        if token.is_of_own_worker and not any(access.may_play_at_home(token.user, one) for one in versions):
            raise Bundle.DoesNotExist
        file = Bundle.objects.get(pk=sha256).path.open("rb")
    except (Bundle.DoesNotExist, FileNotFoundError):
        sentence = "There is no bundle with this SHA-256, or it was refused and deleted."
        raise ApiError(404, sentence) from None
    return FileResponse(file, content_type="application/zip")


def find_sender(token: Token, name: str) -> Worker:
    """The worker of this name that uses the token; raises ``ApiError`` if there is none."""
    worker = find_own(token, name)
    if worker is None:
        raise ApiError(403, "This token has sent no heartbeat of a worker of this name.")
    return worker


def read(kind: type[Message], request: HttpRequest) -> Message:
    """Read the body as strict JSON; raises ``ApiError`` for anything that is not a ``kind``."""
    try:
        return decode(kind, _read_body(request))
    except JobError as error:
        raise ApiError(400, as_sentence(str(error))) from None
    except (ValueError, RecursionError):
        raise ApiError(400, "The body is not JSON.") from None


def check_lending(token: Token) -> None:
    """Raise ``ApiError`` if the token's owner may not run workers any more."""
    if not token.is_of_own_worker and not access.may_lend_bundles(token.user):
        raise ApiError(403, "The owner of this token does not run this site any more.")


def check_worker(request: HttpRequest, token: Token) -> None:
    """Raise ``ApiError`` if this worker may not join, because of its token's owner or of its release."""
    check_lending(token)
    given = request.headers.get(PROTOCOL_HEADER, "1")
    why = why_foreign(int(given) if given.isascii() and given.isdigit() and len(given) < 9 else 1)
    if why:
        raise ApiError(403, as_sentence(why), {PROTOCOL_HEADER: str(PROTOCOL)})


def _read_body(request: HttpRequest) -> bytes:
    if request.headers.get("Content-Encoding", "identity") != "identity":
        raise ApiError(415, "Send the body without compression.")
    most = settings.MAX_WORK_BYTES
    try:
        is_too_large = int(request.META.get("CONTENT_LENGTH") or 0) > most
        body: bytes = b"" if is_too_large else request.read(most + 1)
    except (UnreadablePostError, ValueError):
        raise ApiError(400, "The body is incomplete.") from None
    if is_too_large or len(body) > most:
        raise ApiError(413, f"The body may have {most} bytes.")
    return body


@contextmanager
def _waiting_briefly() -> Iterator[None]:
    """Answer 503 if the database cannot be used, or if another process writes for too long on SQLite."""
    is_sqlite = connection.vendor == "sqlite"
    try:
        try:
            if is_sqlite:
                _wait_for_lock(WRITE_LOCK_SECONDS)
            yield
        finally:
            if is_sqlite and connection.connection is not None:
                _wait_for_lock(connection.settings_dict["OPTIONS"].get("timeout", 5))
    except (OperationalError, InterfaceError):
        raise ApiError(503, "The database is busy or away.", {"Retry-After": "2"}) from None


def _wait_for_lock(seconds: float) -> None:
    with connection.cursor() as cursor:
        cursor.execute(f"PRAGMA busy_timeout = {round(1000 * seconds)}")
