"""Starts the site of ``docker-compose.yml`` in containers and says what it withstands and how fast it plays.

Without a container engine it starts one, and without an image registry it makes the images (``images.py``),
which takes about ten minutes the first time and needs root, dockerd, Docker Compose and debootstrap. The
site's network is its own; it is reached through three ports of this machine. In order:

1. all services become healthy, and the sample bots are registered;
2. the proxy serves pages by TLS, files without the site, and refuses a flood; ``site.env`` is read;
3. a round robin of bots in C is played, for games a second, as in ``benchmarks.throughput``;
4. while another one is played, containers are killed, cut off from the network and made again;
5. a bot is uploaded and validated;
6. there are two containers of the site, then two record keepers, then three of players, and one is removed
   or killed; a slot of a worker is stopped by a signal;
7. a backup is restored into new volumes, and the site plays on.

Each game must be recorded once, and rebuilt ratings must be the same. The exit code is 1 if not.

    sudo .venv/bin/python -m benchmarks.containers --images /var/tmp/duarena-images
    sudo .venv/bin/python -m benchmarks.containers --step pages --step keeper
"""

from __future__ import annotations

import argparse
import secrets
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

from benchmarks.containers.behind import (
    SETTING,
    look_through_proxy,
    play_again,
    read_settings,
    restore_backup,
)
from benchmarks.containers.engine import Compose, Docker, container_engine
from benchmarks.containers.images import make_images
from benchmarks.containers.play import share_games, share_keeper, stop_slot
from benchmarks.containers.scale import share_site
from benchmarks.containers.site import ContainerSite
from benchmarks.containers.steps import measure_rate, play_through_faults, upload_bot
from benchmarks.machine import describe_machine
from benchmarks.runs import Broken
from engines.rules.registry import GAMES
from tournament.embedded.options import find_port
from tournament.embedded.plan import ROOT

PROJECT = "duarena-benchmark"
FIRST_PORTS = (8460, 8480, 8500)
"""From which free ones are looked for: of the site, of HTTP and of HTTPS."""
SITE_PORTS = 10
"""One for each container of the site."""
STEPS: Final[dict[str, Callable[[ContainerSite, argparse.Namespace, Path], object]]] = {
    "proxy": lambda site, _, __: look_through_proxy(site),
    "settings": lambda site, _, __: read_settings(site),
    "rate": lambda site, options, folder: measure_rate(site, options.ladder, options.games, folder),
    "faults": lambda site, options, _: play_through_faults(site, options.ladder, options.games),
    "upload": lambda site, _, folder: upload_bot(site, folder),
    "pages": lambda site, _, __: share_site(site),
    "keeper": lambda site, options, _: share_keeper(site, options.ladder),
    "players": lambda site, options, _: share_games(site, options.ladder),
    "slot": lambda site, options, _: stop_slot(site, options.ladder),
    "check": lambda site, _, __: print(f"- {site.check()}"),
    "restore": lambda site, _, folder: restore_backup(site, folder),
    "again": lambda site, options, _: play_again(site, options.ladder),
}
"""In their order; ``faults`` and ``again`` play with the bots of ``rate``."""


def main(arguments: Sequence[str] | None = None) -> int:
    options = _parser().parse_args(arguments)
    sys.stdout.reconfigure(line_buffering=True)  # type: ignore[union-attr]
    print(*describe_machine(), sep="\n")
    try:
        with container_engine(options.images) as docker:
            make_images(docker)
            _run(docker, options)
    except Broken as error:
        print(f"- wrong: {error}")
        return 1
    return 0


def _run(docker: Docker, options: argparse.Namespace) -> None:
    ports = [find_port("127.0.0.1", first) for first in FIRST_PORTS]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        token = secrets.token_hex(16)
        file = _copy_project(folder / "project")
        values = folder / "env"
        values.write_text(_values(ports, token, options.slots))
        compose = Compose(docker, PROJECT, file, values)
        certificate = file.parent / "certificates" / "fullchain.pem"
        plain, tls = f"http://127.0.0.1:{ports[1]}", f"https://127.0.0.1:{ports[2]}"
        site = ContainerSite(docker, compose, tls, token, certificate, plain)
        try:
            print(f"- {site.start()}")
            for name in options.step or STEPS:
                STEPS[name](site, options, folder)
        except Broken:
            print(compose.run("logs", "--tail=15", "--no-color", check=False), file=sys.stderr)
            raise
        finally:
            compose.run("down", "--volumes", "--timeout=5", check=False)


def _copy_project(folder: Path) -> Path:
    """The compose file in a folder of its own, with the files that it names; returns its place."""
    for path in ("docker-compose.yml", "docs/nginx/nginx.conf", "workers/sandbox/container.json"):
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / path, folder / path)
    (folder / "site.env").write_text(f"{SETTING[0]}={SETTING[1]}\n")
    (folder / "acme").mkdir()
    keys = folder / "certificates"
    keys.mkdir()
    request = "openssl req -x509 -newkey rsa:2048 -nodes -days 7 -subj /CN=duarena.example"
    request += " -addext subjectAltName=IP:127.0.0.1"
    files = ("-keyout", str(keys / "privkey.pem"), "-out", str(keys / "fullchain.pem"))
    subprocess.run((*request.split(), *files), check=True, capture_output=True)
    return folder / "docker-compose.yml"


def _values(ports: Sequence[int], token: str, slots: int) -> str:
    made = {name: secrets.token_hex(24) for name in ("POSTGRES_PASSWORD", "REDIS_PASSWORD")}
    made |= {
        "DUARENA_SECRET_KEY": secrets.token_hex(32),
        "DUARENA_WORKER_TOKEN": f"duarena_{secrets.token_hex(32)}",
        "DUARENA_METRICS_TOKEN": token,
        "DUARENA_LISTEN": f"127.0.0.1:{ports[0]}-{ports[0] + SITE_PORTS - 1}",
        "DUARENA_HTTP": f"127.0.0.1:{ports[1]}",
        "DUARENA_HTTPS": f"127.0.0.1:{ports[2]}",
        "DUARENA_SITE": f"https://127.0.0.1:{ports[2]}",
        "DUARENA_HOSTS": "duarena.example",  # the health check has another name
        "DUARENA_PROXY": "10.213.87.2",
        "COMPOSE_PROFILES": "proxy",
        "DUARENA_SANDBOX": "B",
        "DUARENA_LADDER_GAMES": "0",
        "DUARENA_PLAYER_SLOTS": str(slots),
    }
    return "".join(f"{name}={value}\n" for name, value in made.items())


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.containers", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("--images", type=Path, default=Path("/var/tmp/duarena-images"), metavar="FOLDER")
    parser.add_argument("--ladder", choices=GAMES, default="dogon-kulei")
    parser.add_argument("--games", type=int, default=6000, help="games of each tournament (%(default)s)")
    parser.add_argument("--slots", type=int, default=2, help="games at a time (%(default)s)")
    parser.add_argument("--step", action="append", choices=STEPS, help="only this; may be repeated")
    return parser


if __name__ == "__main__":
    raise SystemExit(main())
