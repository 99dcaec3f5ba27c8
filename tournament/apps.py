"""The site as a Django application."""

from __future__ import annotations

import os
from importlib import import_module
from typing import Any

from django.apps import AppConfig
from django.apps import apps as registry
from django.apps.registry import Apps
from django.conf import settings
from django.contrib.admin.apps import SimpleAdminConfig
from django.db import connections
from django.db.models.signals import post_migrate, pre_migrate

from engines.rules.registry import GAMES
from tournament.known_database import note_database, store_key
from tournament.migrations._preparing import prepare
from tournament.monitoring.errors import start_error_reports


class TournamentConfig(AppConfig):
    name = "tournament"
    default = True
    verbose_name = "Duarena"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        start_error_reports()
        pre_migrate.connect(prepare, sender=self)
        post_migrate.connect(_create_ladders, sender=self)
        post_migrate.connect(_note_site, sender=self)


class AdministrationConfig(SimpleAdminConfig):
    """Django's administration, without the tables of other packages: allauth's hold keys of users."""

    default_site = "tournament.administration.Administration"

    def ready(self) -> None:
        super().ready()
        import_module("tournament.admin")


def _create_ladders(using: str, apps: Apps = registry, **_: Any) -> None:
    """Create the ladder row of every registered game, also of games added after the first migration.

    The columns are those of the migrated state, which may be an earlier one.
    """
    ladder = apps.get_model("tournament", "Ladder")
    rows = [ladder(code=code) for code in GAMES]
    ladder._default_manager.using(using).bulk_create(rows, ignore_conflicts=True)


def _note_site(using: str, **_: Any) -> None:
    if not os.environ.get("DUARENA_SECRET_KEY"):
        store_key(settings.DATA, settings.SECRET_KEY)
    note_database(settings.DATA, connections[using].vendor)
