"""Webhooks of users, and what was or will be sent to them."""

from __future__ import annotations

import uuid
from typing import Any, ClassVar

from django.conf import settings
from django.db import models
from django.db.models.functions import Greatest
from django.urls import reverse
from django.utils import timezone

MAX_URL = 500
MAX_ANSWER = 300
"""Characters kept of the answer to a delivery."""


class EventType(models.TextChoices):
    """What a webhook can tell."""

    VERSION_CHECKED = "version.checked", "a version of my bot has been checked: it is valid or refused"
    GAME_LOST = "game.lost", "my bot has lost a game"
    TOURNAMENT_FINISHED = "tournament.finished", "a tournament of mine, or one with my bots, has ended"
    RATING_RECORD = "rating.record", "my bot has its best rating so far on a ladder"


TEST_EVENT = "webhook.test"
"""The type of the event that *Send a test* makes."""


class WebhookQuerySet(models.QuerySet["Webhook"]):
    def on(self) -> WebhookQuerySet:
        """Those to which events are sent."""
        return self.filter(off_at__isnull=True, owner__is_active=True)

    def due(self, now: Any) -> WebhookQuerySet:
        """Those that have something to send now, the one that has waited the longest first."""
        waiting = WebhookDelivery.objects.due(now).filter(webhook=models.OuterRef("pk"))
        return self.free(now).filter(models.Exists(waiting)).order_by("next_at", "pk")

    def free(self, now: Any) -> WebhookQuerySet:
        """Those that are on, do not rest, and to which no sender sends."""
        unclaimed = models.Q(claimed_until__isnull=True) | models.Q(claimed_until__lte=now)
        return self.on().filter(unclaimed, next_at__lte=now)


class Webhook(models.Model):
    """An address to which the site sends the events of its owner."""

    class Kind(models.TextChoices):
        STANDARD = "standard", "a program of mine: Standard Webhooks"
        DISCORD = "discord", "a channel of Discord"

    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="webhooks")
    url = models.CharField(max_length=MAX_URL)
    kind = models.CharField(max_length=10, choices=Kind.choices, default=Kind.STANDARD)
    events = models.JSONField(default=list)
    """A list of ``EventType`` values."""
    secret = models.CharField(max_length=80)
    """The key of its signatures, ``whsec_`` and base64."""
    old_secret = models.CharField(max_length=80, blank=True)
    """The key before, with which events are signed too until ``old_secret_until``."""
    old_secret_until = models.DateTimeField(null=True)
    created_at = models.DateTimeField(default=timezone.now)
    since = models.DateTimeField(default=timezone.now)
    """Since when it is on with these events: what happened before is not sent."""
    failures = models.PositiveSmallIntegerField(default=0)
    """Failed attempts since the last success."""
    next_at = models.DateTimeField(default=timezone.now)
    """Nothing is sent to it before: it rests after a failure."""
    claimed_until = models.DateTimeField(null=True)
    """Until then a sender sends it an event, and no other does, unless it stores the answer before."""
    is_slow = models.BooleanField(default=False)
    """Whether its last answer took long: such webhooks get a part of the sender's threads."""
    off_at = models.DateTimeField(null=True)
    """When it was turned off; null while it is on."""
    off_reason = models.CharField(max_length=200, blank=True)
    """Why the site turned it off, as a clause; empty: its owner did."""

    objects = WebhookQuerySet.as_manager()

    def __str__(self) -> str:
        return self.url

    def get_absolute_url(self) -> str:
        return reverse("webhook", args=[self.pk])

    @property
    def is_on(self) -> bool:
        return self.off_at is None


class DeliveryQuerySet(models.QuerySet["WebhookDelivery"]):
    def due(self, now: Any) -> DeliveryQuerySet:
        return self.filter(state=WebhookDelivery.State.WAITING, next_at__lte=now)

    def late_since(self, now: Any) -> Any:
        """Since when the one that is due for longest could have been sent; None if none is due."""
        due = self.due(now).filter(webhook__in=Webhook.objects.free(now))
        return due.aggregate(since=models.Min(Greatest("next_at", "webhook__next_at")))["since"]


def new_event_id() -> str:
    """The same event has the same id for all webhooks."""
    return uuid.uuid4().hex


class WebhookDelivery(models.Model):
    """One event for one webhook, with the last answer to it."""

    class State(models.TextChoices):
        WAITING = "waiting", "waiting"
        DELIVERED = "delivered", "delivered"
        FAILED = "failed", "failed"
        """Given up."""

    webhook = models.ForeignKey(Webhook, on_delete=models.CASCADE, related_name="deliveries", db_index=False)
    event = models.CharField(max_length=32, default=new_event_id)
    """The id of the event, the same for all webhooks and each attempt."""
    type = models.CharField(max_length=30)
    """An ``EventType``, or ``TEST_EVENT``."""
    data = models.JSONField()
    """What the event tells of its type; see docs/webhooks.md."""
    at = models.DateTimeField(default=timezone.now)
    """When it happened."""
    created_at = models.DateTimeField(default=timezone.now)
    state = models.CharField(max_length=10, choices=State.choices, default=State.WAITING)
    attempts = models.PositiveSmallIntegerField(default=0)
    next_at = models.DateTimeField(default=timezone.now)
    """When it is sent, if it waits."""
    tried_at = models.DateTimeField(null=True)
    took_ms = models.PositiveIntegerField(default=0)
    """The time until the last answer."""
    status = models.PositiveSmallIntegerField(null=True)
    """The status of the last answer; null without one."""
    answer = models.CharField(max_length=MAX_ANSWER, blank=True)
    """The beginning of the last answer, or why there is none."""

    objects = DeliveryQuerySet.as_manager()

    class Meta:
        verbose_name_plural = "webhook deliveries"
        indexes: ClassVar = [
            models.Index(fields=["webhook", "-id"], name="delivery_of_webhook"),
            models.Index(fields=["webhook", "created_at"], name="delivery_of_day"),
            models.Index(
                fields=["webhook", "next_at"], condition=models.Q(state="waiting"), name="delivery_waiting"
            ),
            models.Index(fields=["created_at"], name="delivery_created"),
        ]

    def __str__(self) -> str:
        return f"{self.type} {self.event}"


class WebhookProgress(models.Model):
    """Up to which game of a ladder the events for webhooks have been made."""

    ladder = models.OneToOneField("Ladder", on_delete=models.CASCADE, primary_key=True, related_name="+")
    sequence = models.BigIntegerField()
    """A completion sequence of the ladder."""

    def __str__(self) -> str:
        return f"{self.ladder_id} #{self.sequence}"
