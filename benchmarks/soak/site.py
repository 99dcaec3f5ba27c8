"""The site of the soak test: database, Redis behind a relay, beat, record keeper, game workers."""

from __future__ import annotations

import os
import secrets
import shutil
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import redis

from benchmarks.soak.clock import compile_clock, environment_of, measure_offset_s
from benchmarks.soak.event import nodes_of, start_event
from benchmarks.soak.network import SITE_HOST, Network
from benchmarks.soak.processes import Orphans, ServiceProcess
from benchmarks.soak.relay import Relay
from benchmarks.soak.terms import POSTGRESQL, Terms
from tests.support.postgres import running_postgres
from tournament.embedded.console import Console
from tournament.embedded.database import open_database
from tournament.embedded.options import Options, export
from tournament.embedded.plan import Address, services
from tournament.embedded.processes.redis_server import broker_url, find_redis_server, redis_command
from workers.commands.start import KEY, worker_name

CLOCKS_OFF_S: Final = (0, 3600, -3600)
"""Clock offsets of the workers, in rotation."""
HELD: Final = 0.05
"""The part of the messages with reports that are delayed."""
HELD_LEASES: Final = 1.5
"""The delay, in leases."""
LADDER_GAMES: Final = 36_000
"""Games an hour: more than can be played, so that workers are never idle."""
REDIS_PORT: Final = 6379
READY_S: Final = 30.0
DRAIN_S: Final = 60.0


@dataclass(frozen=True, slots=True)
class Site:
    """A running site; ``store`` is Redis, with its data in ``folder / "redis"``.

    Either a relay is before Redis, or there is a network of hosts.
    """

    folder: Path
    store: ServiceProcess
    client: redis.Redis
    """A client of this Redis."""
    relay: Relay | None
    network: Network | None
    beat: ServiceProcess
    keeper: ServiceProcess
    workers: Sequence[ServiceProcess]
    orphans: Orphans

    @property
    def logs(self) -> Path:
        return self.folder / "logs"

    @property
    def processes(self) -> list[ServiceProcess]:
        return [self.store, self.beat, self.keeper, *self.workers]

    def restart_dead(self) -> None:
        for process in self.processes:
            process.restart_if_dead()

    def forget_messages(self) -> None:
        """Delete the data of Redis, which must not be running."""
        shutil.rmtree(self.folder / "redis")
        (self.folder / "redis").mkdir()

    def drain(self) -> Iterator[str]:
        """Wait until the record keeper has processed all messages and rebuilt the ratings of all ladders."""
        deadline = time.monotonic() + DRAIN_S
        while left := self._left():
            if time.monotonic() > deadline:
                yield f"at the end: {left}"
                return
            self.restart_dead()
            time.sleep(0.1)

    def _left(self) -> str:
        """What the record keeper has left to do; empty if nothing. Redis may have been killed just now."""
        from tournament.models import Ladder

        try:
            waiting = self.client.llen("records")
        except redis.RedisError as error:
            return f"Redis does not answer: {error}"
        if waiting:
            return f"the record keeper has left {waiting} messages"
        outdated = list(Ladder.objects.outdated().values_list("code", flat=True))
        return f"the ratings are not rebuilt: {', '.join(outdated)}" if outdated else ""

    def stop(self) -> Iterator[str]:
        """Stop all processes, the workers first; yields a sentence for each that did not end."""
        for process in (*self.workers, self.beat, self.keeper, self.store):
            if sentence := process.stop():
                yield sentence


@contextmanager
def running_site(terms: Terms, folder: Path) -> Iterator[Site]:
    """Start a site with tournaments on a new data folder; on leaving, all its processes are killed."""
    with ExitStack() as stack:
        if terms.database == POSTGRESQL:
            os.environ["DATABASE_URL"] = stack.enter_context(running_postgres())
        network = stack.enter_context(Network(terms.workers)) if terms.hosts else None
        orphans = Orphans()
        _set_environment(terms, folder)
        open_database(folder, Console(sys.stdout))
        store, client = _start_redis(folder, network)
        stack.callback(store.kill)
        relay = None if network else stack.enter_context(_relay(terms, folder))
        start_event(terms)
        site = Site(
            folder, store, client, relay, network, *_service_processes(terms, folder, network), orphans
        )
        try:
            for process in (site.beat, site.keeper, *site.workers):
                process.start()
            yield site
        finally:
            for process in site.processes:
                process.kill()


def _set_environment(terms: Terms, folder: Path) -> None:
    """Set the environment as ``./arena up`` does."""
    for name in ("REDIS_URL", "DUARENA_BUNDLES", "DUARENA_CACHE", "DUARENA_SITE", "DUARENA_HOSTS"):
        os.environ.pop(name, None)
    options = Options("up", folder, workers=terms.workers * terms.slots)
    export(options, Address(options.host, options.port), os.environ)
    os.environ |= {
        "DUARENA_LEASE": str(terms.lease_s),
        "DUARENA_LADDER_GAMES": str(LADDER_GAMES if terms.ladders else 0),
        "DUARENA_LADDER_TIME": nodes_of(terms),
        # The bots are those of this project; root, also in a namespace of its own, has no sandbox for them.
        "DUARENA_TRUST_UPLOADS": "1" if terms.ladders or os.geteuid() == 0 else "",
    }


def _start_redis(folder: Path, network: Network | None) -> tuple[ServiceProcess, redis.Redis]:
    """Start Redis on a socket, or with a password for the network's hosts, and set ``REDIS_URL``."""
    command = redis_command(find_redis_server(), folder / "socket", folder)
    client = redis.Redis(unix_socket_path=str(folder / "socket"))
    os.environ["REDIS_URL"] = broker_url(folder / "relay")
    if network:
        password = secrets.token_urlsafe(16)
        command += ("--bind", SITE_HOST, "--port", str(REDIS_PORT), "--requirepass", password)
        client = redis.Redis(SITE_HOST, REDIS_PORT, password=password)
        os.environ["REDIS_URL"] = f"redis://:{password}@{SITE_HOST}:{REDIS_PORT}/0"
    store = ServiceProcess("redis", command, os.environ.copy(), folder / "redis.log")
    store.start()
    deadline = time.monotonic() + READY_S
    while not _answers(client):
        assert time.monotonic() < deadline, "Redis does not start"
        time.sleep(0.05)
    return store, client


def _answers(client: redis.Redis) -> bool:
    try:
        return bool(client.ping())
    except redis.RedisError:
        return False


def _relay(terms: Terms, folder: Path) -> Relay:
    if terms.calm:
        return Relay(folder / "relay", folder / "socket")
    return Relay(
        folder / "relay",
        folder / "socket",
        doubles=True,
        holds=HELD,
        held_s=HELD_LEASES * terms.lease_s,
        seed=terms.seed,
    )


def _service_processes(
    terms: Terms, folder: Path, network: Network | None
) -> tuple[ServiceProcess, ServiceProcess, list[ServiceProcess]]:
    """Beat, the record keeper and the workers, with the commands of ``./arena up``."""
    planned = services(Address("127.0.0.1", 0), workers=terms.slots, data=folder)
    plan = {service.name: service for service in planned}
    logs = folder / "logs"
    logs.mkdir()
    (folder / "scratch").mkdir()
    beat, keeper = (
        ServiceProcess(name, plan[name].command, os.environ.copy(), logs / f"{name}.log")
        for name in ("beat", "keeper")
    )
    workers = []
    for number in range(terms.workers):
        name, service = f"players-{number + 1}", plan["players"]
        key = {KEY: _key_of(worker_name(name, "games"))}
        environment = {**os.environ, **service.environment, **_clock(terms, folder, number), **key}
        host = network.prefix(number) if network else ()
        command = (*host, *service.command, f"--name={name}")
        workers.append(ServiceProcess(name, command, environment, logs / f"{name}.log"))
    return beat, keeper, workers


def _key_of(worker: str) -> str:
    from django.utils import timezone

    from tournament.services.accounts.worker_keys import register_worker

    return register_worker(worker, None, timezone.now()).key


def _clock(terms: Terms, folder: Path, number: int) -> dict[str, str]:
    off_s = 0 if terms.calm or terms.hosts else CLOCKS_OFF_S[number % len(CLOCKS_OFF_S)]
    if off_s == 0:
        return {}
    environment = environment_of(compile_clock(folder), off_s)
    measured = measure_offset_s({**os.environ, **environment})
    assert abs(measured - off_s) < 60, f"the clock should be wrong by {off_s} s, and is by {measured:.0f} s"
    return environment
