"""Which processes make a site on one machine, and in which order.

``docker-compose.yml`` starts the same commands, a container each.
"""

from __future__ import annotations

import secrets
import sys
import urllib.error
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from tournament.embedded.processes.process import Service
from tournament.monitoring.sharing import FOLDER
from workers.bundles.bundle_site import TokenRevoked
from workers.silence import PULSE, Touched

ROOT = Path(__file__).resolve().parent.parent.parent
HEALTH_TIMEOUT_S = 5.0
PLAYERS_NICENESS = 5
"""Workers get a lower priority than the record keeper: a keeper with half a core falls behind, reports
queue up, and then all slots wait for it. Where the kernel gives each session its share of a core
(``sched(7)``, autogroups) this has no effect: the keeper, in its own session, gets as much as an engine.
"""
ALONE = ("--without-gossip", "--without-mingle")
"""The record keeper exchanges no messages with other workers of Celery."""


@dataclass(frozen=True, slots=True)
class Address:
    """The host and port on which the site listens."""

    host: str
    port: int

    @property
    def url(self) -> str:
        """The URL for a browser on this machine."""
        return f"http://{self.own_host}:{self.port}"

    @property
    def own_host(self) -> str:
        """The host in ``url``."""
        host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(self.host, self.host)
        return f"[{host}]" if ":" in host else host

    @property
    def bind(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


def services(
    address: Address, *, workers: int, data: Path, token: str, listener: int | None = None
) -> list[Service]:
    """All services but Redis, in the order of starting: workers start last and stop first.

    ``token`` is the worker token with which the site's own workers ask it for work; only they and the site
    get it. ``listener`` is the descriptor of a socket that listens at the address; without it the site makes
    its own.
    """
    where = f"--bind={address.bind}" if listener is None else f"--descriptor={listener}"
    own = {
        "TMPDIR": str(scratch_folder(data)),  # what killed engines leave there is deleted at the next start
        "DUARENA_SITE": address.url,
        "DUARENA_TOKEN": token,
    }
    planned = (
        Service(
            "site",
            (sys.executable, "-m", "tournament.http", where),
            descriptors=() if listener is None else (listener,),
            environment={FOLDER: str(scratch_folder(data) / "metrics"), "DUARENA_WORKER_TOKEN": token},
            ready=lambda: is_up(address),
            alive=lambda: fetch_status(address.url + "/healthz") != 0,
        ),
        Service("beat", _celery("beat", "--schedule", str(data / "beat-schedule"), "--pidfile=")),
        Service(
            "keeper",
            _celery("worker", "--queues=look", "--pool=solo", "--hostname=keeper@%h", *ALONE),
        ),
        _worker("players", "games", own, f"--slots={workers}"),
        _worker("validators", "validation", own),  # idle except for new bots, which need not wait
    )
    return [_with_pulse(service, data / "pulses" / service.name) for service in planned]


def _with_pulse(service: Service, pulse: Path) -> Service:
    """The service with the file that it touches while it is well, beside its own check."""
    touched, responds = Touched(pulse), service.alive
    return replace(
        service,
        environment={**service.environment, PULSE: str(pulse)},
        alive=lambda: touched() and responds(),
    )


def make_worker_token() -> str:
    """A new token for the workers that are started with the site."""
    return f"duarena_{secrets.token_urlsafe(32)}"


def scratch_folder(data: Path) -> Path:
    """The folder for engines' temporary folders."""
    return data / "scratch"


def _celery(*arguments: str) -> tuple[str, ...]:
    return (sys.executable, "-m", "celery", "--app", "tournament.celery", *arguments, "--loglevel=INFO")


def _worker(name: str, queue: str, environment: Mapping[str, str], *arguments: str) -> Service:
    niceness = f"--nice={PLAYERS_NICENESS}"
    return Service(
        name,
        (sys.executable, "-m", "workers", "start", f"--queue={queue}", niceness, *arguments),
        final=TokenRevoked.exit_status,
        environment=environment,
        patience_s=8.0,  # to give back the games being played
    )


def is_up(address: Address) -> bool:
    """Whether the site answers, also if it names a trouble such as a full disk."""
    return fetch_status(address.url + "/healthz") in {200, 503}


def fetch_status(url: str) -> int:
    """The HTTP status of a page; 0 if no server answers."""
    try:
        with urllib.request.urlopen(url, timeout=HEALTH_TIMEOUT_S) as answer:
            return int(answer.status)
    except urllib.error.HTTPError as error:
        return error.code
    except OSError:
        return 0
