"""Which processes make a site on one machine, and in which order.

``docker-compose.yml`` starts the same commands, a container each.
"""

from __future__ import annotations

import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tournament.embedded.process import Service

ROOT = Path(__file__).resolve().parent.parent.parent
HEALTH_TIMEOUT_S = 5.0
PLAYERS_NICENESS = 5
"""Who plays leaves the processor to who records: else games pile up before a keeper that gets half a core,
and then all slots wait for it alone."""


@dataclass(frozen=True, slots=True)
class Address:
    """Where the site listens."""

    host: str
    port: int

    @property
    def url(self) -> str:
        """As a browser on this machine reaches it."""
        host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(self.host, self.host)
        return f"http://[{host}]:{self.port}" if ":" in host else f"http://{host}:{self.port}"

    @property
    def bind(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


def services(address: Address, *, workers: int, data: Path) -> Iterator[Service]:
    """Everything but Redis, in the order of starting: who does the work starts last and stops first."""
    yield Service("site", _site(address), ready=lambda: is_healthy(address))
    yield Service(
        "beat", _celery("tournament", "beat", "--schedule", str(data / "beat-schedule"), "--pidfile=")
    )
    yield Service(
        "keeper", _celery("tournament", "worker", "--queues=records", "--pool=solo", "--hostname=keeper@%h")
    )
    yield Service(
        "players",
        _worker("games", f"--slots={workers}"),
        # Whatever engines leave there when all is killed, the next start clears away.
        environment={"TMPDIR": str(scratch_folder(data))},
        patience_s=8.0,  # to give back the games being played
    )
    yield Service(
        "validators",  # idle but for new bots, which wait for no tournament
        _worker("validation"),
        environment={"TMPDIR": str(scratch_folder(data))},
        patience_s=8.0,
    )


def scratch_folder(data: Path) -> Path:
    """Where engines have their temporary folders."""
    return data / "scratch"


def _site(address: Address) -> tuple[str, ...]:
    options = (
        "--workers=2",
        "--threads=4",
        f"--bind={address.bind}",
        "--access-logfile=-",
        "--graceful-timeout=5",
        "--no-control-socket",  # it would lie in the home folder, one for all sites
    )
    return (sys.executable, "-m", "gunicorn", *options, "tournament.wsgi:application")


def _celery(package: str, *words: str) -> tuple[str, ...]:
    common = ("--without-gossip", "--without-mingle") if "worker" in words else ()
    return (sys.executable, "-m", "celery", "--app", f"{package}.celery", *words, "--loglevel=INFO", *common)


def _worker(queue: str, *words: str) -> tuple[str, ...]:
    modest = f"--nice={PLAYERS_NICENESS}"
    return (sys.executable, "-m", "workers", "start", f"--queue={queue}", modest, *words)


def is_healthy(address: Address) -> bool:
    return fetch_status(address.url + "/healthz") == 200


def fetch_status(url: str) -> int:
    """The status a page answers with; 0 where nobody answers."""
    try:
        with urllib.request.urlopen(url, timeout=HEALTH_TIMEOUT_S) as answer:
            return int(answer.status)
    except urllib.error.HTTPError as error:
        return error.code
    except OSError:
        return 0
