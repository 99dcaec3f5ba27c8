"""Which processes make a site on one machine, and in which order.

``docker-compose.yml`` starts the same commands, a container each.
"""

from __future__ import annotations

import secrets
import sys
import urllib.error
import urllib.request
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path

from tournament.embedded.processes.process import Service

ROOT = Path(__file__).resolve().parent.parent.parent
HEALTH_TIMEOUT_SECONDS = 5.0
PLAYERS_NICENESS = 5
"""Workers get a lower priority than the record keeper: a keeper with half a core falls behind, reports
queue up, and then all slots wait for it. Where the kernel gives each session its share of a core
(``sched(7)``, autogroups) this has no effect: the keeper, in its own session, gets as much as an engine.
"""
ALONE = ("--without-gossip", "--without-mingle")
"""The record keeper needs no news of other workers of Celery."""


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
    address: Address,
    *,
    workers: int,
    data: Path,
    token: str,
    listener: int | None = None,
    terminal: tuple[int, ...] = (),
) -> list[Service]:
    """All services but Redis, in the order of starting: workers start last and stop first.

    ``token`` is the worker token with which the site's own workers ask it for work; only they and the site
    get it. ``listener`` is the descriptor of a socket that listens at the address; without it the site makes
    its own. ``terminal`` are descriptors of input, output and errors for a site of one process.
    """
    where = f"--bind={address.bind}" if listener is None else f"--descriptor={listener}"
    scratch = data / "scratch"
    own = {
        "TMPDIR": str(scratch),  # what killed engines leave there is deleted at the next start
        "DUARENA_SITE": address.url,
        "DUARENA_TOKEN": token,
    }
    return [
        Service(
            "site",
            (sys.executable, "-m", "tournament.http", where, *(f"--terminal={one}" for one in terminal)),
            descriptors=(*terminal, *(() if listener is None else (listener,))),
            environment={"DUARENA_WORKER_TOKEN": token},
            ready=lambda: is_up(address),
        ),
        Service("beat", _celery("beat", "--schedule", str(data / "beat-schedule"), "--pidfile=")),
        Service(
            "keeper",
            _celery("worker", "--hostname=keeper@%h", "--purge", *ALONE),
        ),
        Service("webhooks", (sys.executable, "manage.py", "send_webhooks")),
        Service("players", _worker("games", f"--slots={workers}"), own),
        Service("validators", _worker("validation"), own),  # idle except for new bots, which need not wait
    ]


def make_worker_token() -> str:
    """A new token for the workers that are started with the site."""
    return f"duarena_{secrets.token_urlsafe(32)}"


def _celery(*arguments: str) -> tuple[str, ...]:
    return (sys.executable, "-m", "celery", "--app", "tournament", *arguments, "--loglevel=INFO")


def _worker(queue: str, *arguments: str) -> tuple[str, ...]:
    niceness = f"--nice={PLAYERS_NICENESS}"
    return (sys.executable, "-m", "workers", "start", f"--queue={queue}", niceness, *arguments)


def is_up(address: Address) -> bool:
    """Whether the site answers, also if it names a trouble such as a full disk."""
    try:
        with urllib.request.urlopen(f"{address.url}/healthz?live", timeout=HEALTH_TIMEOUT_SECONDS):
            return True
    except urllib.error.HTTPError as error:
        return error.code == HTTPStatus.SERVICE_UNAVAILABLE
    except OSError:
        return False
