"""``manage.py keeper_alive``: whether the record keeper is well, for health checks of containers."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from tournament.monitoring.conditions import keeper_silence


class Command(BaseCommand):
    help = "Exit with 0 if the record keeper has worked within the last minute."

    def handle(self, *args: Any, **options: Any) -> None:
        if why := keeper_silence(timezone.now()):
            raise CommandError(f"the record keeper is not well: {why}")
