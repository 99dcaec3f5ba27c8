"""Owners say who may enter a bot in events: everybody, as before, unless they choose otherwise."""

from __future__ import annotations

from django.db import migrations, models

CHOICES = [("everybody", "everybody"), ("staff", "only staff"), ("owner", "only its owner")]


class Migration(migrations.Migration):
    dependencies = [("tournament", "0064_sampled_moves")]

    operations = [
        migrations.AddField(
            "bot", "entered_by", models.CharField(choices=CHOICES, default="everybody", max_length=10)
        ),
        migrations.AddField("entry", "by_owner", models.BooleanField(default=False)),
    ]
