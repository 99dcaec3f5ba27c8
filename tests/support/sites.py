"""A site on a data folder of its own, seen from outside: its commands, its tables, its pages."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from functools import cache
from pathlib import Path

import psutil

from tests.support import databases
from tests.support.brokers import running_redis
from tests.support.service_processes import find_port, guards_of
from tournament.embedded.options import Options, export
from tournament.embedded.plan import ROOT, Address, make_worker_token, services
from tournament.embedded.processes.redis_server import broker_url
from tournament.embedded.processes.supervisor import Supervisor

NO_SETTINGS: Mapping[str, str] = {}
SCHEDULE = """
from tournament.embedded.samples import register_samples
from tournament.services.schedule.tournaments import create_round_robin, start

bots = [version for version in register_samples() if version.bot.name in {{"Random", "Greedy"}}]
start(create_round_robin(
    None, name="{}", versions=bots, ladders={}, pairs=2, opening_plies=2, time_control="1+0.1", seed=1,
    rated_off_terms=True,
))
"""
TIMEOUT_SECONDS = 60.0
"""The longest wait; only a failing test or a busy machine reaches it."""


def bare_environment() -> dict[str, str]:
    """The environment of this process without the settings of a site."""
    ours = ("DUARENA_", "DJANGO_", "REDIS_URL", "DATABASE_URL")
    return {name: value for name, value in os.environ.items() if not name.startswith(ours)}


class SiteData:
    """A site's data folder with its tables, and the environment of the processes that work on it."""

    def __init__(
        self, data: Path, *, migrate: bool = True, settings: Mapping[str, str] = NO_SETTINGS
    ) -> None:
        own = {
            "DUARENA_DATA": str(data),
            "DUARENA_BUNDLES": str(data / "bundles"),
            "DUARENA_LADDER_GAMES": "0",
        }
        self.environment = {**bare_environment(), **own, **settings}
        self.data = data
        if migrate and "DATABASE_URL" not in settings:
            shutil.copytree(empty_site(), data, dirs_exist_ok=True)
        elif migrate:
            self.manage("migrate", "-v0")

    def manage(self, *words: str) -> str:
        command = (sys.executable, "manage.py", *words)
        run = subprocess.run(
            command, cwd=ROOT, env=self.environment, capture_output=True, text=True, check=False
        )
        assert run.returncode == 0, run.stderr
        return run.stdout

    def run(self, program: str) -> str:
        """The output of a program that uses the site's database."""
        return self.manage("shell", "-v0", "-c", program)

    def ask(self, query: str) -> list[tuple[object, ...]]:
        with sqlite3.connect(self.data / "db.sqlite3", timeout=20) as database:
            return database.execute(query).fetchall()


@cache
def empty_site() -> Path:
    """The data folder of a site without rows, to be copied: to migrate a database takes ten seconds.

    All processes of a run share it, and later runs, as they do the migrated database of tests.
    """
    if databases.FOLDER not in os.environ:
        return _make_empty_site(Path(tempfile.mkdtemp(prefix="empty-site-")))
    kept = databases.kept_for_migrations("site")
    with databases.lock(kept.parent / "making-a-site"):
        if not kept.exists():
            for old in kept.parent.glob("*.site"):
                shutil.rmtree(old, ignore_errors=True)
            _make_empty_site(Path(tempfile.mkdtemp(dir=kept.parent))).rename(kept)
    return kept


def _make_empty_site(data: Path) -> Path:
    if databases.FOLDER in os.environ:
        databases.copy_migrated(data / "db.sqlite3")
    SiteData(data, migrate=False).manage("migrate", "-v0")
    return data


class LonelySite(SiteData):
    """A running site without a worker: its pages at ``url``, its Redis at ``broker``, a worker ``token``."""

    def __init__(self, data: Path, address: Address, broker: str, settings: Mapping[str, str]) -> None:
        super().__init__(data, settings=settings)
        self.url, self.broker = address.url, broker
        self.token = make_worker_token()
        self.guards: Mapping[str, int] = {}
        """The ancestor of all processes of each service, by its name."""
        self.environment["REDIS_URL"] = broker
        export(Options("up", data), address, self.environment)

    @property
    def processes(self) -> list[psutil.Process]:
        """The processes of the server: the first that listens, and those that it has started."""
        below = psutil.Process(self.guards["site"]).children(recursive=True)
        return sorted(filter(_listens, below), key=lambda process: process.create_time())

    def schedule(self, name: str, *ladders: str) -> None:
        """Start a tournament of two bots: four games on each ladder."""
        self.run(SCHEDULE.format(name, ladders))

    def page(self, path: str) -> str:
        with urllib.request.urlopen(self.url + path, timeout=TIMEOUT_SECONDS) as answer:
            return str(answer.read().decode())


def _listens(process: psutil.Process) -> bool:
    try:
        return any(one.status == psutil.CONN_LISTEN for one in process.net_connections("tcp"))
    except psutil.Error:
        return False


@contextmanager
def running_lonely_site(
    data: Path, port: int, *, redis_server: Path | None = None, settings: Mapping[str, str] = NO_SETTINGS
) -> Iterator[LonelySite]:
    """The processes of ``./arena up`` except the workers; ``redis_server`` is the program of its Redis."""
    address = Address("127.0.0.1", find_port("127.0.0.1", port))
    with (
        running_redis(redis_server) as socket,
        Supervisor(logs=data / "logs", folder=ROOT, say=print) as supervisor,
    ):
        site = LonelySite(data, address, broker_url(socket), settings)
        site.manage("collectstatic", "--no-input", "-v0")
        for service in services(address, workers=1, data=data, token=site.token):
            if service.name in {"site", "beat", "keeper"}:
                supervisor.start(replace(service, environment={**site.environment, **service.environment}))
        site.guards = guards_of(supervisor)
        yield site
