"""Measures how fast a site answers while clients occupy it with slow requests.

The site is that of ``./arena up`` without workers, in a temporary folder. The clients use several addresses
of the loopback network; the measuring client uses 127.0.0.1.
"""

from __future__ import annotations

import contextlib
import ipaddress
import itertools
import socket
import statistics
import sys
import tempfile
import time
import urllib.request
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from benchmarks.measuring import head, parser_of, row
from tests.support.sites import LonelySite, running_lonely_site

PAGES: Final = ("/healthz", "/")
TIMEOUT_SECONDS: Final = 10.0
SAMPLES: Final = 20
CLIENTS, ADDRESSES = 300, 10
SETTLE_SECONDS: Final = 3.0
"""The clients are there this long before the measurement begins."""
RECORDS: Final = "/ladders/dualma/records.pgn"
DOWNLOAD: Final = "/bots/random/1/bundle.zip"
DOWNLOAD_BYTES: Final = 100_000_000
PIPELINED: Final = 20


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
    Kind("not reading 100 MB", b"GET " + DOWNLOAD.encode() + b" HTTP/1.1\r\n" + HOST + b"\r\n"),
    Kind(
        "not reading, pipelined", PIPELINED * (b"GET " + RECORDS.encode() + b" HTTP/1.1\r\n" + HOST + b"\r\n")
    ),
    Kind("a byte a second", b"GET / HTTP/1.1\r\n" + HOST + b"X-Slow: ", b"x"),
    Kind("silent", b""),
)


class SlowClients:
    """Connections of several addresses; one that the site closes is opened again at the next ``poll``."""

    def __init__(
        self,
        kinds: Sequence[Kind],
        number: int,
        addresses: int,
        site: tuple[str, int],
        first: str = "127.0.0.2",
    ) -> None:
        """``first`` is the first of the addresses."""
        self._site = site
        self._places = [
            (kind, str(ipaddress.ip_address(first) + place % addresses))
            for place, kind in zip(range(number), itertools.cycle(kinds), strict=False)
        ]
        self._open: dict[int, socket.socket] = {}
        self.opened = 0

    def poll(self) -> None:
        """Open the missing connections, send a byte on those that send one; call it about once a second."""
        for place, (kind, address) in enumerate(self._places):
            connection = self._open.get(place)
            if connection is None or _is_closed(connection):
                if opened := self._connect(kind, address):
                    self._open[place] = opened
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
    try:
        return connection.recv(1, socket.MSG_PEEK) == b""
    except BlockingIOError:
        return False
    except OSError:
        return True


def make_download(site: LonelySite) -> None:
    """Have ``DOWNLOAD`` be a large file, though no bundle."""
    site.manage("register_samples")
    query = "SELECT bundle_id FROM tournament_botversion v JOIN tournament_bot b ON b.id = v.bot_id"
    ((digest,),) = site.ask(f"{query} WHERE b.slug = 'random'")
    path = next((site.data / "bundles").rglob(f"{digest}.zip"))
    path.unlink()
    with path.open("wb") as file:
        file.truncate(DOWNLOAD_BYTES)


def fetch_seconds(url: str) -> float:
    """How long a page takes; ``TIMEOUT_SECONDS`` if it does not arrive by then."""
    began = time.monotonic()
    try:
        with urllib.request.urlopen(url, timeout=TIMEOUT_SECONDS) as answer:
            answer.read()
    except OSError:
        return TIMEOUT_SECONDS
    return time.monotonic() - began


def main(words: Sequence[str] | None = None) -> int:
    """Print a table in Markdown; returns 1 if a page took a second or more."""
    parser_of("slow_clients", __doc__).parse_args(words)
    columns = [f"{page} {what}" for page in PAGES for what in ("median", "longest")]
    with (
        tempfile.TemporaryDirectory(prefix="slow-clients-") as folder,
        running_lonely_site(Path(folder), 8900) as site,
    ):
        make_download(site)
        print(head(f"{CLIENTS} clients of {ADDRESSES} addresses", "held", *columns, "memory"))
        groups = {"none": (), **{kind.name: (kind,) for kind in KINDS}, "all of these": KINDS}
        worst = max(_measure(name, kinds, site) for name, kinds in groups.items())
    return int(worst >= 1)


def _measure(name: str, kinds: Sequence[Kind], site: LonelySite) -> float:
    """Print a row; returns the longest time."""
    address = urlsplit(site.url)
    slow = SlowClients(kinds, CLIENTS, ADDRESSES, (address.hostname or "", address.port or 80))
    polled = time.monotonic()
    times: dict[str, list[float]] = {page: [] for page in PAGES}
    try:
        slow.poll()
        time.sleep(SETTLE_SECONDS)
        held = slow.count_held()
        for page in SAMPLES * PAGES:
            times[page].append(fetch_seconds(site.url + page))
            if time.monotonic() - polled >= 1:
                slow.poll()
                polled = time.monotonic()
        memory = sum(process.memory_info().rss for process in site.processes)
    finally:
        slow.close()
    cells = [f"{value:.3f} s" for taken in times.values() for value in (statistics.median(taken), max(taken))]
    print(row(name, held, *cells, f"{memory / 1e6:.0f} MB"), flush=True)
    return max(map(max, times.values()))


if __name__ == "__main__":
    sys.exit(main())
