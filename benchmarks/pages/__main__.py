"""Measures the processor time of every page of a site with many games.

It fills a database (see ``site.py``), requests every address of the URL table with random ids, as a guest, an
owner or staff, and prints the median and the 95th percentile in milliseconds, the most queries, and the most
bytes as compressed. On PostgreSQL the time includes that of the server's process.
The exit code is 1 if a page takes longer than 50 ms (exports, and the full table of 100 bots, 100 ms).
``--keep`` fills the file if it does not exist, and uses it as it is if it does.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from pathlib import Path

from benchmarks.machine import describe_machine
from benchmarks.output import head, parser_of, row
from benchmarks.sites import opened_site

LIMITS = {
    f"DUARENA_MAX_{name}": "1000000"
    for name in ("TOURNAMENT_GAMES", "RUNNING", "DRAFTS", "TESTS", "TEST_GAMES")
}
"""Of accounts, which own thousands of tournaments here."""


def main(arguments: Sequence[str] | None = None) -> int:
    parser = parser_of("pages", __doc__)
    parser.add_argument("--games", type=int, default=1_000_000, help="of the site (default %(default)s)")
    parser.add_argument("--postgresql", action="store_true", help="instead of SQLite")
    parser.add_argument("--keep", metavar="FILE", type=Path, help="a SQLite file to fill or to use again")
    parser.add_argument("--requests", type=int, default=40, help="of each page (default %(default)s)")
    options = parser.parse_args(arguments)
    print(*describe_machine(), sep="\n", flush=True)
    settings = {"DUARENA_HOSTS": "testserver", **LIMITS}
    with opened_site(postgresql=options.postgresql, keep=options.keep, **settings):
        _fill(options.games)
        return _measure(options.requests)


def _fill(games: int) -> None:
    from benchmarks.pages.site import SiteFiller, plan_of, speed_up
    from tournament.models import Game

    if not Game.objects.exists():
        begun = time.monotonic()
        speed_up()
        SiteFiller(plan_of(games), show=lambda line: print(f"- {line}", flush=True)).fill()
        print(f"- filled in {time.monotonic() - begun:.0f} s")


def _measure(requests: int) -> int:
    from benchmarks.pages.addresses import page_cases
    from benchmarks.pages.measuring import measure

    print("", head("page", "median, ms", "95 %, ms", "queries", "bytes", "status"), sep="\n", flush=True)
    wrong = False
    for one in measure(page_cases(), requests):
        mark = "**" * one.is_slow
        cells = (f"{one.median_ms:.0f}", f"{mark}{one.late_ms:.0f}{mark}", one.queries, f"{one.size:,}")
        print(row(one.case.title, *cells, ", ".join(map(str, sorted(one.statuses)))), flush=True)
        wrong |= one.is_slow or max(one.statuses) >= 500
    return int(wrong)


if __name__ == "__main__":
    sys.exit(main())
