"""Measures how many rows a second whole exports have: lines of JSON for programs, and CSV files part by part.

It reads all games, all bots and the rating histories of some bots of a site, such as one that
``benchmarks.pages`` filled with ``--folder``, through Django's test client and without the limits of clients.
It prints the rows and bytes, and the rows a second by the clock and of processor time (on PostgreSQL with
that of the server's process).
"""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final

from benchmarks.measuring import describe_machine, head, opened_site, parser_of, row
from benchmarks.pages import fill, processor_ms, server_stat

if TYPE_CHECKING:  # it needs the settings, which this module chooses when it runs
    from django.test import Client

HISTORIES: Final = 50
"""The bots whose rating history on a ladder is read."""
NEXT: Final = re.compile(r'<([^>]+)>; rel="next"')


def main(arguments: Sequence[str] | None = None) -> int:
    parser = parser_of("exports", __doc__)
    parser.add_argument("--games", type=int, default=1_000_000, help="of the site (default %(default)s)")
    parser.add_argument("--folder", default="", help="keep the site here, filled once (SQLite)")
    parser.add_argument("--postgresql", action="store_true", help="instead of SQLite")
    options = parser.parse_args(arguments)
    print(*describe_machine(), sep="\n", flush=True)
    with opened_site(folder=options.folder, postgresql=options.postgresql, DUARENA_HOSTS="testserver"):
        fill(options.games, folder=options.folder)
        print("", head("export", "rows", "MB", "rows/s", "rows/s of processor time"), sep="\n", flush=True)
        for one in measure_exports():
            print(row(*one), flush=True)
    return 0


def measure_exports() -> Iterator[tuple[str, str, str, str, str]]:
    """The name of each export, its rows, its megabytes, and the rows a second by both clocks."""
    from django.test import Client

    from tournament.api import limits
    from tournament.models import LadderRating

    limits.SAVED_SECONDS = 1_000_000  # one client reads everything
    client, stat = Client(), server_stat()
    rated = LadderRating.objects.order_by("pk").values_list("version__bot__slug", "ladder")
    histories = [
        f"/api/v1/bots/{bot}/ratings/{ladder}/" for bot, ladder in dict.fromkeys(rated[: 3 * HISTORIES])
    ]
    exports = {
        "games, lines of JSON": ["/api/v1/games/"],
        "games, CSV": ["/games/games.csv"],
        "bots, lines of JSON": ["/api/v1/bots/"],
        "bots, CSV": ["/bots/bots.csv"],
        "rating histories, lines of JSON": histories[:HISTORIES],
    }
    for name, addresses in exports.items():
        begun, used = time.monotonic(), processor_ms(stat)
        rows, size = map(sum, zip(*(_read(client, address) for address in addresses), strict=True))
        used_s, taken_s = (processor_ms(stat) - used) / 1000, time.monotonic() - begun
        yield name, f"{rows:,}", f"{size / 1e6:.1f}", f"{rows / taken_s:,.0f}", f"{rows / used_s:,.0f}"


def _read(client: Client, address: str) -> tuple[int, int]:
    """The rows and bytes of an export, with all of its parts."""
    rows, size, following = 0, 0, address
    while following:
        response: Any = client.get(following, headers={"Accept": "application/x-ndjson"})
        assert response.status_code == 200, f"{following}: {response.status_code}"
        for part in response:
            rows, size = rows + part.count(b"\n"), size + len(part)
        rows -= ".csv" in address  # the names of the columns
        found = NEXT.search(response.get("Link", ""))
        following = found[1] if found else ""
    return rows, size


if __name__ == "__main__":
    sys.exit(main())
