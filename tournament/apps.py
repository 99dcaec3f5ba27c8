"""The site as a Django application."""

from __future__ import annotations

from typing import Any

from django.apps import AppConfig, apps
from django.db.backends.signals import connection_created
from django.db.models.signals import post_migrate

from tournament.monitoring.errors import start_error_reports


class TournamentConfig(AppConfig):
    name = "tournament"
    default = True
    verbose_name = "Duarena"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        # No page uses the extensions of htmx, and they import files that are not there.
        files: Any = apps.get_app_config("staticfiles")
        files.ignore_patterns = [*files.ignore_patterns, "ext"]
        start_error_reports()
        post_migrate.connect(_create_ladders, sender=self)
        connection_created.connect(_compile_no_queries)


def _compile_no_queries(connection: Any, **_: Any) -> None:
    """Compiling a query takes PostgreSQL longer than any query of a page; it estimates too much for some."""
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("SET jit = off")


def _create_ladders(using: str, **_: Any) -> None:
    """Create the ladder row of every registered game, also of games added after the first migration."""
    from tournament.models import Ladder

    Ladder.objects.using(using).ensure()
