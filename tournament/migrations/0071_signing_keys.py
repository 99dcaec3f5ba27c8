"""The public keys of the site's signatures."""

from __future__ import annotations

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("tournament", "0070_webhook_claims")]

    operations = [
        migrations.CreateModel(
            "SigningKey",
            [
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("public", models.CharField(max_length=200, unique=True)),
                ("since", models.DateTimeField()),
                ("until", models.DateTimeField(blank=True, null=True)),
            ],
        ),
    ]
