"""The site of the soak test: the services of ``./arena up`` under its supervisor, with several game workers.

The workers reach the site through relays, and that of the first one can be cut off. The clocks of two workers
are wrong.
"""

from __future__ import annotations

import math
import os
import random
import signal
import sqlite3
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Final

import redis

from benchmarks.soak.relay import Relay
from tests.support import databases
from tests.support.postgres import running_postgres
from tests.support.processes import children, command_line
from tests.support.service_processes import find_port, guards_of
from tournament.embedded.console import Console
from tournament.embedded.database import open_database
from tournament.embedded.options import Options, export
from tournament.embedded.plan import ROOT, Address, make_worker_token, services
from tournament.embedded.processes import supervisor as supervising
from tournament.embedded.processes.process import Service
from tournament.embedded.processes.redis_server import answers, broker_url, find_redis_server, redis_command
from tournament.embedded.processes.supervisor import Supervisor
from workers.sandbox.tree import descendants

SQLITE, POSTGRESQL = "sqlite", "postgresql"
CLOCK: Final = Path(__file__).with_name("clock.c")
CLOCKS_OFF_SECONDS: Final = (0, 3600, -3600)
"""Clock offsets of the workers, in rotation."""
DOUBLED, UNANSWERED, HELD, HELD_LEASES = 0.1, 0.05, 0.05, 1.5
"""The parts of the requests that are sent twice, that get no answer, and that are delayed, and the delay."""
RESTARTS_SECONDS: Final = (1.0, 1.0, 1.0, 1.0, 1.0, 1.0)
"""The supervisor's waits before restarts: its own grow to 30 s for processes that die again and again."""
DRAIN_SECONDS: Final = 120.0
MANY_GAMES: Final = "36000"
"""An hour and ladder: more than can be played, so that workers are never idle."""


@dataclass(frozen=True, slots=True)
class Terms:
    """The settings of one run."""

    games: int
    """Approximate number."""
    database: str = SQLITE
    calm: bool = False
    """No faults; the other runs are compared with this one."""
    workers: int = 3
    slots: int = 1
    """Games at a time in each worker."""
    lease_s: int = 30
    most_s: float = 3600.0

    @property
    def title(self) -> str:
        how = "calm" if self.calm else "soaked"
        return f"{self.database}, {how}, {self.workers} × {self.slots} slots"


class Site:
    """A running site; the names of services are those of ``./arena up``, ``players-N`` for its workers."""

    def __init__(self, folder: Path, supervisor: Supervisor, relay: Relay, link: Relay) -> None:
        """``link`` is between the first worker and the site, ``relay`` between it and all other workers."""
        self.folder, self.relay, self.link = folder, relay, link
        self.supervisor = supervisor
        self.token = make_worker_token()
        self._lock: sqlite3.Connection | None = None

    @property
    def workers(self) -> list[str]:
        return [name for name in guards_of(self.supervisor) if name.startswith("players-")]

    def kill(self, name: str) -> bool:
        """Kill the main process of a service; False if it is dead. Its guard ends what is below it."""
        return any(_signal(pid, signal.SIGKILL) for pid in children(guards_of(self.supervisor)[name])[:1])

    def stop(self, name: str) -> bool:
        """Stop all processes of a service by SIGSTOP until ``resume``; False if it is dead."""
        return sum(_signal(pid, signal.SIGSTOP) for pid in descendants(guards_of(self.supervisor)[name])) > 0

    def resume(self, name: str) -> None:
        for pid in descendants(guards_of(self.supervisor)[name]):
            _signal(pid, signal.SIGCONT)

    def kill_child(self, service: str) -> bool:
        """Kill a process of a worker that plays games, or one of the site; False if there is none."""
        main, *below = [*descendants(guards_of(self.supervisor)[service]), 0]
        is_alike = service == "site"
        alike = [pid for pid in below if pid and (is_alike or command_line(pid) == command_line(main))]
        return bool(alike) and _signal(random.choice(alike), signal.SIGKILL)

    def take(self, name: str) -> bool:
        """End a service until ``give_back``."""
        kept = self._kept(name)
        kept.process.kill()
        kept.restart_at = math.inf
        return True

    def give_back(self, name: str) -> None:
        self._kept(name).restart_at = 0.0

    def _kept(self, name: str) -> supervising._Kept:
        return next(kept for kept in self.supervisor._kept if kept.process.service.name == name)

    def empty_redis(self) -> bool:
        with redis.Redis(unix_socket_path=str(self.folder / "socket"), socket_timeout=10.0) as client:
            client.flushall()
        return True

    def take_database(self) -> bool:
        """End all sessions of PostgreSQL; keep the write lock of SQLite until ``return_database``."""
        from django.db import connection

        if connection.vendor == POSTGRESQL:
            with connection.cursor() as cursor:
                cursor.execute(
                    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                    " WHERE datname = current_database() AND pid <> pg_backend_pid()"
                )
            return True
        self._lock = sqlite3.connect(connection.settings_dict["NAME"], timeout=10, isolation_level=None)
        self._lock.execute("BEGIN IMMEDIATE")
        return True

    def return_database(self) -> None:
        if self._lock is not None:
            self._lock.close()
            self._lock = None

    def drain(self, finish: Callable[[], bool]) -> Iterator[str]:
        """Wait until delayed posts are delivered, ``finish`` succeeds and the record keeper has no work left.

        Meanwhile services that are dead or stopped are restarted.
        """
        self.relay.release()
        self.link.release()
        deadline = time.monotonic() + DRAIN_SECONDS
        while left := self._left(finish):
            if time.monotonic() > deadline:
                yield f"at the end: {left}"
                return
            self.supervisor.tend()
            time.sleep(0.1)

    def _left(self, finish: Callable[[], bool]) -> str:
        """What is left to do; empty if nothing."""
        from tournament.models import InboxReport, Ladder

        if held := self.relay.held + self.link.held:
            return f"{held} delayed posts are not delivered"
        if not finish():
            return "the last annulment waits for a lock"
        if waiting := InboxReport.objects.count():
            return f"the record keeper has left {waiting} reports"
        outdated = list(Ladder.objects.outdated().values_list("code", flat=True))
        return f"the ratings are not rebuilt: {', '.join(outdated)}" if outdated else ""


def _signal(pid: int, number: signal.Signals) -> bool:
    with suppress(ProcessLookupError):
        os.kill(pid, number)
        return True
    return False


@contextmanager
def running_site(terms: Terms, folder: Path) -> Iterator[Site]:
    """Start a site on a new data folder; no process is left afterwards.

    Django is set up here, so models must not be imported before.
    """
    supervising.BACKOFF_SECONDS = RESTARTS_SECONDS
    with ExitStack() as stack:
        if terms.database == POSTGRESQL:
            os.environ["DATABASE_URL"] = stack.enter_context(running_postgres())
        for name in ("REDIS_URL", "DUARENA_BUNDLES", "DUARENA_CACHE", "DUARENA_SITE", "DUARENA_HOSTS"):
            os.environ.pop(name, None)
        address = Address("127.0.0.1", find_port("127.0.0.1", 18_700 + os.getpid() % 1000))
        export(Options("up", folder, workers=terms.workers * terms.slots), address, os.environ)
        url = broker_url(folder / "socket")
        os.environ |= {"DUARENA_LEASE": str(terms.lease_s), "REDIS_URL": url}
        os.environ["DUARENA_LADDER_GAMES"] = "0" if terms.calm else MANY_GAMES
        os.environ["DUARENA_TRUST_UPLOADS"] = "1"  # the bots are those of this project
        with (folder / "console").open("w") as console:
            say = partial(print, file=console, flush=True)
            supervisor = stack.enter_context(Supervisor(logs=folder / "logs", folder=ROOT, say=say))
            if terms.database == SQLITE and databases.FOLDER in os.environ:
                databases.copy_migrated(folder / "db.sqlite3")
            open_database(folder, Console(console))
            command = redis_command(find_redis_server(), folder / "socket")
            supervisor.start(Service("redis", command, ready=partial(answers, url)))
            relay, link = (stack.enter_context(_relay(terms, address, seed)) for seed in range(2))
            yield Site(folder, supervisor, relay, link)


def _relay(terms: Terms, address: Address, seed: int) -> Relay:
    if terms.calm:
        return Relay((address.host, address.port))
    parts = {"doubled": DOUBLED, "unanswered": UNANSWERED, "held": HELD}
    return Relay((address.host, address.port), **parts, held_s=HELD_LEASES * terms.lease_s, seed=seed)


def start_services(terms: Terms, site: Site) -> None:
    """Start what ``./arena up`` starts, with several workers; without checks in a calm run."""
    port = os.environ["DUARENA_SITE"].rpartition(":")[2].rstrip("/")
    address = Address("127.0.0.1", int(port))
    (site.folder / "scratch").mkdir()
    for service in services(address, workers=terms.slots, data=site.folder, token=site.token):
        if service.name == "players":
            for number in range(terms.workers):
                site.supervisor.start(_worker(terms, site, service, number))
        elif not terms.calm or service.name != "validators":
            site.supervisor.start(replace(service, ready=lambda: True))


def _worker(terms: Terms, site: Site, service: Service, number: int) -> Service:
    """The service of one worker: its name and clock; the first has its link, and no Redis."""
    name, folder = f"players-{number + 1}", site.folder
    own = {"DUARENA_SITE": (site.relay if number else site.link).address}
    if number == 0:
        own["REDIS_URL"] = ""
    off_s = 0 if terms.calm else CLOCKS_OFF_SECONDS[number % len(CLOCKS_OFF_SECONDS)]
    return replace(
        service,
        name=name,
        command=(*service.command, f"--name={name}"),
        environment={**service.environment, **own, **(wrong_clock(folder, off_s) if off_s else {})},
    )


def wrong_clock(folder: Path, off_s: int) -> dict[str, str]:
    """The environment in which a process's clock is wrong by ``off_s`` seconds; needs a C compiler."""
    library = folder / "clock.so"
    subprocess.run(("cc", "-O2", "-shared", "-fPIC", "-o", library, CLOCK, "-ldl"), check=True)
    return {"LD_PRELOAD": str(library), "CLOCK_OFF_SECONDS": str(off_s)}
