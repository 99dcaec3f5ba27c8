"""Tournaments know on which ladders' terms they are not played; those that have begun stay rated on all."""

from __future__ import annotations

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("tournament", "0061_published_versions")]

    operations = [
        migrations.AddField("tournament", "off_terms", models.JSONField(blank=True, default=dict)),
        migrations.AddField("tournament", "rated_off_terms", models.BooleanField(default=False)),
    ]
