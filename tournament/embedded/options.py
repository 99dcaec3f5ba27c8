"""The command line of ``./arena up``, ``demo`` and ``admin``, and the environment it makes."""

from __future__ import annotations

import argparse
import errno
import os
import socket
from collections.abc import MutableMapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tournament.embedded.plan import ROOT, Address

DEFAULT_PORT = 8000
LOOPBACK = "127.0.0.1"
PORTS_TRIED = 100
NO_HOST = {errno.EADDRNOTAVAIL, errno.EAFNOSUPPORT}
OURS = (
    "DATABASE_URL",
    "REDIS_URL",
    "DUARENA_BUNDLES",
    "DUARENA_CACHE",
    "DUARENA_HOSTS",
    "DUARENA_LADDER_GAMES",
    "DUARENA_SITE",
)
LADDER_GAMES = {"up": 30, "demo": 0}
"""Games an hour and ladder on idle workers: all five keep two cores busy for about a quarter of the time."""


class OptionError(Exception):
    """Options that do not go together; the text is a sentence for the user."""


@dataclass(frozen=True, slots=True)
class Options:
    command: str
    """``up``, ``demo`` or ``admin``."""
    data: Path
    host: str = LOOPBACK
    port: int = DEFAULT_PORT
    workers: int = 1
    trust_uploads: bool = False
    administrator: str = ""


def parse_options(arguments: Sequence[str]) -> Options:
    """Read a command line; exits with a message and status 2 on what argparse refuses.

    Raises ``OptionError`` for options that are no good together.
    """
    given = _parser().parse_args(arguments)
    default = ROOT / "var" / "demo" if given.command == "demo" else ROOT / "var"
    options = Options(given.command, _data_folder(getattr(given, "data", None), default))
    if given.command == "admin":
        return Options("admin", options.data, administrator=given.name)
    if given.command == "demo":
        return Options("demo", options.data, workers=_cores())
    if given.trust_uploads and given.host != LOOPBACK:
        raise OptionError(
            f"--trust-uploads runs strangers' programs without a sandbox: it goes with --host"
            f" {LOOPBACK} alone, not with {given.host!r}"
        )
    return Options("up", options.data, given.host, given.port, given.workers or _cores(), given.trust_uploads)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="./arena", allow_abbrev=False)
    commands = parser.add_subparsers(dest="command", required=True)
    up = commands.add_parser("up", help="start the site and everything behind it", allow_abbrev=False)
    up.add_argument("--port", type=_port, default=DEFAULT_PORT, help="the site's port, or the next free one")
    up.add_argument("--host", default=LOOPBACK, help="the address to listen on")
    up.add_argument(
        "--workers", type=_positive, metavar="N", help="games played at once; default: one a core"
    )
    up.add_argument("--data", metavar="DIR", help="the folder of everything that changes; default var/")
    up.add_argument("--trust-uploads", action="store_true", help="run uploaded bots without a sandbox")
    commands.add_parser("demo", help="play a round robin of the sample bots and print its tables")
    admin = commands.add_parser("admin", help="make an administrator, or give one a new password")
    admin.add_argument("name")
    admin.add_argument("--data", metavar="DIR", help="the data folder of the site; default var/")
    return parser


def _port(text: str) -> int:
    if text.isdecimal() and 1 <= int(text) <= 65535:
        return int(text)
    raise argparse.ArgumentTypeError(f"{text!r} is no port (1 to 65535)")


def _positive(text: str) -> int:
    if text.isdecimal() and int(text) > 0:
        return int(text)
    raise argparse.ArgumentTypeError(f"{text!r} is no number of games (1 or more)")


def _cores() -> int:
    return len(os.sched_getaffinity(0))


def _data_folder(given: str | None, default: Path) -> Path:
    """Relative to where the user called from: ``arena`` changes folders before it gets here."""
    if given is None:
        given = os.environ.get("DUARENA_DATA") if default.name == "var" else None
    if not given:
        return default
    return (Path(os.environ.get("DUARENA_CALLED_FROM") or ".") / given).resolve()


def find_port(host: str, wanted: int) -> int:
    """The wanted port or the next free one; raises ``OptionError`` where the host itself is no good."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    for port in range(wanted, min(wanted + PORTS_TRIED, 65536)):
        with socket.socket(family, socket.SOCK_STREAM) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind((host, port))
            except OSError as error:
                if isinstance(error, socket.gaierror) or error.errno in NO_HOST:
                    raise OptionError(f"cannot listen on {host!r}: {error.strerror}") from None
                if error.errno == errno.EACCES:
                    raise OptionError(
                        f"port {port} is for privileged users: choose one from 1024 on"
                    ) from None
                continue
            return port
    raise OptionError(f"no free port found from {wanted} on")


def export(options: Options, address: Address, environment: MutableMapping[str, str]) -> None:
    """Set what ``tournament.settings`` and ``workers.celery`` read; what the user set himself stays.

    But not for the demonstration: it must touch nobody's database, broker or folders.
    """
    if options.command == "demo":
        for name in OURS:
            environment.pop(name, None)
    environment["DJANGO_SETTINGS_MODULE"] = "tournament.settings"
    environment["DUARENA_DATA"] = str(options.data)
    environment["PYTHONUNBUFFERED"] = "1"
    environment["DUARENA_SLOTS"] = str(options.workers)
    environment["DUARENA_TRUST_UPLOADS"] = "1" if options.trust_uploads else ""
    environment.setdefault("DUARENA_BUNDLES", str(options.data / "bundles"))
    environment.setdefault("DUARENA_CACHE", str(options.data / "cache"))
    environment.setdefault("DUARENA_SITE", address.url)
    environment.setdefault("DUARENA_HOSTS", _hosts(address.host))
    environment.setdefault("DUARENA_LADDER_GAMES", str(LADDER_GAMES.get(options.command, 0)))


def _hosts(host: str) -> str:
    """The names the site answers to: this machine's own, and all where it listens to all."""
    if host in {"0.0.0.0", "::"}:
        return "*"
    names = ["127.0.0.1", "localhost", "[::1]"]
    return ",".join(names if host in {*names, "::1"} else [*names, f"[{host}]" if ":" in host else host])
