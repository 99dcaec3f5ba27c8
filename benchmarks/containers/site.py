"""The site in containers, seen from outside: its pages, its metrics, its commands."""

from __future__ import annotations

import json
import os
import signal
import ssl
import time
import urllib.request
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from benchmarks.containers.engine import Compose, Docker
from benchmarks.runs import Broken

HEALTHY_S: Final = 900.0
"""On a busy machine the checks themselves take long."""
PATIENCE_S: Final = 600.0
LOOK_S: Final = 0.25
SERVICES: Final = ("postgres", "redis", "site", "proxy", "keeper", "beat", "players", "validators")

_STATE = """
import json
from tournament.models import Game, GameRecord, Tournament
from tournament.services.results.rebuilding import rebuild
ladders = {code for event in Tournament.objects.all() for code in event.ladders}
print(json.dumps({
    "open": list(Tournament.objects.exclude(state="finished").values_list("name", "state")),
    "games": Game.objects.filter(state="done").count(),
    "all": Game.objects.count(),
    "records": GameRecord.objects.count(),
    "changed": [code for code in sorted(ladders) for rebuilt in rebuild(code) if rebuilt.changed],
}))
"""


@dataclass(frozen=True, slots=True)
class ContainerSite:
    """A site in containers, behind the proxy at ``url``; ``token`` opens its metrics.

    ``certificate`` is that of the proxy, and ``plain`` the address without TLS.
    """

    docker: Docker
    compose: Compose
    url: str
    token: str
    certificate: Path
    plain: str

    def start(self) -> str:
        """Start all services and wait until they are healthy; returns a sentence."""
        begun = time.monotonic()
        self.compose.run("up", "--detach", "--no-build")
        self.wait_until_healthy()
        shown = len(self.page("/bots/bots.csv").splitlines()) - 1
        if shown < 1:
            raise Broken("no sample bot is registered")
        took = time.monotonic() - begun
        return f"{len(SERVICES)} services healthy after {took:.0f} s, with {shown} sample bots"

    def scale(self, **numbers: int) -> None:
        """Have so many containers of each of these services, and wait until all are healthy."""
        words = [f"--scale={service}={number}" for service, number in numbers.items()]
        self.compose.run("up", "--detach", "--no-build", *words)
        self.wait_until_healthy()

    def wait_until_healthy(self) -> None:
        def all_healthy() -> bool:
            states = self.compose.states()
            lasting = {name: state for name, state in states.items() if "-migrate-" not in name}
            return len(lasting) >= len(SERVICES) and set(lasting.values()) == {"healthy"}

        wait_until(all_healthy, HEALTHY_S, lambda: f"not all are healthy: {self.compose.states()}", pause=2.0)

    def kill(self, container: str) -> None:
        """Kill the main process of a container, and wait until Docker has started it again."""
        restarts = ("inspect", "--format={{.RestartCount}}", container)
        before = int(self.docker.run(*restarts))
        os.kill(self.docker.main_process(container), signal.SIGKILL)
        wait_until(
            lambda: int(self.docker.run(*restarts)) > before, PATIENCE_S, lambda: f"{container} stays dead"
        )

    def page(self, path: str, **headers: str) -> str:
        request = urllib.request.Request(self.url + path, headers=headers)
        with urllib.request.urlopen(request, timeout=30, context=self.trust()) as answer:
            return str(answer.read().decode())

    def trust(self) -> ssl.SSLContext:
        """The context of a client that trusts the certificate."""
        return ssl.create_default_context(cafile=str(self.certificate))

    def recorded(self) -> int:
        """The recorded games, from the site's metrics; -1 if the site does not answer."""
        try:
            text = self.page("/metrics", Authorization=f"Bearer {self.token}")
        except OSError:
            return -1
        found = [line for line in text.splitlines() if line.startswith("duarena_games_recorded_total")]
        return round(sum(float(line.rpartition(" ")[2]) for line in found))

    def run(self, program: str) -> Any:
        """Run a program of Python in the site's container; returns the JSON value that it prints last."""
        read = "import sys; exec(sys.stdin.read())"
        words = ("exec", "-T", "site", "python", "manage.py", "shell", "-v0", "-c", read)
        output = self.compose.run(*words, text=program)
        return json.loads(output.strip().splitlines()[-1])

    def wait_for(self, games: int) -> None:
        """Wait until so many games are recorded."""
        wait_until(
            lambda: self.recorded() >= games, PATIENCE_S, lambda: f"{self.recorded()} of {games} games"
        )

    def check(self) -> str:
        """Check that every game is recorded once and that rebuilt ratings are the same."""
        state = self.run(_STATE)
        if state["open"] or state["changed"] or not state["games"] == state["all"] == state["records"]:
            raise Broken(str(state))
        return f"all {state['games']} games are recorded once, and rebuilt ratings are the same"


def wait_until(
    condition: Callable[[], bool], seconds: float, why: Callable[[], str], pause: float = LOOK_S
) -> None:
    """Poll a condition; raises ``Broken`` with ``why()`` when the time is over."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            raise Broken(why())
        time.sleep(pause)
