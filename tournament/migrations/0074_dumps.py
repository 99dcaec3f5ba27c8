"""The dumps of ladders by month."""

from __future__ import annotations

from django.db import migrations, models

ID = models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")


class Migration(migrations.Migration):
    dependencies = [("tournament", "0073_evidence_manifests")]

    operations = [
        migrations.CreateModel(
            "Dump",
            [
                ("id", ID),
                ("month", models.DateField()),
                ("revision", models.PositiveIntegerField()),
                ("reason", models.CharField(blank=True, max_length=200)),
                ("after", models.PositiveBigIntegerField()),
                ("last", models.PositiveBigIntegerField()),
                ("games", models.PositiveBigIntegerField()),
                ("corrected", models.PositiveIntegerField()),
                ("made_at", models.DateTimeField()),
                ("files", models.JSONField()),
                ("listing", models.TextField()),
                ("signature", models.TextField()),
                (
                    "ladder",
                    models.ForeignKey(
                        "tournament.Ladder", models.CASCADE, db_index=False, related_name="dumps"
                    ),
                ),
            ],
            options={
                "ordering": ["-month", "-revision"],
                "constraints": [
                    models.UniqueConstraint(
                        fields=["ladder", "month", "revision"], name="dump_once_a_month_and_revision"
                    )
                ],
            },
        ),
    ]
