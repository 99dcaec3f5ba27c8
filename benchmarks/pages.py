"""Measures the processor time of every page of a site with a million games.

It fills a database, requests the addresses that the tests know, and common ones with random ids, as a guest,
or as an owner or staff where a guest gets no page. It prints the median and the 95th percentile in
milliseconds, the most queries, and the most bytes as compressed. On PostgreSQL the time includes that of the
server's process. The exit code is 1 if a page takes longer than 60 ms (exports, and the full table of 100
bots, 100 ms; 1,000 rows for a program, 150 ms; searches with two filters that are not named here, 500 ms).
The ten slowest addresses follow, with the plans of their statements.
"""

from __future__ import annotations

import gc
import io
import math
import random
import statistics
import sys
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlencode

from benchmarks.measuring import describe_machine, head, opened_site, parser_of, row

if TYPE_CHECKING:  # they need the settings, which this module chooses when it runs
    from django.test import Client

    from tournament.models import Game

MAX_MS, MAX_MS_LARGE, MAX_MS_ROWS, MAX_MS_PAIR = 60.0, 100.0, 150.0, 500.0
API: Final = "/api/v1/"
LARGE: Final = ("full", ".csv", ".jsonl", ".pgn", "crosstable", "standings", "results")
"""Words in the address of an export or of the full table, which may take longer."""
COMMON: Final = """
/bots/{bot}/ /bots/{bot}/?opponents=all /bots/{bot}/1/ /bots/{bot}/results.json /bots/{bot}/ratings.csv
/bots/{bot}/ratings/{ladder}.json /bots/{bot}/feed.atom /bots/{bot}/against/{other}/ /bots/?page=5
/bots/{bot}/against/{other}/results.csv /bots/{bot}/against/{other}/estimates.json
/ladders/{ladder}/ /ladders/{ladder}/?page=2 /ladders/{ladder}/ratings.csv /ladders/{ladder}/records.pgn
/ladders/{ladder}/feed.atom /people/{person}/ /people/{person}/ratings.csv /people/{person}/feed.atom
/tournaments/{round-robin}/ /tournaments/{round-robin}/?table=full /tournaments/{swiss}/
/tournaments/{round-robin}/?result=forfeit /tournaments/{round-robin}/?bot={version}
/tournaments/{round-robin}/standings.json /tournaments/{round-robin}/crosstable.csv
/tournaments/{round-robin}/records.pgn /tournaments/{swiss}/pairings.csv /tournaments/{gauntlet}/
/tournaments/{knock-out}/ /tournaments/{running}/ /tournaments/{running}/?seen=running
/tournaments/{endless}/ /tournaments/{endless}/?result=forfeit /tournaments/{endless}/?bot={version}
/tournaments/{endless}/?before={game} /games/games.jsonl?ladder={ladder} /games/games.pgn?ladder={ladder}
/games/{game}/ /games/{game}/embed/ /games/{game}/0.svg /games/{game}/0.png /games/{game}.pgn
/games/{logged}/log/white/ /games/engines.json?id={key} /games/{game}/beside/{logged}/ /games/?boards=on
/games/?bot={bot}&boards=on /games/suggestions/?owner=o /explore/{ladder}/ /explore/{ladder}/book.txt
/explore/{ladder}/book.txt?plies=8 /explore/{ladder}/book.txt?plies=16&games=1
/explore/{explored} /explore/{explored}&games=rated /explore/{explored}&games=20
/api/v1/rules/{position} /api/v1/rules/{perft}&depth=2 /api/v1/rules/{explorer}
/api/v1/rules/{explorer}&games=rated /api/v1/bots/?ladder={ladder}&limit=100
/api/v1/games/?bot={bot}&sort=longest&limit=1000
/api/v1/tournaments/{endless}/entries/?limit=1000 /api/v1/tournaments/{swiss}/pairings/?limit=1000
"""
"""Addresses with placeholders. Those of the API are made from its operations, see ``operation_addresses``."""
PARTS: Final = {
    "bots/<slug:slug>": "bots/{bot}",
    "<int:number>": "1",
    "games/<int:pk>": "games/{game}",
    "tournaments/<slug:slug>": "tournaments/{round-robin}",
    "version-tests/<slug:slug>": "version-tests/{tested}",
    "<slug:code>": "{ladder}",
    "<slug:other>": "{other}",
    "<slug:side>": "white",
    "people/<str:name>": "people/{person}",
    "searches/<uuid:pk>": "searches/{search}",
}
"""What stands for the parts of an operation's path."""
OWN: Final = {
    "game-log": "games/{logged}/log/white/",
    "perft": "rules/{ladder}/perft/?depth=2",
    "version-validation": "bots/stone-age/1/validation/",
    "tournament-pairings": "tournaments/{swiss}/pairings/",
}
"""Paths of operations that refuse most objects of the site, or the usual parameters."""
FILTERS: Final = """
ladder={ladder} bot={bot} bot={bot}&version=1 bot={bot}&opponent={other} bot={bot}&colour=white owner={person}
result={result} termination={ending} fault={fault} min_plies={plies} max_plies={plies} opening={opening}
min_plies=41&max_plies=42 opening=none tournament={round-robin} tournament={swiss}&round=3 rated=yes rated=no
tournament={endless} annulled=yes annulled=no ladder={ladder}&min_sequence=9000 since={day} until={day}
until=2020-01-01 ladder={behind}
"""
"""Of the list of games; each is requested in each order."""
PAIRS: Final = """
ladder={ladder}&termination={ending} ladder={ladder}&rated=no ladder={ladder}&fault=either
ladder={ladder}&result=draw ladder={ladder}&since={day} ladder={ladder}&annulled=yes
ladder={ladder}&min_plies={plies} ladder={ladder}&owner={person} bot={bot}&ladder={ladder}
bot={bot}&result=lost bot={bot}&fault=bot bot={bot}&termination={ending} bot={bot}&rated=no
bot={bot}&since={day} bot={bot}&tournament={round-robin} tournament={round-robin}&fault=either
tournament={endless}&result=draw tournament={swiss}&result=white owner={person}&result=draw
bot={bot}&opening={opening}
"""
"""The pairs of filters that pages lead to."""
ADDRESSES: Final = 195
"""Of the searches: the rest are pairs of filters, and an order, drawn at random."""
VISITORS: Final = ("", "olga", "stan")
"""A guest, the owner and staff of the tests' site."""


@dataclass(frozen=True, slots=True)
class PageTimes:
    """The requests of one address: milliseconds of processor time, the most queries, the most bytes."""

    template: str
    times_ms: Sequence[float]
    queries: int
    size: int
    statuses: frozenset[int]
    slowest: str
    """The address that took the longest."""
    statements: Sequence[tuple[str, Any]]
    """Those of ``slowest`` that read, with their parameters."""

    @property
    def late_ms(self) -> float:
        """The 95th percentile."""
        return sorted(self.times_ms)[math.ceil(0.95 * len(self.times_ms)) - 1]

    @property
    def is_slow(self) -> bool:
        if self.template.startswith(API):
            return self.late_ms > (MAX_MS_ROWS if "limit=1000" in self.template else MAX_MS)
        query, is_search, _ = self.template.removeprefix("/games/?").partition("&sort=")
        if is_search and query not in FILTERS.split():
            return self.late_ms > MAX_MS_PAIR
        return self.late_ms > (MAX_MS_LARGE if any(word in self.template for word in LARGE) else MAX_MS)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = parser_of("pages", __doc__)
    parser.add_argument("--games", type=int, default=1_000_000, help="of the site (default %(default)s)")
    parser.add_argument("--bots", type=int, default=500, help="of the site (default %(default)s)")
    parser.add_argument("--versions", type=int, default=3, help="of a bot, at most (default %(default)s)")
    parser.add_argument("--owners", type=int, help="of the bots (default half as many)")
    parser.add_argument("--entered", type=int, help="ladders that each bot plays on (default all)")
    parser.add_argument("--folder", default="", help="keep the site here, filled once (SQLite)")
    parser.add_argument("--only", nargs="*", default=[""], help="addresses that contain one of these")
    parser.add_argument("--postgresql", action="store_true", help="instead of SQLite")
    parser.add_argument("--requests", type=int, default=40, help="of each page (default %(default)s)")
    options = parser.parse_args(arguments)
    print(*describe_machine(), sep="\n", flush=True)
    with opened_site(folder=options.folder, postgresql=options.postgresql, DUARENA_HOSTS="testserver"):
        begun = time.monotonic()
        sizes = {name: getattr(options, name) for name in ("bots", "versions", "owners", "entered")}
        addresses = fill(options.games, folder=options.folder, **sizes)
        print(f"- filled in {time.monotonic() - begun:.0f} s")
        print("", head("page", "median, ms", "95 %, ms", "queries", "bytes", "status"), sep="\n", flush=True)
        measured = []
        wanted = [one for one in [*addresses, *searches()] if any(text in one for text in options.only)]
        for one in measure(wanted, options.requests):
            measured.append(one)
            mark = "**" * one.is_slow
            times = (f"{statistics.median(one.times_ms):.0f}", f"{mark}{one.late_ms:.0f}{mark}")
            statuses = ", ".join(map(str, sorted(one.statuses)))
            print(row(one.template, *times, one.queries, f"{one.size:,}", statuses), flush=True)
        for one in sorted(measured, key=lambda one: -one.late_ms)[:10]:
            print(f"\n{one.slowest}: {max(one.times_ms):.0f} ms", *explain(one), sep="\n")
    return int(any(one.is_slow or max(one.statuses) >= 422 for one in measured))


def searches(seed: int = 1) -> list[str]:
    """The addresses of the list of games."""
    source, sorts = random.Random(seed), ("newest", "oldest", "longest", "shortest")
    filters = FILTERS.split()
    found = [f"/games/?{one}&sort={sort}" for one in filters for sort in sorts]
    found += [f"/games/?{pair}" for pair in PAIRS.split()]
    while len(found) < ADDRESSES:
        pair = f"{'&'.join(source.sample(filters, 2))}&sort={source.choice(sorts)}"
        names = [part.partition("=")[0] for part in pair.split("&")]
        if len(set(names)) == len(names):
            found.append(f"/games/?{pair}")
    return found


def operation_addresses(known: Iterable[str]) -> Iterator[str]:
    """The addresses that programs read, lists with 100 and 1,000 rows, and games with each filter.

    An operation with parts that ``PARTS`` has nothing for is measured at its address among ``known``, which a
    site that was filled before may lack.
    """
    from django.urls import resolve

    from tournament.api.v1 import urls  # noqa: F401  (registers the operations)
    from tournament.api.v1.operations import OPERATIONS

    paths = [one.partition("?")[0] for one in known if one.startswith(API)]
    named = {resolve(path).url_name: path.removeprefix(API) for path in paths}
    for one in OPERATIONS:
        if one.method != "GET":
            continue
        path = OWN.get(one.name, one.path)
        for part, placeholder in PARTS.items():
            path = path.replace(part, placeholder)
        if "<" in path:
            path = named.get(f"v1-{one.name}", "")
        if not path:
            continue
        yield from (f"{API}{path}?limit={rows}" for rows in (100, 1000)) if one.rows else (API + path,)
    yield from (f"{API}games/?{one}&limit=1000" for one in FILTERS.split())


def fill(games: int, *, folder: str = "", **sizes: Any) -> list[str]:
    """The tests' site and a large one, unless the folder has them; returns what is to be requested.

    ``sizes`` are those of ``LargeSite``.
    """
    from benchmarks.large_site import LargeSite
    from tests.support.addresses import all_addresses
    from tests.support.whole_site import fill_whole_site, more_addresses

    kept = Path(folder, "addresses")
    if folder and kept.exists():
        addresses = kept.read_text().split("\n")
    else:
        addresses = [*all_addresses(fill_whole_site()), *more_addresses()]
        LargeSite(games, **sizes).fill()
        if folder:
            kept.write_text("\n".join(addresses))
    pages = [address for address in addresses if not address.startswith(API)]
    return list(dict.fromkeys([*pages, *COMMON.split(), *operation_addresses(addresses)]))


def draw_ids(source: random.Random) -> Mapping[str, list[Any]]:
    """What each placeholder may stand for."""
    from engines.rules.registry import GAMES
    from tournament.formats import FORMATS
    from tournament.models import (
        BotSearch,
        Game,
        GameLog,
        LadderRating,
        Pairing,
        Tournament,
        User,
        VersionTest,
    )  # fmt: skip

    events = Tournament.objects.exclude(state=Tournament.State.DRAFT).filter(owner=None)
    kinds = {kind: list(events.filter(kind=kind).order_by("-games_total")[:4]) for kind in FORMATS}
    rated = list(LadderRating.objects.values_list("version", "version__bot__slug").order_by("pk"))
    last = Game.objects.latest("pk").pk
    games = Game.objects.done().filter(
        pk__in=source.choices(range(1, last + 1), k=2000), tournament__in=events
    )
    logs = GameLog.objects.filter(side="white").values_list("game", flat=True)
    endings = {*games.values_list("termination", flat=True), *games.values_list("reason", flat=True)}
    values: dict[str, list[Any]] = {
        **{kind: [event.slug for event in found] for kind, found in kinds.items()},
        "endless": [event.slug for event in kinds["ladder"]],
        "running": [event.slug for event in events.running().exclude(kind="ladder")],
        "game": list(games.values_list("pk", flat=True)),
        "key": list(games.values_list("key", flat=True)),
        "logged": list(logs.filter(game__white__bot__owner__username__startswith="owner-")[:500]),
        "ladder": list(GAMES),
        "bot": [slug for _, slug in rated[::2]],
        "other": [slug for _, slug in rated[1::2]],
        "version": [pk for pk, _ in rated],
        "person": list(User.objects.filter(bots__isnull=False).values_list("username", flat=True)),
        "result": ["white", "black", "draw"],
        "ending": sorted(endings),
        "fault": ["none", "either", "white", "black"],
        "plies": list(games.values_list("plies", flat=True)[:100]),
        "day": [f"{moment:%Y-%m-%d}" for moment in games.values_list("finished_at", flat=True)],
        "opening": list(Pairing.objects.exclude(opening="").values_list("opening", flat=True)[:500]),
        **_explored(source, games[::10]),
        "tested": list(VersionTest.objects.values_list("tournament__slug", flat=True)),
        "search": [str(pk) for pk in BotSearch.objects.values_list("pk", flat=True)],
    }
    return {f"{{{name}}}": found for name, found in values.items() if found}


def _explored(source: random.Random, games: Iterable[Game]) -> dict[str, list[Any]]:
    """What the placeholders for positions may stand for."""
    positions = list(_positions(source, games))
    drawn = [explored for explored, _ in positions]
    of_positions = {
        what: [explored.replace("/?", f"/{what}/?") for explored in drawn]
        for what in ("explorer", "position", "perft")
    }
    return {"explored": drawn, "behind": [behind for _, behind in positions], **of_positions}


def _positions(source: random.Random, games: Iterable[Game]) -> Iterator[tuple[str, str]]:
    """Positions of games, as the explorer and the list of games take them."""
    from engines.records import read_records, start_history
    from engines.visits import PLIES
    from tournament.models import GameRecord

    for text in GameRecord.objects.filter(game__in=games).values_list("text", flat=True):
        record: Any = next(read_records(io.StringIO(text), "record"))
        if not record.moves:
            continue
        history, ply = start_history(record), source.randrange(min(PLIES, len(record.moves)))
        for move in record.moves[:ply]:
            history.play(move.token)
        ladder, query = history.game.code, urlencode({"position": history.position})
        yield f"{ladder}/?{query}", f"{ladder}&{query}&{urlencode({'move': record.moves[ply].token})}"


def measure(templates: Sequence[str], requests: int, seed: int = 1) -> Iterator[PageTimes]:
    """Request each address once, to load templates and choose a visitor, empty the caches, and then measure.

    Statuses that are no answer (500 and above) are part of the result, like all others.
    """
    from django.utils import timezone

    from tournament.api import limits
    from tournament.caches import cache
    from tournament.services.schedule.own_ratings import refresh_ratings

    limits.SAVED_SECONDS = 1_000_000  # one client asks for everything
    source = random.Random(seed)
    ids, stat = draw_ids(source), server_stat()
    clients = [_client(visitor) for visitor in VISITORS]

    def path_of(template: str) -> str:
        for placeholder, found in ids.items():
            template = template.replace(placeholder, str(source.choice(found)))
        return template

    chosen = {}
    for template in templates:
        answering = (client for client in clients if client.get(path_of(template)).status_code == 200)
        chosen[template] = next(answering, clients[0])
    cache.clear()
    gc.collect()
    gc.freeze()  # as in ``tournament.http.process``
    for template, client in chosen.items():
        while refresh_ratings(timezone.now()):  # as the record keeper does every few seconds
            pass
        paths = [path_of(template) for _ in range(requests)]
        yield _measure(template, client, paths, stat)


def _measure(template: str, client: Client, paths: Sequence[str], stat: Path | None) -> PageTimes:
    from django.db import connection

    times, statuses, sizes = list[float](), set[int](), list[int]()
    statements: list[list[tuple[str, Any]]] = []
    headers = {"Accept-Encoding": "gzip", **({"X-Part": "true"} if "?seen=" in template else {})}

    def note(execute: Any, sql: str, parameters: Any, *more: Any) -> Any:
        statements[-1].append((sql, parameters))
        return execute(sql, parameters, *more)

    for path in paths:
        statements.append([])
        with connection.execute_wrapper(note):
            begun = processor_ms(stat)
            response: Any = client.get(path, headers=headers)
            chunks = iter(response)
            size = len(next(chunks, b""))
            times.append(processor_ms(stat) - begun)
        sizes.append(size + sum(map(len, chunks)))  # of a file, which the server sends without this code
        statuses.add(response.status_code)
    slowest = times.index(max(times))
    reading = [one for one in statements[slowest] if one[0].startswith("SELECT")]
    most = max(map(len, statements))
    return PageTimes(template, times, most, max(sizes), frozenset(statuses), paths[slowest], reading)


def explain(one: PageTimes) -> Iterator[str]:
    """The plans of the statements of the slowest request."""
    from django.db import connection

    command = "EXPLAIN" if connection.vendor == "postgresql" else "EXPLAIN QUERY PLAN"
    with connection.cursor() as cursor:
        for sql, parameters in one.statements:
            cursor.execute(f"{command} {sql}", parameters)
            yield "- " + "; ".join(str(found[-1]).strip() for found in cursor.fetchall())[:600]


def server_stat() -> Path | None:
    """The file with the processor time of the PostgreSQL process of this connection."""
    from django.db import connection

    if connection.vendor != "postgresql":
        return None
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_backend_pid()")
        return Path(f"/proc/{cursor.fetchone()[0]}/schedstat")


def processor_ms(stat: Path | None) -> float:
    server_ns = int(stat.read_text().split()[0]) if stat else 0
    return (time.process_time_ns() + server_ns) / 1e6


def _client(visitor: str) -> Client:
    """A client that is logged in, unless ``visitor`` is empty; with a token too, which only the API reads."""
    from django.test import Client

    from tournament.models import Token, User
    from tournament.services.accounts.tokens import create_token

    if not visitor:
        return Client()
    user = User.objects.get(username=visitor)
    scopes = [scope for scope in Token.Scope.values if user.is_staff or scope != Token.Scope.WORKER]
    _, text = create_token(user, "pages", scopes)
    client = Client(headers={"Authorization": f"Bearer {text}"})
    client.force_login(user, backend="django.contrib.auth.backends.ModelBackend")
    return client


if __name__ == "__main__":
    sys.exit(main())
