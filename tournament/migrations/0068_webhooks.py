"""Webhooks of users, what is sent to them, and which games have been read for that."""

from __future__ import annotations

from django.conf import settings
from django.db import migrations, models
from django.db.models import deletion
from django.utils import timezone

import tournament.models.webhooks

KINDS = [
    ("standard", "a program of mine: Standard Webhooks"),
    ("discord", "a channel of Discord"),
]
STATES = [("waiting", "waiting"), ("delivered", "delivered"), ("failed", "failed")]
ID = models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")
COUNTED = ["game", "attempt", "error", "answer", "delivery"]


class Migration(migrations.Migration):
    dependencies = [("tournament", "0067_kept_answers")]

    operations = [
        migrations.CreateModel(
            "Webhook",
            [
                ("id", ID),
                ("url", models.CharField(max_length=500)),
                ("kind", models.CharField(choices=KINDS, default="standard", max_length=10)),
                ("events", models.JSONField(default=list)),
                ("secret", models.CharField(max_length=80)),
                ("old_secret", models.CharField(blank=True, max_length=80)),
                ("old_secret_until", models.DateTimeField(null=True)),
                ("created_at", models.DateTimeField(default=timezone.now)),
                ("since", models.DateTimeField(default=timezone.now)),
                ("failures", models.PositiveSmallIntegerField(default=0)),
                ("next_at", models.DateTimeField(default=timezone.now)),
                ("off_at", models.DateTimeField(null=True)),
                ("off_reason", models.CharField(blank=True, max_length=200)),
                (
                    "owner",
                    models.ForeignKey(settings.AUTH_USER_MODEL, deletion.CASCADE, related_name="webhooks"),
                ),
            ],
        ),
        migrations.CreateModel(
            "WebhookDelivery",
            [
                ("id", ID),
                (
                    "event",
                    models.CharField(default=tournament.models.webhooks.new_event_id, max_length=32),
                ),
                ("type", models.CharField(max_length=30)),
                ("data", models.JSONField()),
                ("at", models.DateTimeField(default=timezone.now)),
                ("created_at", models.DateTimeField(default=timezone.now)),
                ("state", models.CharField(choices=STATES, default="waiting", max_length=10)),
                ("attempts", models.PositiveSmallIntegerField(default=0)),
                ("next_at", models.DateTimeField(default=timezone.now)),
                ("tried_at", models.DateTimeField(null=True)),
                ("took_ms", models.PositiveIntegerField(default=0)),
                ("status", models.PositiveSmallIntegerField(null=True)),
                ("answer", models.CharField(blank=True, max_length=300)),
                (
                    "webhook",
                    models.ForeignKey(
                        "tournament.webhook", deletion.CASCADE, db_index=False, related_name="deliveries"
                    ),
                ),
            ],
            options={
                "verbose_name_plural": "webhook deliveries",
                "indexes": [
                    models.Index(fields=["webhook", "-id"], name="delivery_of_webhook"),
                    models.Index(fields=["webhook", "created_at"], name="delivery_of_day"),
                    models.Index(
                        fields=["webhook", "next_at"],
                        condition=models.Q(state="waiting"),
                        name="delivery_waiting",
                    ),
                    models.Index(fields=["created_at"], name="delivery_created"),
                ],
            },
        ),
        migrations.CreateModel(
            "WebhookProgress",
            [
                (
                    "ladder",
                    models.OneToOneField(
                        "tournament.ladder",
                        deletion.CASCADE,
                        primary_key=True,
                        serialize=False,
                        related_name="+",
                    ),
                ),
                ("sequence", models.BigIntegerField()),
            ],
        ),
        migrations.AlterField(
            "eventcount",
            "kind",
            models.CharField(choices=[(one, one) for one in COUNTED], max_length=10),
        ),
    ]
