"""``manage.py keeper_alive``: whether the record keeper is well, for health checks of containers."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from tournament.models import Keeper
from tournament.views.site.health import SILENT


class Command(BaseCommand):
    help = "Exit with 0 if the record keeper has swept within the last minute."

    def handle(self, *args: Any, **options: Any) -> None:
        keeper = Keeper.objects.first()
        if keeper is None:
            raise CommandError("the record keeper has not started yet")
        if (silent := timezone.now() - keeper.seen_at) > SILENT:
            raise CommandError(f"the record keeper has not swept for {silent.total_seconds():.0f} s")
