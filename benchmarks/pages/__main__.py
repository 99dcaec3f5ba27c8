"""Measures the processor time of every page of a site with many games.

It fills a database (see ``site.py``), requests every address of the URL table with random ids, as a guest, an
owner or staff, and prints the median and the 95th percentile in milliseconds, the most queries, and the most
bytes as compressed. On PostgreSQL the time includes that of the server's process, if it runs on this machine.
The exit code is 1 if a page takes longer than 50 ms (exports, and the full table of 100 bots, 100 ms).

    python -m benchmarks.pages --games 1000000 --keep /tmp/million.sqlite3
    python -m benchmarks.pages --games 1000000 --database postgresql

``--keep`` fills the file if it does not exist, and uses it as it is if it does; ``--database`` takes the
address of an empty or of a filled database, or starts a PostgreSQL of its own.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

from benchmarks.machine import describe_machine
from tests.support.postgres import running_postgres

POSTGRESQL = "postgresql"
HEAD = "| page | median, ms | 95 %, ms | queries | bytes | |\n| --- | ---: | ---: | ---: | ---: | --- |"
MANY = {
    "TOURNAMENT_GAMES": "1000000",
    "RUNNING": "10000",
    "DRAFTS": "10000",
    "TESTS": "10000",
    "TEST_GAMES": "1000000",
}
"""Limits of accounts, which own thousands of tournaments here."""


def main(arguments: Sequence[str] | None = None) -> int:
    options = _parser().parse_args(arguments)
    with ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="duarena-pages-"))
        address = stack.enter_context(_database(options, folder))
        os.environ |= {"DUARENA_DATA": folder, "DATABASE_URL": address}
        os.environ |= {f"DUARENA_MAX_{name}": value for name, value in MANY.items()}
        os.environ.setdefault("DJANGO_SETTINGS_MODULE", "tournament.settings")
        os.environ["DUARENA_HOSTS"] = "testserver"
        import django

        django.setup()
        print(*describe_machine(), sep="\n", flush=True)
        _fill(options.games)
        return _measure(options.requests, re.compile(options.only))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("python -m benchmarks.pages", description=__doc__.partition("\n")[0])
    parser.add_argument("--games", type=int, default=1_000_000, help="of the site (default %(default)s)")
    parser.add_argument("--database", metavar="URL", help="an address, or 'postgresql' for a new server")
    parser.add_argument("--keep", metavar="FILE", type=Path, help="a SQLite file to fill or to use again")
    parser.add_argument("--requests", type=int, default=40, help="of each page (default %(default)s)")
    parser.add_argument("--only", metavar="PATTERN", default="", help="only pages whose title matches")
    return parser


@contextmanager
def _database(options: argparse.Namespace, folder: str) -> Iterator[str]:
    if options.database == POSTGRESQL:
        with running_postgres() as address:
            yield address
    elif options.database:
        yield options.database
    else:
        yield f"sqlite:///{(options.keep or Path(folder) / 'db.sqlite3').resolve()}"


def _fill(games: int) -> None:
    from django.core.management import call_command

    from benchmarks.pages.site import SiteFiller, plan_of, speed_up
    from tournament.models import Game

    call_command("migrate", verbosity=0)
    if not Game.objects.exists():
        begun = time.monotonic()
        speed_up()
        SiteFiller(plan_of(games), show=lambda line: print(f"- {line}", flush=True)).fill()
        print(f"- filled in {time.monotonic() - begun:.0f} s")


def _measure(requests: int, only: re.Pattern[str]) -> int:
    from benchmarks.pages.addresses import page_cases
    from benchmarks.pages.measuring import measure

    print("", HEAD, sep="\n", flush=True)
    slow = 0
    for one in measure([case for case in page_cases() if only.search(case.title)], requests):
        statuses = ", ".join(map(str, sorted(one.statuses)))
        note = "" if one.statuses == {200} else statuses
        late = f"**{one.late_ms:.0f}**" if one.is_slow else f"{one.late_ms:.0f}"
        print(
            f"| {one.case.title} | {one.median_ms:.0f} | {late} | {one.queries} | {one.size:,} | {note} |",
            flush=True,
        )
        slow += one.is_slow or any(status >= 500 for status in one.statuses)
    return 1 if slow else 0


if __name__ == "__main__":
    sys.exit(main())
