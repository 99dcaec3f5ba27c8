"""What owners do with their webhooks: add, change, turn on and off, rotate the secret, test, send again."""

from __future__ import annotations

import datetime
from collections.abc import Sequence

from django.db import transaction
from django.utils import timezone

from tournament.models import User, Webhook, WebhookDelivery
from tournament.models.webhooks import TEST_EVENT
from tournament.services.webhooks.envelope import make_secret
from tournament.services.webhooks.events import MAX_A_DAY, about, store
from tournament.services.webhooks.network import TargetError, is_public, parse_target

MAX_WEBHOOKS = 5
"""Of one account."""
BOTH_VALID = datetime.timedelta(hours=24)
"""How long events are signed with the secret before, too, once there is a new one."""


class WebhookError(ValueError):
    """Something that cannot be done with a webhook: one clause."""


def check_url(url: str) -> None:
    """Raise ``WebhookError`` for an address that no webhook may have.

    Names are resolved only when events are sent.
    """
    try:
        host = parse_target(url).host
    except TargetError as error:
        raise WebhookError(str(error)) from None
    if not {".", ":"} & {*host.rstrip(".")}:
        raise WebhookError(f"the name {host} has no dot, as names on the internet have")
    try:
        is_usable = is_public(host)
    except ValueError:  # a name
        return
    if not is_usable:
        raise WebhookError(f"{host} is no public address")


def create(owner: User, url: str, kind: str, events: Sequence[str]) -> Webhook:
    """Raises ``WebhookError``."""
    check_url(url)
    if owner.webhooks.count() >= MAX_WEBHOOKS:
        raise WebhookError(f"you have {MAX_WEBHOOKS} webhooks: remove one first")
    return Webhook.objects.create(
        owner=owner, url=url, kind=kind, events=list(events), secret=make_secret(), since=timezone.now()
    )


def change(webhook: Webhook, url: str, kind: str, events: Sequence[str]) -> None:
    """Raises ``WebhookError``. What waits goes to the new address."""
    check_url(url)
    now = timezone.now()
    values = {"url": url, "kind": kind, "events": list(events), "failures": 0, "next_at": now}
    if set(events) - set(webhook.events):
        values["since"] = now
    Webhook.objects.filter(pk=webhook.pk).update(**values)


def turn_on(webhook: Webhook) -> None:
    """Send events to it again, what still waits for it first; may be repeated."""
    now = timezone.now()
    Webhook.objects.filter(pk=webhook.pk, off_at__isnull=False).update(
        off_at=None, off_reason="", failures=0, next_at=now, since=now
    )


def turn_off(webhook: Webhook, reason: str = "") -> int:
    """Send nothing to it from now on; may be repeated. Returns whether it was on, as a number."""
    on = Webhook.objects.filter(pk=webhook.pk, off_at__isnull=True)
    return on.update(off_at=timezone.now(), off_reason=reason)


def rotate(webhook: Webhook) -> None:
    """Make a new secret; the one before is valid for a day more, and one before that no longer."""
    Webhook.objects.filter(pk=webhook.pk, secret=webhook.secret).update(
        secret=make_secret(), old_secret=webhook.secret, old_secret_until=timezone.now() + BOTH_VALID
    )


@transaction.atomic
def send_test(webhook: Webhook) -> WebhookDelivery:
    """Have a test event sent to it. Raises ``WebhookError``."""
    if not webhook.is_on:
        raise WebhookError("it is off: turn it on first")
    data = about(
        "This is a test of a webhook.", webhook.get_absolute_url(), {"owner": webhook.owner.username}
    )
    delivery = WebhookDelivery(webhook=webhook, type=TEST_EVENT, data=data)
    if not store([delivery]):
        raise WebhookError(f"your webhooks have had {MAX_A_DAY:,} events today, the most of a day")
    _hurry(webhook)
    return delivery


def send_again(delivery: WebhookDelivery) -> None:
    """Send an event once more, with the same id, unless it waits already. Raises ``WebhookError``."""
    if not delivery.webhook.is_on:
        raise WebhookError("its webhook is off: turn it on first")
    waiting = WebhookDelivery.State.WAITING
    sent = WebhookDelivery.objects.filter(pk=delivery.pk).exclude(state=waiting)
    sent.update(state=waiting, attempts=0, next_at=timezone.now())
    _hurry(delivery.webhook)


def _hurry(webhook: Webhook) -> None:
    """End its rest after a failure."""
    Webhook.objects.filter(pk=webhook.pk, failures__gt=0).update(next_at=timezone.now())
