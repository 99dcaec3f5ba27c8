"""Starts ``docker-compose.yml`` with the images at hand, has it play some games, and checks them.

All services but the proxy must become healthy, in a project of its own on a free port; the sample bots play
a round robin. Each game must be recorded once, and rebuilt ratings must be the same; else the exit code is 1.
Nothing is built or pulled: run ``docker compose build`` before. The containers and volumes are deleted.
"""

from __future__ import annotations

import json
import secrets
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

from benchmarks.measuring import Broken, describe_machine, parser_of
from tests.support.service_processes import find_port
from tournament.embedded.plan import ROOT

PROJECT, FIRST_PORT = "duarena-benchmark", 8460
SERVICES: Final = frozenset(
    {"postgres", "redis", "site", "keeper", "beat", "webhooks", "players", "validators"}
)
HEALTHY_SECONDS: Final = 900.0
PLAYED_SECONDS: Final = 600.0
LOOK_SECONDS: Final = 1.0
START: Final = """
from tournament.models import BotVersion
from tournament.services.schedule.tournaments import create_round_robin, start
bots = list(BotVersion.objects.valid().order_by("pk"))
pairs = max(1, round({games} / (len(bots) * (len(bots) - 1))))
start(event := create_round_robin(None, name="In containers", versions=bots, ladders=["dogon-kulei"],
    pairs=pairs, time_control="0.05/move", seed=1, opening_plies=2, rated_off_terms=True))
print(event.games_total)
"""
COUNT: Final = "from tournament.models import Game; print(Game.objects.done().count())"
CHECK: Final = """
import json
from tournament.models import Attempt, Game, GameRecord
from tournament.services.results.rebuilding import rebuild
print(json.dumps({
    "games": Game.objects.count(), "done": Game.objects.done().count(),
    "records": GameRecord.objects.count(),
    "recorded attempts": Attempt.objects.filter(end="recorded").count(),
    "changed by a rebuild": any(rebuilt.changed for rebuilt in rebuild("dogon-kulei")),
}))
"""


class Compose:
    """The services of the compose file, as a project of their own with the settings of a file."""

    def __init__(self, settings: Path) -> None:
        file = ROOT / "docker-compose.yml"
        words = f"docker compose --project-name={PROJECT} --file={file} --env-file={settings}"
        self._words = words.split()

    def run(self, *words: str) -> str:
        """The output of ``docker compose WORDS``; raises ``Broken`` if it fails."""
        done = subprocess.run((*self._words, *words), capture_output=True, text=True, check=False)
        if done.returncode:
            raise Broken(f"docker compose {words[0]}: {done.stderr[-2000:].strip()}")
        return done.stdout

    def ask(self, program: str) -> Any:
        """The JSON value that a program prints last in the site's container."""
        words = ("exec", "-T", "site", "python", "manage.py", "shell", "-v0", "-c", program)
        return json.loads(self.run(*words).splitlines()[-1])

    def waiting_for(self) -> str:
        """The services that are not healthy, with their states; empty if all are."""
        lines = self.run("ps", "--all", "--format=json").splitlines()
        rows: list[dict[str, str]] = [json.loads(line) for line in lines if line.startswith("{")]
        states = {row["Service"]: row["Health"] or row["State"] for row in rows}
        left = {name: states.get(name, "missing") for name in sorted(SERVICES)}
        return ", ".join(f"{name} is {state}" for name, state in left.items() if state != "healthy")


def wait_for(left: Callable[[], str], seconds: float) -> None:
    """Wait until ``left`` returns nothing; raises ``Broken`` with its last answer when the time is over."""
    deadline = time.monotonic() + seconds
    while answer := left():
        if time.monotonic() > deadline:
            raise Broken(f"after {seconds:.0f} s: {answer}")
        time.sleep(LOOK_SECONDS)


def play(compose: Compose, games: int) -> None:
    """Play and check about ``games`` games. Raises ``Broken``."""
    begun = time.monotonic()
    compose.run("up", "--detach", "--no-build", "--pull=never")
    wait_for(compose.waiting_for, HEALTHY_SECONDS)
    print(f"- {len(SERVICES)} services healthy after {time.monotonic() - begun:.0f} s", flush=True)
    begun, planned = time.monotonic(), compose.ask(START.format(games=games))

    def left() -> str:
        done = compose.ask(COUNT)
        return f"{done} of {planned} games are played" if done < planned else ""

    wait_for(left, PLAYED_SECONDS)
    print(f"- {planned} games played in {time.monotonic() - begun:.0f} s", flush=True)
    found = compose.ask(CHECK)
    expected = dict.fromkeys(("games", "done", "records", "recorded attempts"), planned)
    if found != expected | {"changed by a rebuild": False}:
        raise Broken(f"of {planned} games there are {found}")
    print("- all recorded once, rebuilt ratings are the same")


def settings_of(port: int) -> dict[str, str]:
    """What the compose file takes from ``.env``, with new secrets."""
    made = {name: secrets.token_hex(24) for name in ("POSTGRES_PASSWORD", "REDIS_PASSWORD")}
    return made | {
        "DUARENA_SECRET_KEY": secrets.token_hex(32),
        "DUARENA_WORKER_TOKEN": f"duarena_{secrets.token_hex(32)}",
        "DUARENA_LISTEN": f"127.0.0.1:{port}",
        "DUARENA_SANDBOX": "B",
        "DUARENA_LADDER_GAMES": "0",
    }


def main(arguments: Sequence[str] | None = None) -> int:
    parser = parser_of("containers", __doc__)
    parser.add_argument("--games", type=int, default=50, help="approximate number (%(default)s)")
    options = parser.parse_args(arguments)
    if shutil.which("docker") is None:
        parser.error("docker is not installed")
    print(*describe_machine(), sep="\n", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "env")
        settings = settings_of(find_port("127.0.0.1", FIRST_PORT))
        path.write_text("".join(f"{name}={value}\n" for name, value in settings.items()))
        compose = Compose(path)
        try:
            play(compose, options.games)
        except Broken as error:
            print(f"- wrong: {error}")
            return 1
        finally:
            compose.run("down", "--volumes", "--timeout=5")
    return 0


if __name__ == "__main__":
    sys.exit(main())
