"""Until when a sender has a webhook, apart from its rest, and whether its receiver is slow."""

from __future__ import annotations

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("tournament", "0068_webhooks")]

    operations = [
        migrations.AddField("webhook", "claimed_until", models.DateTimeField(null=True)),
        migrations.AddField("webhook", "is_slow", models.BooleanField(default=False)),
    ]
