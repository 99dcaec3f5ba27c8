"""Which event is sent next, and what follows from the answer: success, a rest, or the end of a webhook.

A sender claims a webhook for longer than a request takes, sends one event, and stores the answer. If it is
killed in between, the claim ends and the event is sent again: at least once, always with the same id.
"""

from __future__ import annotations

import datetime
import random
from typing import Any

from django.db import transaction
from django.db.models import Count, F

from tournament.models import EventCount, Webhook, WebhookDelivery
from tournament.queues import announce, webhook_topic
from tournament.services.accounts.notices import notify_about_webhook
from tournament.services.event_counts import count_event
from tournament.services.locks import lock
from tournament.services.webhooks.network import ReceiverAnswer
from tournament.services.webhooks.owning import turn_off

PAUSES_SECONDS = (5, 30, 2 * 60, 10 * 60, 3600, 3 * 3600, 8 * 3600, 24 * 3600)
"""The pauses after failures, 36 hours together: of a webhook before the next event, after so many failures in
a row, and of an event before it is sent again. After one more the webhook is off, or the event is given up.
"""
JITTER = 0.2
"""Pauses are up to so much shorter or longer, so that those of many webhooks end at different times."""
CLAIM = datetime.timedelta(seconds=60)
"""Longer than a request takes, and the storing of its answer."""
MAX_ASKED_PAUSE = datetime.timedelta(hours=1)
"""The longest rest that a receiver gets by ``Retry-After``."""
SLOW_SECONDS = 1.0
"""A receiver that takes longer rests afterwards for as long as it took, so that others get the time."""
AT_ONCE_A_USER = 2
"""Requests to the webhooks of one user at a time, of all senders together."""


def claim(now: datetime.datetime, count: int, *, slow: bool = False) -> list[WebhookDelivery]:
    """The next events to send, at most ``count``, one a webhook: of those that were slow, or of all others.

    Nobody else gets them until ``CLAIM`` has passed.
    """
    if count <= 0:
        return []
    claimed: list[WebhookDelivery] = []
    taken = Webhook.objects.filter(claimed_until__gt=now).values("owner").annotate(number=Count("pk"))
    full = taken.filter(number__gte=AT_ONCE_A_USER).values("owner")
    for webhook in Webhook.objects.due(now).filter(is_slow=slow).exclude(owner__in=full)[: 4 * count]:
        if len(claimed) == count:
            break
        if delivery := _take(webhook, now):
            claimed.append(delivery)
    return claimed


@transaction.atomic
def _take(webhook: Webhook, now: datetime.datetime) -> WebhookDelivery | None:
    """The webhook's next event, whose attempt is counted before it begins; None if another sender has the
    webhook, or its owner has no more requests at a time.
    """
    own = lock(Webhook.objects.filter(owner=webhook.owner_id).select_related("owner"))
    claimed = {one.pk for one in own if one.claimed_until and one.claimed_until > now}
    free = {one.pk: one for one in own if one.pk not in claimed and one.is_on and one.next_at <= now}
    if webhook.pk not in free or len(claimed) >= AT_ONCE_A_USER:
        return None
    delivery = webhook.deliveries.due(now).order_by("next_at", "pk").first()
    if delivery is not None:
        delivery.webhook, delivery.tried_at = free[webhook.pk], now
        delivery.webhook.claimed_until = now + CLAIM
        delivery.webhook.save(update_fields=["claimed_until"])
        delivery.attempts += 1
        delivery.save(update_fields=["attempts", "tried_at"])
    return delivery


@transaction.atomic
def settle(delivery: WebhookDelivery, answer: ReceiverAnswer, now: datetime.datetime) -> None:
    """Store the answer to a claimed event, and what follows from it.

    Of an answer that comes after another sender has claimed the webhook only a success counts.
    """
    states, webhook = WebhookDelivery.State, delivery.webhook
    of_webhook = Webhook.objects.filter(pk=webhook.pk)
    is_slow = answer.took_s > SLOW_SECONDS
    claimed = of_webhook.filter(claimed_until=webhook.claimed_until)
    if not claimed.update(claimed_until=None, is_slow=is_slow) and not answer.is_success:
        return
    values: dict[str, Any] = {
        "status": answer.status,
        "answer": answer.text,
        "took_ms": round(1000 * answer.took_s),
    }
    if answer.is_success:
        values["state"] = states.DELIVERED
        rest = answer.took_s if is_slow else 0.0
        of_webhook.update(failures=0, next_at=now + datetime.timedelta(seconds=rest))
    elif answer.is_gone:
        values["state"] = states.FAILED
        _end(webhook, "its receiver answered 410 Gone")
    else:
        asked = min(datetime.timedelta(seconds=answer.retry_after_s), MAX_ASKED_PAUSE)
        if delivery.attempts > len(PAUSES_SECONDS):
            values["state"] = states.FAILED
        else:
            values["next_at"] = now + max(asked, pause(delivery.attempts))
        of_webhook.update(failures=F("failures") + 1)
        failures = of_webhook.values_list("failures", flat=True).first() or 1
        of_webhook.update(next_at=now + max(asked, pause(failures)))
        if failures > len(PAUSES_SECONDS):
            _end(webhook, f"{failures} attempts in a row failed")
    WebhookDelivery.objects.filter(pk=delivery.pk, state=states.WAITING).update(**values)
    count_event(EventCount.Kind.DELIVERY, "delivered" if answer.is_success else "failed")
    transaction.on_commit(lambda: announce(webhook_topic(webhook.pk)))


def pause(failures: int) -> datetime.timedelta:
    """The pause after so many failures in a row, from 1."""
    seconds = PAUSES_SECONDS[min(failures, len(PAUSES_SECONDS)) - 1]
    return datetime.timedelta(seconds=seconds * random.uniform(1 - JITTER, 1 + JITTER))


def _end(webhook: Webhook, reason: str) -> None:
    if turn_off(webhook, reason):
        notify_about_webhook(webhook, f"Your webhook {webhook.url} is off: {reason}.")
