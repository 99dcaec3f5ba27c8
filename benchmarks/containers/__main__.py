"""Starts the site of ``docker-compose.yml`` in containers and says what it withstands and how fast it plays.

Without a container engine it starts one, and without an image registry it makes the images (``images.py``),
which takes about ten minutes the first time and needs root, dockerd, Docker Compose and debootstrap. The
site's network is its own; it is reached through one port of this machine. In order:

1. all services become healthy, and the sample bots are registered;
2. a round robin of bots in C is played, for games a second, as in ``benchmarks.throughput``;
3. while another one is played, containers are killed, cut off from the network and made again;
4. a bot is uploaded and validated.

Each game must be recorded once, and rebuilt ratings must be the same. The exit code is 1 if not.

    sudo .venv/bin/python -m benchmarks.containers --images /var/tmp/duarena-images
"""

from __future__ import annotations

import argparse
import secrets
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from benchmarks.containers.engine import Compose, Docker, container_engine
from benchmarks.containers.images import make_images
from benchmarks.containers.site import ContainerSite
from benchmarks.containers.steps import measure_rate, play_through_faults, upload_bot
from benchmarks.machine import describe_machine
from benchmarks.runs import Broken
from engines.rules.registry import GAMES
from tournament.embedded.options import find_port
from tournament.embedded.plan import ROOT

PROJECT = "duarena-benchmark"
FIRST_PORT = 8460


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
    port = find_port("127.0.0.1", FIRST_PORT)
    with tempfile.TemporaryDirectory() as name:
        values = Path(name, "env")
        token = secrets.token_hex(16)
        values.write_text(_values(port, token, options.slots))
        compose = Compose(docker, PROJECT, ROOT / "docker-compose.yml", values)
        site = ContainerSite(docker, compose, f"http://127.0.0.1:{port}", token)
        try:
            print(f"- {site.start()}")
            measure_rate(site, options.ladder, options.games, Path(name))
            play_through_faults(site, options.ladder, options.games)
            upload_bot(site, Path(name))
            print(f"- {site.check()}")
        except Broken:
            print(compose.run("logs", "--tail=15", "--no-color", check=False), file=sys.stderr)
            raise
        finally:
            compose.run("down", "--volumes", "--timeout=5", check=False)


def _values(port: int, token: str, slots: int) -> str:
    made = {name: secrets.token_hex(24) for name in ("POSTGRES_PASSWORD", "REDIS_PASSWORD")}
    made |= {
        "DUARENA_SECRET_KEY": secrets.token_hex(32),
        "DUARENA_WORKER_TOKEN": f"duarena_{secrets.token_hex(32)}",
        "DUARENA_METRICS_TOKEN": token,
        "DUARENA_LISTEN": f"127.0.0.1:{port}",
        "DUARENA_SITE": f"http://127.0.0.1:{port}",
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
    return parser


if __name__ == "__main__":
    raise SystemExit(main())
