"""The command line of ``./arena up``, ``dev``, ``demo`` and ``admin``, and the environment made from it."""

from __future__ import annotations

import argparse
import errno
import ipaddress
import os
import shlex
import socket
import sys
from collections.abc import Mapping, MutableMapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from urllib.parse import urlsplit

from tournament.embedded import StartError
from tournament.embedded.plan import ROOT, Address
from workers.cores import count_cores
from workers.sandbox.levels import LOCAL

DEFAULT_PORT = 8000
LOOPBACK = "127.0.0.1"
PORTS_TRIED = 100
BACKLOG = 2048
"""Connections that wait for the site; as uvicorn has it."""
NO_HOST = {errno.EADDRNOTAVAIL, errno.EAFNOSUPPORT}
OURS = (
    "DATABASE_URL",
    "REDIS_URL",
    "DUARENA_BUNDLES",
    "DUARENA_CACHE",
    "DUARENA_EVIDENCE",
    "DUARENA_HOSTS",
    "DUARENA_LADDER_GAMES",
    "DUARENA_SITE",
    "DUARENA_STATIC",
)
LADDER_GAMES = {"up": 30, "demo": 0}
"""Games an hour and ladder on idle workers: all five keep two cores busy for about a quarter of the time."""


class OptionError(StartError):
    """Options or an environment that cannot be used."""

    status = 2


@dataclass(frozen=True, slots=True)
class Options:
    command: str
    """``up``, ``dev``, ``demo`` or ``admin``."""
    data: Path
    host: str = LOOPBACK
    port: int = DEFAULT_PORT
    workers: int = 1
    trust_uploads: bool = False
    administrator: str = ""
    words: tuple[str, ...] = ()
    """The command line, without ``--trust-uploads``."""

    @property
    def restart_command(self) -> str:
        """The shell command that starts this site again, but without trust in uploads."""
        return shlex.join(["./arena", *(self.words or ["up"])])

    @property
    def admin_command(self) -> str:
        """The shell command that creates an administrator of this site; the user replaces ``NAME``."""
        data = ["--data", str(self.data)] if self.data != ROOT / "var" else []
        return shlex.join(["./arena", "admin", "NAME", *data])


def parse_options(arguments: Sequence[str]) -> Options:
    """Read a command line; exits with a message and status 2 on arguments that argparse refuses.

    Raises ``OptionError`` for options that do not go together.
    """
    given = vars(_parser().parse_args(arguments))
    is_demo = given["command"] == "demo"
    data = ROOT / "var" / "demo" if is_demo else _data_folder(given.pop("data"))
    words = tuple(word for word in arguments if word != "--trust-uploads")
    options = Options(data=data, words=words, **given)
    if options.trust_uploads and options.host != LOOPBACK:
        raise OptionError(
            f"--trust-uploads runs strangers' programs without a sandbox: it goes with --host"
            f" {LOOPBACK} alone, not with {options.host!r}"
        )
    return options


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="./arena", allow_abbrev=False)
    commands = parser.add_subparsers(dest="command", required=True)
    sites = (("up", "start the site and its workers"), ("dev", "the same, and start again after changes"))
    for name, purpose in sites:
        site = commands.add_parser(name, help=purpose, allow_abbrev=False)
        site.add_argument(
            "--port", type=_port, default=DEFAULT_PORT, help="the site's port, or the next free one"
        )
        site.add_argument("--host", default=LOOPBACK, help="the address to listen on")
        most = 1 if name == "dev" else count_cores()
        site.add_argument(
            "--workers",
            type=_positive,
            default=most,
            metavar="N",
            help=f"games played at once; default {most}",
        )
        site.add_argument("--data", metavar="DIR", help="the folder for the site's data; default var/")
        site.add_argument("--trust-uploads", action="store_true", help="run uploaded bots without a sandbox")
    demo = commands.add_parser("demo", help="play a round robin of the sample bots and print the ratings")
    demo.set_defaults(workers=count_cores())
    admin = commands.add_parser("admin", help="create an administrator, or set a new password for one")
    admin.add_argument("administrator", metavar="NAME")
    admin.add_argument("--data", metavar="DIR", help="the data folder of the site; default var/")
    return parser


def _positive(text: str, what: str = "number of games (1 or more)", most: int = sys.maxsize) -> int:
    if text.isdecimal() and 1 <= int(text) <= most:
        return int(text)
    raise argparse.ArgumentTypeError(f"{text!r} is not a {what}")


_port = partial(_positive, what="port (1 to 65535)", most=65535)


def _data_folder(given: str | None) -> Path:
    """Relative to the folder where the user called ``arena``, which changes folders before this runs."""
    given = given or os.environ.get("DUARENA_DATA")
    if not given:
        return ROOT / "var"
    return (Path(os.environ.get("DUARENA_CALLED_FROM") or ".") / given).resolve()


def listen(host: str, wanted: int) -> socket.socket:
    """A socket that listens on the wanted port or the next free one; no other process gets the port then.

    Raises ``OptionError`` if the host itself cannot be used.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    for port in range(wanted, min(wanted + PORTS_TRIED, 65536)):
        listener = socket.socket(family, socket.SOCK_STREAM)
        try:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind((host, port))
            listener.listen(BACKLOG)  # two sockets can be bound to a port, but only one can listen
        except OSError as error:
            listener.close()
            if isinstance(error, socket.gaierror) or error.errno in NO_HOST:
                raise OptionError(f"cannot listen on {host!r}: {error.strerror}") from None
            if error.errno == errno.EACCES:
                raise OptionError(f"port {port} is for privileged users: choose one from 1024 on") from None
            continue
        return listener
    raise OptionError(f"no free port found from {wanted} on")


def export(options: Options, address: Address, environment: MutableMapping[str, str]) -> None:
    """Set the variables that ``tournament.settings`` and ``workers.service.celery`` read.

    Keeps those the user set, except for the demonstration, which must not touch other databases, brokers or
    folders.
    """
    if options.command == "demo":
        for name in OURS:
            environment.pop(name, None)
    defaults = {
        "DUARENA_BUNDLES": str(options.data / "bundles"),
        "DUARENA_CACHE": str(options.data / "cache"),
        "DUARENA_DEBUG": "1" if options.command == "dev" else "",
        "DUARENA_STATIC": "" if options.command == "dev" else str(options.data / "static"),
        "DUARENA_SITE": address.url,
        "DUARENA_LADDER_GAMES": str(LADDER_GAMES.get(options.command, 0)),
    }
    environment.update(
        {
            **{name: value for name, value in defaults.items() if name not in environment},
            "DJANGO_SETTINGS_MODULE": "tournament.settings",
            "DUARENA_DATA": str(options.data),
            "PYTHONUNBUFFERED": "1",
            "DUARENA_SLOTS": str(options.workers),
            "DUARENA_TRUST_UPLOADS": "1" if options.trust_uploads else "",
            "DUARENA_COMMAND": options.restart_command,
            "DUARENA_HOSTS": _hosts(address, environment.get("DUARENA_HOSTS", "")),
            LOCAL: "1" if is_local(options.host, environment) else "",
        }
    )


def is_local(host: str, environment: Mapping[str, str]) -> bool:
    """Whether only this machine can reach a site that listens on ``host``.

    The host alone does not show it: a site behind a proxy has a public address, which its operator
    has put into ``DUARENA_SITE`` or ``DUARENA_HOSTS``. Call this before those variables get our defaults.
    """
    names = [host, *environment.get("DUARENA_HOSTS", "").split(",")]
    if site := environment.get("DUARENA_SITE"):
        names.append(_name_in(site))
    return all(_is_loopback(name) for name in map(str.strip, names) if name)


def _name_in(url: str) -> str:
    """The host's name in a site's URL, or the whole text if it has none."""
    try:
        return urlsplit(url).hostname or url
    except ValueError:
        return url


def _is_loopback(name: str) -> bool:
    """Whether a name or an address is this machine's own; any other name may be reachable from elsewhere."""
    try:
        return ipaddress.ip_address(name.removeprefix("[").removesuffix("]")).is_loopback
    except ValueError:
        return name.lower() == "localhost"


def _hosts(address: Address, given: str) -> str:
    """The host names the site answers to: this machine's own, or all if it listens on all addresses.

    To those that the user gave, the one by which the site's own workers reach it is added.
    """
    host = address.host
    if given:
        return f"{given},{address.own_host}"
    if host in {"0.0.0.0", "::"}:
        return "*"
    names = ["127.0.0.1", "localhost", "[::1]"]
    return ",".join(names if host in {*names, "::1"} else [*names, f"[{host}]" if ":" in host else host])
