"""Answers to requests that create something, kept so that a repeat of the request creates nothing more."""

from __future__ import annotations

import datetime
from collections.abc import Callable

from django.db import transaction
from django.utils import timezone

from tournament.models import KeptAnswer, User

KEPT = datetime.timedelta(days=1)


class AnotherRequest(Exception):
    """The key belongs to a different request of the user."""


@transaction.atomic
def answer_once(
    user: User, key: str, digest: str, create: Callable[[], tuple[int, bytes]]
) -> tuple[int, bytes, bool]:
    """The status and body that ``create`` returns, or the kept ones of a repeat, and whether it is a repeat.

    The answer is stored in the transaction of what ``create`` does; if that raises, nothing is kept. Of two
    requests at once the second waits for the first. Raises ``AnotherRequest`` for another ``digest``.
    """
    now = timezone.now()
    KeptAnswer.objects.filter(user=user, key=key, created_at__lt=now - KEPT).delete()
    fresh = {"digest": digest, "created_at": now}
    kept, is_new = KeptAnswer.objects.get_or_create(user=user, key=key, defaults=fresh)
    if kept.digest != digest:
        raise AnotherRequest(key)
    if is_new:
        kept.status, kept.answer = create()
        kept.save(update_fields=["status", "answer"])
    return kept.status, bytes(kept.answer), not is_new
