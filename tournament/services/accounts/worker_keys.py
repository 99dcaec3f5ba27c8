"""The keys of workers: given at registration, bound to the token that registered, revoked with it."""

from __future__ import annotations

import datetime
import re
import secrets

from django.db import transaction

from tournament.models import Token, WorkerKey
from tournament.services.locks import locking
from workers.service.messaging.signing import KEY_BYTES

MOST_NEW_NAMES = 100
"""Workers that one token may register under new names a day: each may send so many messages."""
_NAME = re.compile(r"[A-Za-z0-9._-]{1,40}@[A-Za-z0-9._-]{1,60}")


class WorkerNameError(ValueError):
    """A name that no worker can have, or one too many of a token: one sentence."""


class WorkerNameTaken(Exception):
    """Another token has registered a worker of this name."""


def is_worker_name(name: str) -> bool:
    """Whether a worker may have this name: it has a place after an @, and no odd characters."""
    return _NAME.fullmatch(name) is not None


@transaction.atomic
def register_worker(name: str, token: Token | None, now: datetime.datetime) -> WorkerKey:
    """The key of the worker of this name; the same as before if the same token registered it.

    ``token`` is None for workers that the site starts, which take the name over if another registered it.
    Raises ``WorkerNameError`` and ``WorkerNameTaken``.
    """
    if not is_worker_name(name):
        raise WorkerNameError(f"{name[:100]!r} is not the name of a worker, such as 'players@east'")
    fresh = {"key": secrets.token_hex(KEY_BYTES), "token": token, "created_at": now}
    known, is_new = locking(WorkerKey.objects.all()).get_or_create(name=name, defaults=fresh)
    if is_new:
        _check_number(token, now)
        return known
    is_valid = WorkerKey.objects.valid().filter(pk=name).exists()
    if is_valid and known.token_id == (token and token.pk):
        return known
    if is_valid and token is not None:
        raise WorkerNameTaken(f"another token has registered the worker {name}")
    for field, value in fresh.items():
        setattr(known, field, value)
    known.revoked_at = None
    known.save()
    return known


def _check_number(token: Token | None, now: datetime.datetime) -> None:
    """Check the new names of a token, including the latest; part of the caller's transaction."""
    since = now - datetime.timedelta(days=1)
    if token and WorkerKey.objects.filter(token=token, created_at__gt=since).count() > MOST_NEW_NAMES:
        raise WorkerNameError(f"this token has registered {MOST_NEW_NAMES} workers within a day")


def revoke_keys(token: Token, now: datetime.datetime) -> None:
    """Make the keys invalid that a token registered; may be repeated."""
    WorkerKey.objects.filter(token=token, revoked_at=None).update(revoked_at=now)
