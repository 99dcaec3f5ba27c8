"""``python -m tournament.http --bind HOST:PORT``: serves the site until SIGTERM.

SIGHUP restarts its processes one by one, without a request lost.

The main process keeps the others: it replaces one that ended, was stopped or hangs.
It ends itself if it hangs.
"""

from __future__ import annotations

import argparse
import os
import socket

from django.conf import settings
from uvicorn import Config, Server
from uvicorn.supervisors import Multiprocess

from tournament.http.limits import (
    CONNECTIONS,
    HEADER_BYTES,
    IDLE_SECONDS,
    PROCESSES,
    STOP_SECONDS,
    SYSTEM_BYTES,
    UNREAD_SECONDS,
)
from tournament.http.process import show_life
from tournament.sites import end_without_site
from workers.watchdog import HANGS_SECONDS, rearm

STOPPED_SECONDS = 40
"""A process that does not answer the main process for so long is replaced; a new one has as long to begin."""
LIFE_SECONDS = 5
SILENT_SECONDS = 20
"""The system accepts a connection when its client has sent something, or after so long."""


class Processes(Multiprocess):
    """The processes of the server."""

    def keep_subprocess_alive(self) -> None:
        super().keep_subprocess_alive()
        rearm(HANGS_SECONDS + PROCESSES * STOPPED_SECONDS)  # the call waits for the answer of each process


def main() -> None:
    parser = argparse.ArgumentParser(prog="python3 -m tournament.http", description="Serve the site.")
    where = parser.add_mutually_exclusive_group(required=True)
    where.add_argument("--bind", metavar="HOST:PORT", help="the address to listen on")
    where.add_argument("--descriptor", type=int, metavar="N", help="a socket that listens already")
    parser.add_argument(
        "--terminal",
        type=int,
        action="append",
        metavar="N",
        help="a descriptor that a single process gets as its input, the next one its output, and its errors",
    )
    given = parser.parse_args()
    for number, descriptor in enumerate(given.terminal or ()):
        os.dup2(descriptor, number)
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "tournament.settings")
    end_without_site()
    config = Config(
        "tournament.http.process:make_application",
        factory=True,
        workers=PROCESSES,
        http="h11",
        ws="none",
        lifespan="off",
        log_config=settings.LOGGING,  # settings with a bad value end the server here
        access_log=False,
        proxy_headers=False,
        server_header=False,
        limit_concurrency=CONNECTIONS,
        h11_max_incomplete_event_size=HEADER_BYTES,
        timeout_keep_alive=IDLE_SECONDS,
        timeout_graceful_shutdown=STOP_SECONDS,
        timeout_worker_healthcheck=STOPPED_SECONDS,
        callback_notify=show_life,
        timeout_notify=LIFE_SECONDS,
    )
    with _listener(given.bind, given.descriptor) as listener:
        if given.terminal:
            Server(config).run([listener])
        else:
            Processes(config, [listener]).run()


def _listener(bind: str | None, descriptor: int | None) -> socket.socket:
    """The listening socket, whose options its connections get."""
    if bind is None:
        listener = socket.socket(fileno=descriptor)
    else:
        host, _, port = bind.rpartition(":")
        host = host.strip("[]")
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        listener = socket.create_server((host, int(port)), family=family)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, SYSTEM_BYTES)
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_DEFER_ACCEPT, SILENT_SECONDS)
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, 1000 * UNREAD_SECONDS)
    return listener


if __name__ == "__main__":
    main()
