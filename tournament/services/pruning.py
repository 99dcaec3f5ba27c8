"""Deletes rows whose time is over: old logs, attempts, checks, notices, sessions and others.

The record keeper calls it; a call deletes a few chunks and leaves the rest to the next one, so that no other
writer waits. It may be killed and repeated at any time. Nothing is deleted that a game, a record or a rating
needs.
"""

from __future__ import annotations

import datetime
import time
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

from allauth.usersessions.models import UserSession
from django.conf import settings
from django.contrib.sessions.models import Session
from django.db import connection, transaction
from django.db.models import Q, QuerySet

from tournament.models import (
    Attempt,
    BotSearch,
    ComplianceCheck,
    FeedEntry,
    GameLog,
    Job,
    KeptAnswer,
    Notice,
    PersonGame,
    SlotUse,
    Token,
    WebhookDelivery,
)
from tournament.models.searches import ANALYSES
from tournament.services.accounts.answers import KEPT

CHUNK = 500
"""Rows of one transaction."""
BUDGET_SECONDS = 0.5
"""The time after which a call begins no further chunk."""
ATTEMPTS = datetime.timedelta(days=7)
"""The time an attempt is kept after it was taken, unless it was void or lost."""
SEARCHES = datetime.timedelta(days=90)
"""The time a search that a person asked for is kept after its end."""
CHECKS = datetime.timedelta(days=90)
"""The time a compliance check is kept after its end."""
PERSON_GAMES = datetime.timedelta(days=365)
"""The time a game of a person against a bot is kept after its start."""
FEED_ENTRIES = datetime.timedelta(days=365)
"""The time an entry of a feed is kept after its last change."""
DELIVERIES = datetime.timedelta(days=30)
"""The time a delivery of a webhook is kept after its event, delivered or not."""
SLOT_USE = datetime.timedelta(days=30)
"""The time the slot-hours of a day are kept after it."""
TOKENS = datetime.timedelta(days=90)
"""The time a token is kept after it was revoked or came to its end."""
READ_NOTICES, NOTICES = datetime.timedelta(days=30), datetime.timedelta(days=180)


def prune(now: datetime.datetime, budget_s: float = BUDGET_SECONDS) -> Counter[str]:
    """Delete what is due, as much as the time permits; returns the number of rows by kind."""
    begun, deleted = time.monotonic(), Counter[str]()
    waiting = dict(KINDS)
    while waiting:  # each kind in turn, so that a long backlog of one does not stop the others
        for kind, delete in list(waiting.items()):
            if time.monotonic() - begun > budget_s:
                return deleted
            rows = delete(now)
            deleted[kind] += rows
            if rows < CHUNK:
                del waiting[kind]
    return deleted


def _delete(rows: QuerySet[Any]) -> int:
    """Delete the first ``CHUNK`` of these rows."""
    pks = list(rows.values_list("pk", flat=True)[:CHUNK])
    rows.model._default_manager.filter(pk__in=pks).delete()
    return len(pks)


@transaction.atomic
def _sessions(now: datetime.datetime) -> int:
    expired = Session.objects.filter(expire_date__lt=now).order_by("expire_date")
    keys = list(expired.values_list("pk", flat=True)[:CHUNK])
    UserSession.objects.filter(session_key__in=keys).delete()
    Session.objects.filter(pk__in=keys).delete()
    return len(keys)


def _cache_entries(now: datetime.datetime) -> int:
    """Django deletes an expired entry only when it is asked for, or when there are very many."""
    shared: Any = settings.CACHES["default"]
    table = connection.ops.quote_name(shared["LOCATION"])
    chosen = f"SELECT cache_key FROM {table} WHERE expires < %s ORDER BY expires LIMIT {CHUNK}"
    with connection.cursor() as cursor:
        cursor.execute(
            f"DELETE FROM {table} WHERE cache_key IN ({chosen})",
            [connection.ops.adapt_datetimefield_value(now)],
        )
        return int(cursor.rowcount)


KINDS: Mapping[str, Callable[[datetime.datetime], int]] = {
    "logs": lambda now: _delete(GameLog.objects.expired(now, kept_long=False)),
    "logs of faults": lambda now: _delete(GameLog.objects.expired(now, kept_long=True)),
    "attempts": lambda now: _delete(
        Attempt.objects.filter(ended_at__isnull=False, sent_at__lt=now - ATTEMPTS)
        .exclude(end__in=[Attempt.End.VOID, Attempt.End.LOST])  # part of evidence
        .order_by("sent_at")
    ),
    "jobs": lambda now: _delete(
        Job.objects.filter(ended_at__isnull=False, taken_at__lt=now - CHECKS).order_by("taken_at")
    ),
    "notices": lambda now: _delete(
        Notice.objects.filter(
            Q(created_at__lt=now - NOTICES) | Q(read_at__lt=now - READ_NOTICES),
        ).order_by("pk")
    ),
    "searches": lambda now: _delete(
        BotSearch.objects.filter(~ANALYSES, ended_at__lt=now - SEARCHES)
        .exclude(person_game__isnull=False, person_game__ended_at__isnull=True)  # the bot's move waits there
        .order_by("ended_at")
    ),
    "checks": lambda now: _delete(
        ComplianceCheck.objects.filter(ended_at__lt=now - CHECKS).order_by("ended_at")
    ),
    "games against bots": lambda now: _delete(
        PersonGame.objects.filter(started_at__lt=now - PERSON_GAMES).order_by("started_at")
    ),
    "feed entries": lambda now: _delete(
        FeedEntry.objects.filter(updated_at__lt=now - FEED_ENTRIES).order_by("updated_at")
    ),
    "webhook deliveries": lambda now: _delete(
        WebhookDelivery.objects.filter(created_at__lt=now - DELIVERIES).order_by("created_at")
    ),
    "slot hours": lambda now: _delete(
        SlotUse.objects.filter(day__lt=(now - SLOT_USE).date()).order_by("day")
    ),
    "tokens": lambda now: _delete(
        Token.objects.filter(Q(revoked_at__lt=now - TOKENS) | Q(ends_at__lt=now - TOKENS)).order_by("pk")
    ),
    "kept answers": lambda now: _delete(
        KeptAnswer.objects.filter(created_at__lt=now - KEPT).order_by("created_at")
    ),
    "sessions": _sessions,
    "cache entries": _cache_entries,
}
