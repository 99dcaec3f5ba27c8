"""Events for webhooks: stored as deliveries, in the transaction of what they tell."""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Mapping
from typing import Any

from django.conf import settings
from django.utils import timezone

from tournament.models import BotVersion, User, Webhook, WebhookDelivery
from tournament.models.webhooks import EventType, new_event_id

MAX_A_DAY = 2_000
"""Deliveries of one account made in a day of UTC; further events of the day are not sent."""
_ISOLATES = str.maketrans("", "", "\u2068\u2069")
"""Notices have them around names, see ``sentences.isolate``; programs compare names."""


def tell(
    texts: Mapping[User, str],
    type_: EventType,
    path: str,
    data: Mapping[str, Any],
    *,
    at: datetime.datetime | None = None,
) -> int:
    """Have an event sent to the webhooks of these users that want it; part of the caller's transaction.

    ``texts`` is what each user is told, in a sentence or two, ``path`` the page with more. Returns the number
    of deliveries.
    """
    at = at or timezone.now()
    wanting = [
        one
        for one in Webhook.objects.on().filter(owner__in=texts).select_related("owner")
        if type_ in one.events and at >= one.since
    ]
    event = new_event_id()
    return store(
        WebhookDelivery(webhook=one, event=event, type=type_, data=about(texts[one.owner], path, data), at=at)
        for one in wanting
    )


def facts_of(version: BotVersion) -> dict[str, Any]:
    """A version in the data of an event."""
    return {"bot": version.bot.name, "bot_slug": version.bot.slug, "version": version.number}


def about(text: str, path: str, data: Mapping[str, Any]) -> dict[str, Any]:
    """The data of an event: the text and page for people, then what programs need."""
    return {"text": text.translate(_ISOLATES), "page": f"{settings.SITE}{path}", **data}


def store(deliveries: Iterable[WebhookDelivery]) -> int:
    """Store them as far as the limits of their owners permit; returns how many."""
    left: dict[int, int] = {}
    kept = []
    for one in deliveries:
        owner = one.webhook.owner
        left.setdefault(owner.pk, left_today(owner, timezone.now()))
        if left[owner.pk] > 0:
            left[owner.pk] -= 1
            kept.append(one)
    WebhookDelivery.objects.bulk_create(kept)
    return len(kept)


def left_today(owner: User, now: datetime.datetime) -> int:
    """How many deliveries the owner may still have today."""
    today = now.replace(hour=0, minute=0, second=0, microsecond=0)
    made = WebhookDelivery.objects.filter(webhook__in=owner.webhooks.all(), created_at__gte=today)
    return max(0, MAX_A_DAY - made.count())
