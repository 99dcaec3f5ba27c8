"""Tokens get finer scopes, an end and a bot: ``upload`` becomes ``bots:upload``, and ``read`` ``logs:read``."""

from __future__ import annotations

from typing import Any

from django.db import migrations, models

NEW = {"upload": "bots:upload", "read": "logs:read"}


def _rename(apps: Any, names: dict[str, str]) -> None:
    for token in apps.get_model("tournament", "Token").objects.only("scopes"):
        scopes = [names.get(scope, scope) for scope in token.scopes]
        if scopes != token.scopes:
            token.scopes = scopes
            token.save(update_fields=["scopes"])


class Migration(migrations.Migration):
    dependencies = [("tournament", "0065_who_enters")]

    operations = [
        migrations.AddField("token", "ends_at", models.DateTimeField(null=True, blank=True)),
        migrations.AddField(
            "token",
            "bot",
            models.ForeignKey(
                "tournament.bot", models.CASCADE, null=True, blank=True, related_name="+"
            ),
        ),
        migrations.RunPython(
            lambda apps, _: _rename(apps, NEW),
            lambda apps, _: _rename(apps, {new: old for old, new in NEW.items()}),
        ),
    ]
