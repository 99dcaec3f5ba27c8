"""The answers to requests with a key, so that a repeat creates nothing more."""

from __future__ import annotations

from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("tournament", "0066_scopes")]

    operations = [
        migrations.CreateModel(
            "KeptAnswer",
            [
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("key", models.CharField(max_length=200)),
                ("digest", models.CharField(max_length=64)),
                ("status", models.PositiveSmallIntegerField(default=0)),
                ("answer", models.BinaryField(default=bytes)),
                ("created_at", models.DateTimeField(db_index=True)),
                (
                    "user",
                    models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="+"),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=["user", "key"], name="kept_answer_once_a_key")
                ]
            },
        ),
    ]
