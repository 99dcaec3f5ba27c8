"""``manage.py redis_user NAME``: a Redis user for one worker, limited to what the worker does."""

from __future__ import annotations

import secrets
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from kombu import Connection
from redis.exceptions import ResponseError

from tournament.queues import describe_broker_error
from tournament.services.accounts.worker_keys import is_worker_name
from workers.service.messaging.redis_rules import worker_rules

SELECTORS_SINCE = 7
"""The major version of Redis."""


class Command(BaseCommand):
    help = "Print, make or delete a Redis user for a worker, which can do only what that worker does."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("worker", help="the worker's name, such as players@east")
        act = parser.add_mutually_exclusive_group()
        act.add_argument(
            "--make", action="store_true", help="make the user at REDIS_URL; else its command is printed"
        )
        act.add_argument(
            "--delete", action="store_true", help="delete the user at REDIS_URL and end its connections"
        )

    def handle(self, *_: Any, worker: str, make: bool, delete: bool, **__: Any) -> None:
        if not is_worker_name(worker):
            raise CommandError(f"{worker!r} is not the name of a worker, such as 'players@east'")
        # Imported here: --help needs no broker.
        from tournament.celery import app

        with app.connection_for_write() as connection:
            try:
                client = _client(connection)
                if delete:
                    self._delete(client, worker)
                else:
                    self._make(client, worker, only_print=not make)
            except connection.connection_errors as error:
                trouble = describe_broker_error(error)
                raise CommandError(f"the Redis of REDIS_URL cannot be used: it {trouble}") from None

    def _delete(self, client: Any, worker: str) -> None:
        if not client.execute_command("ACL", "DELUSER", worker):
            raise CommandError(f"Redis has no user {worker}")
        self._save(client)
        self.stdout.write(f"user {worker} deleted")

    def _make(self, client: Any, worker: str, *, only_print: bool) -> None:
        password = secrets.token_urlsafe(24)
        major = int(client.info("server")["redis_version"].partition(".")[0])
        rules = worker_rules(worker, password, has_selectors=major >= SELECTORS_SINCE)
        command = ("ACL", "SETUSER", worker, *rules)
        if only_print:
            self.stdout.write(" ".join(f"'{word}'" if " " in word else word for word in command))
        else:
            client.execute_command(*command)
            self._save(client)
        self.stdout.write(f"user {worker} password {password}")

    def _save(self, client: Any) -> None:
        """Write the users into Redis's file of users, if it has one."""
        try:
            client.execute_command("ACL", "SAVE")
        except ResponseError:
            self.stderr.write("Redis has no file of users (aclfile): it forgets them when it starts again")


def _client(connection: Connection) -> Any:
    channel: Any = connection.channel()  # the default channel tries again for minutes
    return channel.client
