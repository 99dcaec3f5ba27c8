"""A running site: starts everything in order, and stops everything at the end."""

from __future__ import annotations

import os
import shutil
import signal
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path

from django.conf import settings
from django.core.management import call_command

from tournament.embedded.console import Console
from tournament.embedded.database import open_database
from tournament.embedded.options import OptionError, Options, export, listen
from tournament.embedded.plan import ROOT, Address, make_worker_token, services
from tournament.embedded.processes.lock import instance_lock
from tournament.embedded.processes.process import Service
from tournament.embedded.processes.redis_server import (
    answers,
    broker_url,
    find_redis_server,
    find_trouble,
    redis_command,
    socket_folder,
)
from tournament.embedded.processes.supervisor import Supervisor, handled_signals


@dataclass(frozen=True, slots=True)
class Instance:
    """A running site."""

    supervisor: Supervisor
    address: Address
    services: Sequence[Service]
    """All but Redis."""


@contextmanager
def running_instance(options: Options, console: Console, prepare: Callable[[], None]) -> Iterator[Instance]:
    """Start everything on a data folder; stops everything in order on exit.

    ``prepare`` is called when the tables are ready and no other process uses them yet. Django is set up
    here, after the environment, so models must not be imported before. Raises ``StartError``.
    """
    with (
        instance_lock(options.data) as lock,
        socket_folder(options.data) as sockets,
        listen(options.host, options.port) as listener,
    ):
        address = Address(options.host, listener.getsockname()[1])
        if address.port != options.port:
            console.say(f"Port {options.port} is taken: using {address.port}.")
        export(options, address, os.environ)
        supervisor = Supervisor(logs=options.data / "logs", folder=ROOT, say=console.say, lock=lock)
        with supervisor.listening(), supervisor:
            try:
                _start_redis(supervisor, sockets / "redis.sock")
                with interruptible():
                    console.say("Preparing the database.")
                    open_database(options.data, console)
                if settings.STATIC_ROOT:
                    console.say("Collecting static files.")
                    # Those of earlier versions stay.
                    call_command("collectstatic", verbosity=0, interactive=False)
                shutil.rmtree(options.data / "scratch", ignore_errors=True)
                (options.data / "scratch").mkdir()
                console.say("Registering the sample bots.")
                prepare()
                console.say("Starting the site and its workers.")
                planned = services(
                    address,
                    workers=options.workers,
                    data=options.data,
                    token=settings.WORKER_TOKEN or make_worker_token(),
                    listener=listener.fileno(),
                    terminal=tuple(map(os.dup, range(3))) if options.command == "dev" else (),
                )
                for service in planned:
                    supervisor.start(service)
                yield Instance(supervisor, address, planned)
            finally:
                console.end_progress()


def interruptible() -> AbstractContextManager[None]:
    """Let signals to stop raise ``KeyboardInterrupt``: an update takes minutes and may be repeated."""
    return handled_signals(signal.default_int_handler)


def _start_redis(supervisor: Supervisor, socket: Path) -> None:
    """Start a Redis of our own, unless ``REDIS_URL`` names one, which must then answer."""
    if given := os.environ.get("REDIS_URL"):
        if trouble := find_trouble(given):
            where = given.rpartition("@")[2]
            raise OptionError(f"the Redis at REDIS_URL ({where}) cannot be used: it {trouble}")
        return
    os.environ["REDIS_URL"] = url = broker_url(socket)
    command = redis_command(find_redis_server(), socket)
    supervisor.start(Service("redis", command, ready=lambda: answers(url)))
