"""Revisions of evidence keep their manifests; staff asks for the evidence of a ladder."""

from __future__ import annotations

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("tournament", "0072_evidence")]

    operations = [
        migrations.AddField("evidence", "manifest", models.TextField(blank=True, default="")),
        migrations.AddField("evidence", "signature", models.TextField(blank=True, default="")),
        migrations.AddField("ladder", "evidence_asked_at", models.DateTimeField(blank=True, null=True)),
    ]
