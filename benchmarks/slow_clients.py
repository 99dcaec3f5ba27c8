"""Measures how fast a site answers while clients occupy it with slow requests.

Without ``--site`` a site is started in a temporary folder. The clients use several addresses of the loopback
network; the measuring client uses 127.0.0.1, as the home machine's visitors do.
"""

from __future__ import annotations

import argparse
import contextlib
import itertools
import selectors
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

from tests.support.jobs import wait_until
from tests.support.sites import bare_environment
from tournament.embedded.options import find_port
from tournament.embedded.plan import ROOT, Address, is_up

PAGES: Final = ("/healthz", "/")
READY_S: Final = 300.0
TIMEOUT_S: Final = 10.0
SAMPLES: Final = 20
SETTLE_S: Final = 3.0
"""The clients are there this long before the measurement begins."""
RECORDS: Final = "/ladders/dualma/records.pgn"


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of slow client: what it sends at once, and what it sends each second after that."""

    name: str
    opening: bytes
    dribble: bytes = b""


HOST: Final = b"Host: localhost\r\n"
UPLOAD: Final = b"POST /upload/ HTTP/1.1\r\n" + HOST + b"Content-Type: application/octet-stream\r\n"
KINDS: Final = (
    Kind("half a header", b"GET / HTTP/1.1\r\n" + HOST),
    Kind("half a body", UPLOAD + b"Content-Length: 900000\r\n\r\n" + b"x" * 1000),
    Kind("half a chunk", UPLOAD + b"Transfer-Encoding: chunked\r\n\r\nffff\r\nxxx"),
    Kind("not reading", b"GET " + RECORDS.encode() + b" HTTP/1.1\r\n" + HOST + b"\r\n"),
    Kind("a byte a second", b"GET / HTTP/1.1\r\n" + HOST + b"X-Slow: ", b"x"),
    Kind("silent", b""),
)


class SlowClients:
    """Connections of several addresses; one that the site closes is opened again at the next ``poll``."""

    def __init__(self, kinds: Sequence[Kind], number: int, addresses: int, site: tuple[str, int]) -> None:
        self._site = site
        self._places = [
            (kind, f"127.0.0.{2 + place % addresses}")
            for place, kind in zip(range(number), itertools.cycle(kinds), strict=False)
        ]
        self._open: dict[int, socket.socket] = {}
        self.opened = 0

    def poll(self) -> None:
        """Open the missing connections, send a byte on those that send one; call it about once a second."""
        for place, (kind, address) in enumerate(self._places):
            connection = self._open.get(place)
            if connection is not None and _is_closed(connection):
                connection.close()
                connection = None
            if connection is None:
                connection = self._connect(kind, address)
                if connection is None:
                    self._open.pop(place, None)
                    continue
                self._open[place] = connection
            elif kind.dribble:
                with contextlib.suppress(OSError):
                    connection.send(kind.dribble)

    def _connect(self, kind: Kind, address: str) -> socket.socket | None:
        connection = socket.socket()
        # A small window: the system keeps little of what the client does not read.
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        connection.settimeout(1)
        try:
            connection.bind((address, 0))
            connection.connect(self._site)
            connection.send(kind.opening)
        except OSError:
            connection.close()
            return None
        connection.setblocking(False)
        self.opened += 1
        return connection

    def count_held(self) -> int:
        """How many of the connections the site holds."""
        return sum(not _is_closed(connection) for connection in self._open.values())

    def close(self) -> None:
        for connection in self._open.values():
            connection.close()


def _is_closed(connection: socket.socket) -> bool:
    """Whether the site closed it; bytes of a response that wait to be read do not count as closed."""
    poller = selectors.PollSelector()
    poller.register(connection, selectors.EVENT_READ)
    if not poller.select(0):
        return False
    try:
        return connection.recv(1, socket.MSG_PEEK) == b""
    except OSError:
        return True


def fetch_seconds(url: str) -> float:
    """How long a page takes; ``TIMEOUT_S`` if it does not arrive by then."""
    began = time.monotonic()
    try:
        with urllib.request.urlopen(url, timeout=TIMEOUT_S) as answer:
            answer.read()
    except (OSError, urllib.error.URLError):
        return TIMEOUT_S
    return time.monotonic() - began


def measure(url: str, samples: int, keep: Callable[[], None]) -> list[float]:
    """The times of some requests; gives up after one that took ``TIMEOUT_S``."""
    times: list[float] = []
    while len(times) < samples and (not times or times[-1] < TIMEOUT_S):
        times.append(fetch_seconds(url))
        keep()
    return times


def main(words: Sequence[str] | None = None) -> int:
    """Print a table in Markdown; returns 1 if a page took a second or more."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.slow_clients", description=__doc__)
    parser.add_argument("--site", metavar="URL", help="a running site on this machine; default: start one")
    parser.add_argument("--clients", type=int, default=300)
    parser.add_argument("--addresses", type=int, default=10)
    options = parser.parse_args(words)
    with started_site() if options.site is None else contextlib.nullcontext(options.site) as url:
        worst = _report(url, options.clients, options.addresses)
    return int(worst >= 1)


def _report(url: str, clients: int, addresses: int) -> float:
    """Print the table; returns the longest time."""
    print(
        f"| {clients} clients of {addresses} addresses | held | "
        + " | ".join(f"{page} median | longest" for page in PAGES)
        + " |"
    )
    print("| --- |" + " ---: |" * (1 + 2 * len(PAGES)))
    worst = _row("none", url, lambda: None, lambda: 0)
    cases = [(kind.name, (kind,)) for kind in KINDS] + [("all of these", KINDS)]
    for name, kinds in cases:
        host, port = urlsplit(url).hostname, urlsplit(url).port
        slow = SlowClients(kinds, clients, addresses, (host or "127.0.0.1", port or 80))
        try:
            slow.poll()
            time.sleep(SETTLE_S)
            worst = max(worst, _row(name, url, _every_second(slow.poll), slow.count_held))
        finally:
            slow.close()
    return worst


def _every_second(poll: Callable[[], None]) -> Callable[[], None]:
    last = time.monotonic()

    def keep() -> None:
        nonlocal last
        if time.monotonic() - last >= 1:
            poll()
            last = time.monotonic()

    return keep


def _row(name: str, url: str, keep: Callable[[], None], count: Callable[[], int]) -> float:
    held = count()
    times = [measure(url + page, SAMPLES, keep) for page in PAGES]
    cells = [f"{statistics.median(taken):.3f} s | {max(taken):.3f} s" for taken in times]
    print(f"| {name} | {held} | {' | '.join(cells)} |", flush=True)
    return max(max(taken) for taken in times)


@contextmanager
def started_site() -> Iterator[str]:
    """``./arena up`` on a data folder of its own, which plays its first tournament meanwhile."""
    address = Address("127.0.0.1", find_port("127.0.0.1", 8900))
    with tempfile.TemporaryDirectory(prefix="slow-clients-") as folder:
        words = ("up", "--port", str(address.port), "--data", folder, "--workers", "1")
        process = subprocess.Popen(
            (sys.executable, "-m", "tournament.embedded", *words),
            cwd=ROOT, env=bare_environment(), stdout=subprocess.DEVNULL,
        )  # fmt: skip
        try:
            wait_until(lambda: is_up(address), READY_S)
            yield address.url
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait()


if __name__ == "__main__":
    sys.exit(main())
