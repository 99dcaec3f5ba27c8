"""``manage.py redis_user NAME``: a Redis user for one worker, limited to what the worker does."""

from __future__ import annotations

import secrets
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from kombu import Connection

from tournament.services.accounts.worker_keys import is_worker_name
from workers.service.messaging.redis_rules import worker_rules

SELECTORS_SINCE = 7
"""The major version of Redis."""


class Command(BaseCommand):
    help = "Print or make a Redis user for a worker, which can do only what that worker does."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("worker", help="the worker's name, such as players@east")
        parser.add_argument(
            "--make", action="store_true", help="make the user at REDIS_URL; else its command is printed"
        )

    def handle(self, *_: Any, worker: str, make: bool, **__: Any) -> None:
        if not is_worker_name(worker):
            raise CommandError(f"{worker!r} is not the name of a worker, such as 'players@east'")
        # Imported here: --help needs no broker.
        from tournament.celery import app

        password = secrets.token_urlsafe(24)
        with app.connection_for_write() as connection:
            client = _client(connection)
            major = int(client.info("server")["redis_version"].partition(".")[0])
            rules = worker_rules(worker, password, has_selectors=major >= SELECTORS_SINCE)
            command = ("ACL", "SETUSER", worker, *rules)
            if make:
                client.execute_command(*command)
        if not make:
            self.stdout.write(" ".join(f"'{word}'" if " " in word else word for word in command))
        self.stdout.write(f"user {worker} password {password}")


def _client(connection: Connection) -> Any:
    channel: Any = connection.default_channel
    return channel.client
