"""The archives of evidence of tournaments and ladders."""

from __future__ import annotations

from django.db import migrations, models
from django.db.models import Q

ID = models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")


def _of(model: str) -> models.ForeignKey:
    return models.ForeignKey(
        f"tournament.{model}", models.CASCADE, null=True, related_name="evidence_revisions"
    )


class Migration(migrations.Migration):
    dependencies = [("tournament", "0071_signing_keys")]

    operations = [
        migrations.CreateModel(
            "Evidence",
            [
                ("id", ID),
                ("revision", models.PositiveIntegerField()),
                ("reason", models.CharField(blank=True, max_length=200)),
                ("games", models.PositiveBigIntegerField()),
                ("corrected", models.PositiveIntegerField()),
                ("at", models.DateTimeField()),
                ("made_at", models.DateTimeField()),
                ("sha256", models.CharField(max_length=64)),
                ("manifest_sha256", models.CharField(max_length=64)),
                ("size", models.PositiveBigIntegerField()),
                ("ladder", _of("ladder")),
                ("tournament", _of("tournament")),
            ],
            options={
                "verbose_name_plural": "evidence",
                "ordering": ["-revision"],
                "constraints": [
                    models.UniqueConstraint(
                        fields=["tournament", "revision"], name="evidence_once_a_tournament"
                    ),
                    models.UniqueConstraint(fields=["ladder", "revision"], name="evidence_once_a_ladder"),
                    models.CheckConstraint(
                        condition=Q(tournament__isnull=True, ladder__isnull=False)
                        | Q(tournament__isnull=False, ladder__isnull=True),
                        name="evidence_of_one",
                    ),
                ],
            },
        ),
    ]
