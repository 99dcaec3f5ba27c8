"""``manage.py send_webhooks``: the process that sends events to users' webhooks."""

from __future__ import annotations

import os
import signal
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand

from tournament.services.webhooks.sender import WebhookSender
from workers.watchdog import rearm

HANGS_SECONDS = 120
"""A sender that makes no step for so long ends; its supervisor starts it again."""
RESOLVER = "timeout:3 attempts:1"
"""For the system's resolver, whose waiting ends by nothing else."""


class Command(BaseCommand):
    help = "Send events to users' webhooks until SIGTERM. A process that is killed sends again."
    requires_system_checks = []  # noqa: RUF012

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--alive", type=Path, metavar="FILE", help="a file to touch at every step")

    def handle(self, *_: Any, alive: Path | None, **__: Any) -> None:
        signals: list[int] = []
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda number, _frame: signals.append(number))
        os.environ["RES_OPTIONS"] = RESOLVER

        def note_life() -> None:
            rearm(HANGS_SECONDS)
            if alive is not None:
                alive.touch()

        WebhookSender().run(lambda: bool(signals), note_life)
