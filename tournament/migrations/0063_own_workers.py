"""Tournaments may be played by workers of their owners, which take a kind of work of their own."""

from __future__ import annotations

from django.db import migrations, models

KINDS = [(kind, kind) for kind in ("games", "checks", "analysis", "own")]


class Migration(migrations.Migration):
    dependencies = [("tournament", "0062_terms")]

    operations = [
        migrations.AddField("tournament", "own_workers", models.BooleanField(default=False)),
        migrations.AlterField("job", "kind", models.CharField(max_length=10, choices=KINDS)),
        migrations.AlterField("worker", "takes", models.CharField(max_length=40)),
    ]
