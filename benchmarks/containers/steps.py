"""What is done with the site in containers, each step with a line about it."""

from __future__ import annotations

import base64
import inspect
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Final

from benchmarks import throughput
from benchmarks.containers.site import PATIENCE_S, ContainerSite, wait_until
from benchmarks.runs import Broken
from engines.bots import SAMPLE_BOTS
from engines.rules.registry import GAMES
from tournament.embedded.plan import ROOT
from workers.bundles.store import pack_bundle

CUT_OFF_S: Final = 45.0
"""Longer than a lease."""

_PREPARE: Final = """
import base64, json, time
from collections.abc import Sequence
from workers.bundles.store import inspect_bundle, store_bundle
MEETINGS, PLY_LIMIT = {meetings}, {ply_limit}
{register}
{prepare}
_prepare([base64.b64decode(text) for text in {zips}], {ladder!r}, {games})
from tournament.models import Tournament
print(json.dumps(Tournament.objects.latest("id").games_total))
"""
_AGAIN: Final = """
import json
from tournament.models import BotVersion, Tournament
from tournament.services.schedule.tournaments import create_round_robin, start
versions = list(BotVersion.objects.filter(bot__name__startswith="Instant"))
event = create_round_robin(None, name="Again", versions=versions, ladders=[{ladder!r}], pairs={pairs},
    time_control="10+0.1", seed=2, opening_plies=2)
start(event)
print(json.dumps(event.games_total))
"""
_TOKEN: Final = """
import json
from tournament.models import User
from tournament.services.accounts.tokens import create_token
user = User.objects.create_user("ada", password="a long password of ada")
print(json.dumps(create_token(user, "upload", ["upload"])[1]))
"""


def measure_rate(site: ContainerSite, ladder: str, games: int, folder: Path) -> None:
    """Play a round robin of instant bots and print its games a second, between a tenth and nine tenths."""
    zips = [base64.b64encode(content).decode() for content in throughput.pack_bots(GAMES[ladder], folder)]
    program = _PREPARE.format(
        meetings=throughput.MEETINGS,
        ply_limit=throughput.PLY_LIMIT,
        register=inspect.getsource(throughput._register).replace("-> BotVersion", ""),
        prepare=inspect.getsource(throughput._prepare),
        zips=json.dumps(zips),
        ladder=ladder,
        games=games,
    )
    total = int(site.run(program))
    marks: list[tuple[float, int]] = []
    first, last = (share * total for share in throughput.MARGINS)

    def look() -> bool:
        recorded = site.recorded()
        if first <= recorded <= last:
            marks.append((time.monotonic(), recorded))
        return recorded >= total

    wait_until(look, PATIENCE_S, lambda: f"{site.recorded()} of {total} games")
    (begun, before), (ended, after) = marks[0], marks[-1]
    print(f"- {ladder}: {(after - before) / (ended - begun):.0f} games a second recorded")


def play_through_faults(site: ContainerSite, ladder: str, games: int) -> None:
    """Play a round robin while containers die, lose their network and are replaced."""
    before = site.recorded()
    total = start_again(site, ladder, max(1, games // 2 // throughput.MEETINGS))
    site.wait_for(before + 1)
    for service in ("players", "keeper", "redis", "beat", "postgres", "site"):
        _kill(site, service, before + total)
    _cut_off(site, "players", before + total)
    site.compose.run(
        "up", "--detach", "--no-build", "--force-recreate", "--no-deps", "keeper", "players", "site"
    )
    site.wait_until_healthy()
    print("- the record keeper, the players and the site were replaced by new containers")
    site.wait_for(before + total)


def start_again(site: ContainerSite, ladder: str, pairs: int) -> int:
    """Start another round robin of the instant bots; returns its number of games."""
    return int(site.run(_AGAIN.format(ladder=ladder, pairs=pairs)))


def _kill(site: ContainerSite, service: str, last: int) -> None:
    """Kill the main process of a container; Docker must start it again, and games must go on."""
    (container,) = site.compose.containers(service)
    begun = time.monotonic()
    site.kill(container)
    wait_for_a_game(site, last)
    print(f"- {service} was killed; the next game was recorded after {time.monotonic() - begun:.0f} s")


def _cut_off(site: ContainerSite, service: str, last: int) -> None:
    """Disconnect a container from its network for longer than a lease."""
    (container,) = site.compose.containers(service)
    inspect_networks = ("inspect", "--format={{json .NetworkSettings.Networks}}", container)
    networks = list(json.loads(site.docker.run(*inspect_networks)))
    for network in networks:
        site.docker.run("network", "disconnect", network, container)
    time.sleep(CUT_OFF_S)
    for network in networks:
        site.docker.run("network", "connect", network, container)
    begun = time.monotonic()
    wait_for_a_game(site, last)
    took = time.monotonic() - begun
    print(f"- {service} had no network for {CUT_OFF_S:.0f} s; a game came {took:.0f} s later")


def wait_for_a_game(site: ContainerSite, last: int) -> None:
    """Wait until one more game is recorded, or all ``last`` are."""
    wait_until(lambda: site.recorded() >= 0, PATIENCE_S, lambda: "the site does not answer")
    games = site.recorded()
    wait_until(lambda: site.recorded() >= min(games + 1, last), PATIENCE_S, lambda: f"still {games} games")


def upload_bot(site: ContainerSite, folder: Path) -> None:
    """Upload a bot by the API and wait until it is validated, in the sandbox of a container."""
    sample = next(sample for sample in SAMPLE_BOTS if sample.name == "Random")
    manifest = '[bot]\nname = "Uploaded"\nversion = "1"\ncommand = ["python3", "main.py"]\ngames = ["{}"]\n'
    bundle = folder / "uploaded.zip"
    content = {"bot.toml": manifest.format(sample.games[0]).encode(), "main.py": sample.path.read_bytes()}
    bundle.write_bytes(pack_bundle(content))
    begun = time.monotonic()
    run = subprocess.run(
        (sys.executable, "-m", "engines", "submit", str(bundle), f"--site={site.url}"),
        cwd=ROOT,
        env={**os.environ, "DUARENA_TOKEN": str(site.run(_TOKEN)), "SSL_CERT_FILE": str(site.certificate)},
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )
    if run.returncode:
        raise Broken(f"the uploaded bot is not valid: {run.stdout[-1000:]}{run.stderr[-1000:]}")
    print(f"- a bot was uploaded and validated in {time.monotonic() - begun:.0f} s")
