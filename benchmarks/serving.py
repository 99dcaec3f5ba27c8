"""Measures what pages cost the processes that serve a small site: processor time a request, and memory.

The site is that of ``./arena up`` without workers, in a temporary folder, with the sample of
``tests.support.filled_site``. One client requests each page again and again, on new connections.
"""

from __future__ import annotations

import sys
import tempfile
import urllib.request
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import psutil

from benchmarks.output import head, parser_of, row
from tests.support.sites import LonelySite, running_lonely_site

PAGES: Final = (
    *("/healthz", "/", "/games/", "/ladders/dogon-kulei/", "/tournaments/spring/", "/bots/stone-age/"),
    *("/rules/dualma/", "/workers/", "/queue/", "/ladders/dogon-kulei/records.pgn"),
)
WARM_UP: Final = 10
FILL: Final = "from tests.support.filled_site import fill_site; fill_site()"


def main(words: Sequence[str] | None = None) -> int:
    """Print a table in Markdown."""
    parser = parser_of("serving", __doc__)
    parser.add_argument("--requests", type=int, default=100, metavar="N", help="requests of each page")
    given = parser.parse_args(words)
    with (
        tempfile.TemporaryDirectory(prefix="serving-") as folder,
        running_lonely_site(Path(folder), 8910) as site,
    ):
        site.run(FILL)
        processes = server_processes(site)
        print(head("page", "processor time, ms a request"))
        for page in PAGES:
            _request(site, page, WARM_UP)
            begun = _seconds(processes)
            _request(site, page, given.requests)
            print(row(page, f"{1000 * (_seconds(processes) - begun) / given.requests:.2f}"), flush=True)
        sizes = [f"{process.memory_info().rss / 1e6:.0f}" for process in processes]
        print(f"memory of the processes: {', '.join(sizes)} MB")
    return 0


def server_processes(site: LonelySite) -> list[psutil.Process]:
    """The processes of the server: the first that listens, and those that it has started."""
    port = int(site.url.rpartition(":")[2])
    listening = [process for process in psutil.process_iter() if _listens(process, port)]
    return sorted(listening, key=lambda process: process.create_time())


def _listens(process: psutil.Process, port: int) -> bool:
    try:
        found = process.net_connections("tcp")
    except psutil.Error:
        return False
    return any(one.status == psutil.CONN_LISTEN and one.laddr.port == port for one in found)


def _seconds(processes: Sequence[psutil.Process]) -> float:
    return sum(sum(process.cpu_times()[:2]) for process in processes)


def _request(site: LonelySite, page: str, count: int) -> None:
    for _ in range(count):
        with urllib.request.urlopen(site.url + page, timeout=60) as answer:
            answer.read()


if __name__ == "__main__":
    sys.exit(main())
