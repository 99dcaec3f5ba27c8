"""The site as a Django application."""

from __future__ import annotations

from typing import Any

from django.apps import AppConfig
from django.contrib.staticfiles.apps import StaticFilesConfig
from django.db.models.signals import post_migrate


class TournamentConfig(AppConfig):
    name = "tournament"
    default = True
    verbose_name = "Duarena"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        post_migrate.connect(_create_ladders, sender=self)


def _create_ladders(using: str, **_: Any) -> None:
    """Create the ladder row of every registered game, also of games added after the first migration."""
    from tournament.models import Ladder

    Ladder.objects.using(using).ensure()


class CollectedFiles(StaticFilesConfig):
    """Django's static files, without the extensions of htmx: no page uses them, and they import no files."""

    ignore_patterns = [*StaticFilesConfig.ignore_patterns, "ext"]  # noqa: RUF012
