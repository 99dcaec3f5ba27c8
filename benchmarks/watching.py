"""Measures live pages: how long after an engine's answer a move reaches those who watch, and what they cost.

Bots in C that wait before each answer play in a site like that of ``./arena up``, in the sandbox that this
machine provides to the user; root needs ``--no-sandbox``. They report the time of each answer with it.
Clients in this process follow the games' streams, from several addresses of the loopback network. A move that
arrives with a later one counts like any other. With ``--speed`` two more slots play games between bots that
answer at once, with and without watchers in turns; the clients then have the least priority. With
``--events`` they are programs, which follow the events of that game, of ``/tv/``, of the ladder, that is of
all its rated games, or of the tournament that the two slots play.

    .venv/bin/python -m benchmarks.watching --games 1
    .venv/bin/python -m benchmarks.watching --games 50
    .venv/bin/python -m benchmarks.watching --speed --measured 15
    .venv/bin/python -m benchmarks.watching --speed --measured 15 --watchers 300 --events games
"""

from __future__ import annotations

import argparse
import asyncio
import os
import re
import statistics
import sys
import tempfile
import threading
import time
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import cycle, islice
from pathlib import Path
from typing import TYPE_CHECKING, Final

from benchmarks.measuring import Broken, cpu_seconds, describe_machine, parser_of
from benchmarks.throughput import LADDER, LOOK_SECONDS, PLY_LIMIT, pack_bots, register
from engines.rules.registry import GAMES
from tests.support.service_processes import guards_of
from tournament.embedded.console import Console
from tournament.embedded.instance import Instance, running_instance
from tournament.embedded.options import Options

if TYPE_CHECKING:
    from tournament.models import BotVersion

PAUSE_MS: Final = 1500
"""How long an engine waits before its answer, on average."""
SLOW_PLIES, SLOW_LINES = 95, 10
"""The least length of the games between such engines, which take more than two minutes, and their number."""
SPARE, PAIRS = 10, 3
"""One more slot for each ten games, as some are between two games, and pairs of games for each slot."""
FAST_SLOTS, FAST_BOTS, FAST_PAIRS, FAST_CONTROL = 2, 4, 1000, "10+0.1"
"""Games with much more time would leave one of the slots free for others."""
ROUNDS: Final = 3
PER_ADDRESS, PROGRAMS_PER_ADDRESS = 25, 8
"""Clients of one address; a site refuses more than 32, and more programs than 8."""
START_SECONDS, LATE_SECONDS = 180.0, 5.0
"""How long games may take to begin, and a move after the measured time to arrive."""
OPENING_SECONDS, SETTLE_SECONDS = 4.0, 8.0
"""How long the clients take to come, one after another, and when the measured time begins after the first."""
FOLLOW = re.compile(r' data-follow="([^"]+)"')
STREAM = re.compile(rb"content-type: (text/event-stream|application/x-ndjson)", re.IGNORECASE)
PLIES = re.compile(rb"^id: \S*\bsince=(\d+)", re.MULTILINE)
EVENTS: Final = ("games", "ladders", "tournaments", "tv")
SLOW: Final = "Slow"
SITE: Final = "site"
"""The server's name among the services."""


@dataclass(eq=False)
class Watcher(asyncio.Protocol):
    """One client: a stream of events over a connection of its own."""

    request: bytes
    arrivals: list[tuple[float, int]] = field(default_factory=list)
    """The time of each event (monotonic, seconds) and the plies of its game; empty for programs."""
    received: int = 0
    is_stream: bool = False
    is_over: bool = False
    _held: bytes = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        transport.write(self.request)

    def data_received(self, data: bytes) -> None:
        self.is_stream = self.is_stream or STREAM.search(data) is not None
        self.is_over = self.is_over or data.endswith(b"0\r\n\r\n")
        self.received += len(data)
        if self.request.startswith(b"GET /api/"):
            return
        *events, self._held = (self._held + data).split(b"\n\n")
        for event in events:
            if found := PLIES.search(event):
                self.arrivals.append((time.monotonic(), int(found[1])))


@dataclass
class Crowd:
    """The clients, in a thread of their own; with ``meek`` it steps back behind everything else."""

    port: int
    addresses: Sequence[str]
    """Of the streams, one for each client."""
    meek: bool = False
    watchers: list[Watcher] = field(default_factory=list)

    def __enter__(self) -> Crowd:
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._watch()))
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._is_over.set()
        self._thread.join()

    async def _watch(self) -> None:
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), 19 if self.meek else 0)
        transports = []
        for number, address in enumerate(self.addresses):
            transports.append(await self._open(number, address))
            await asyncio.sleep(OPENING_SECONDS / len(self.addresses))
        while not self._is_over.is_set():
            await asyncio.sleep(LOOK_SECONDS)
        for transport in transports:
            transport.abort()

    async def _open(self, number: int, address: str) -> asyncio.Transport:
        is_program = address.startswith("/api/")
        accept = "application/x-ndjson" if is_program else "text/event-stream"
        text = f"GET {address} HTTP/1.1\r\nHost: 127.0.0.1\r\nAccept: {accept}\r\n\r\n"
        watcher = Watcher(text.encode())
        self.watchers.append(watcher)
        source = (f"127.0.1.{number // (PROGRAMS_PER_ADDRESS if is_program else PER_ADDRESS) + 1}", 0)
        loop = asyncio.get_running_loop()
        transport, _ = await loop.create_connection(
            lambda: watcher, "127.0.0.1", self.port, local_addr=source
        )
        return transport


def main(arguments: Sequence[str] | None = None) -> int:
    options = _parser().parse_args(arguments)
    print(*describe_machine(), sep="\n", flush=True)
    slow = 1 if options.speed else options.games + options.games // SPARE
    slots = slow + FAST_SLOTS * options.speed
    pairs = 1 if options.speed else PAIRS * slow
    os.environ["DUARENA_LADDER_GAMES"] = "0"
    with tempfile.TemporaryDirectory() as name:
        site = Options("up", Path(name) / "site", workers=slots, trust_uploads=options.no_sandbox)
        with running_instance(
            site,
            Console(sys.stderr),
            lambda: begin(SLOW, enter(Path(name), SLOW, 2, pause_ms=PAUSE_MS), pairs),
        ) as instance:
            if options.speed:
                measure_speed(instance, options, Path(name))
            else:
                measure_moves(instance, options)
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = parser_of("watching", __doc__)
    parser.add_argument("--games", type=int, default=1, help="that are watched (%(default)s)")
    parser.add_argument("--watchers", type=int, default=500, help="of all games together (%(default)s)")
    parser.add_argument("--measured", type=float, default=30.0, metavar="S", help="a round (%(default)s)")
    parser.add_argument("--speed", action="store_true", help="measure the slots beside the watchers")
    parser.add_argument(
        "--events", choices=EVENTS, help="with --speed: what programs follow instead of pages"
    )
    parser.add_argument("--no-sandbox", action="store_true", help="run the engines without a sandbox")
    return parser


def enter(folder: Path, name: str, bots: int, *, pause_ms: int = 0) -> list[BotVersion]:
    """So many bots of this name."""
    long = {"plies": SLOW_PLIES, "lines": SLOW_LINES} if pause_ms else {}
    zips = pack_bots(GAMES[LADDER], folder, name=name, pause_ms=pause_ms, **long)[:bots]
    return [register(content) for content in zips]


def begin(name: str, versions: Sequence[BotVersion], pairs: int, time_control: str = "600+1") -> None:
    """Start a round robin with so many pairs of games for each pair of bots."""
    from tournament.services.schedule.tournaments import create_round_robin, start

    start(
        create_round_robin(
            None, name=name, versions=versions, ladders=[LADDER], pairs=pairs, seed=1,
            time_control=time_control, opening_plies=0, ply_limit=PLY_LIMIT, rated_off_terms=True,
        )
    )  # fmt: skip


def measure_moves(instance: Instance, options: argparse.Namespace) -> None:
    """Print how long moves take to those who watch, of all rounds together."""
    delays: list[float] = []
    for _ in range(ROUNDS):
        games = find_live(instance, options.games)
        with watching(instance, games, options) as crowd:
            rest(instance, SETTLE_SECONDS)
            used, received, begun = _used(instance), _received(crowd), time.monotonic()
            rest(instance, options.measured)
            ended, used, received = time.monotonic(), _used(instance) - used, _received(crowd) - received
            rest(instance, LATE_SECONDS)
        found = list(_delays(crowd, list(games), begun, ended))
        delays += found
        seconds = ended - begun
        print(
            f"- {len(games)} games, {len(crowd.watchers)} watchers, {len(found) / seconds:.0f} moves seen a"
            f" second: median {1000 * statistics.median(found):.0f} ms; server {used / seconds:.0%} of a"
            f" core, {received / seconds / 1e6:.1f} MB/s",
            flush=True,
        )
    parts = statistics.quantiles(delays, n=100)
    print(f"- all {len(delays)}: median {1000 * parts[49]:.0f} ms, 99 % {1000 * parts[98]:.0f} ms,", end=" ")
    print(f"longest {1000 * max(delays):.0f} ms")


def measure_speed(instance: Instance, options: argparse.Namespace, folder: Path) -> None:
    """Print the games a second of two slots without and with watchers of a third one's game."""
    from tournament.models import Game

    find_live(instance, 1)
    versions = enter(folder, "Fast", FAST_BOTS)
    rates: dict[bool, list[float]] = {False: [], True: []}
    for number, is_watched in enumerate((False, True) * ROUNDS, 1):
        begin(f"Fast {number}", versions, FAST_PAIRS, FAST_CONTROL)
        games = find_live(instance, 1) if is_watched else {}
        if options.events:
            games = {pk: _events_of(options.events, pk, f"Fast {number}") for pk in games}
        with watching(instance, games, options) as crowd:
            rest(instance, SETTLE_SECONDS)
            used, done, begun = _used(instance), _count_done(), time.monotonic()
            received = _received(crowd)
            rest(instance, options.measured)
            seconds = time.monotonic() - begun
            received = _received(crowd) - received
            rates[is_watched].append((_count_done() - done) / seconds)
            share = (_used(instance) - used) / seconds
        if not Game.objects.filter(state=Game.State.WAITING).exists():
            raise Broken("all games were played: measure a shorter time")
        watchers = options.watchers if is_watched else "no"
        print(
            f"- {watchers} watchers: {rates[is_watched][-1]:.1f} games a second, server {share:.0%} of a"
            f" core, {received / seconds / 1e6:.1f} MB/s",
            flush=True,
        )
    alone, beside = (statistics.median(rates[is_watched]) for is_watched in (False, True))
    print(f"- medians: {alone:.1f} games a second alone, {beside:.1f} watched: {beside / alone:.0%}")


@contextmanager
def watching(instance: Instance, games: Mapping[int, str], options: argparse.Namespace) -> Iterator[Crowd]:
    """Clients that follow these games, equally many each."""
    addresses = list(islice(cycle(games.values()), options.watchers)) if games else []
    with Crowd(instance.address.port, addresses, meek=options.speed) as crowd:
        yield crowd
        streams = [one for one in crowd.watchers if one.is_stream and not (options.speed and one.is_over)]
    if len(streams) < len(addresses):
        raise Broken(f"only {len(streams)} of {len(addresses)} clients had a stream to the end")


def find_live(instance: Instance, number: int) -> Mapping[int, str]:
    """So many games between the slow bots, once there are, with the addresses that their pages follow."""
    from tournament.models import LiveGame

    until = time.monotonic() + START_SECONDS
    while time.monotonic() < until:
        rest(instance, LOOK_SECONDS)
        live = LiveGame.objects.filter(game__tournament__name=SLOW)
        youngest = sorted(live, key=lambda one: len(one.moves))
        if len(youngest) >= number:
            pages = {one.game_id: _followed(instance.address.port, one.game_id) for one in youngest}
            games = {game: address for game, address in pages.items() if address}
            if len(games) >= number:
                return dict(islice(games.items(), number))
    raise Broken(f"there were never {number} games at once")


def _events_of(kind: str, game: int, played: str) -> str:
    """The address of events of this kind: of the game, or of the tournament ``played``."""
    from tournament.models import Tournament

    if kind == "tv":
        return "/api/v1/tv/events/"
    tournament = Tournament.objects.get(name=played).slug
    what = {"games": game, "ladders": LADDER, "tournaments": tournament}
    return f"/api/v1/{kind}/{what[kind]}/events/"


def _followed(port: int, game: int) -> str:
    """The address that a game's page follows; empty once it is over."""
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/games/{game}/") as page:
        found = FOLLOW.search(page.read().decode())
    return found[1].replace("&amp;", "&") if found else ""


def rest(instance: Instance, seconds: float) -> None:
    """Let the site run for so long."""
    until = time.monotonic() + seconds
    while (left := until - time.monotonic()) > 0:
        instance.supervisor.tend()
        if instance.supervisor.stopping:
            raise Broken("stopped before everything was measured")
        time.sleep(min(left, LOOK_SECONDS))


def _delays(crowd: Crowd, games: Sequence[int], begun: float, ended: float) -> Iterator[float]:
    """The seconds from each answer in the measured time to its arrival, client by client."""
    answers = [_answers(game) for game in games]
    for number, watcher in enumerate(crowd.watchers):
        moves = answers[number % len(games)]
        for ply, answered in moves.items():
            if begun <= answered < ended:
                arrived = next((at for at, plies in watcher.arrivals if plies >= ply), None)
                if arrived is None:
                    raise Broken(f"move {ply} of game {games[number % len(games)]} has not arrived")
                yield arrived - answered


def _answers(pk: int) -> Mapping[int, float]:
    """When the moves were answered (monotonic, seconds), by their plies."""
    from tournament.models import Game
    from tournament.views.games.board import load_replay

    game = Game.objects.with_players().select_related("pairing", "live").get(pk=pk)
    replay, *_ = load_replay(game)
    return {move.ply: move.note.nodes / 1e9 for move in replay.moves if move.note.nodes is not None}


def _used(instance: Instance) -> float:
    return cpu_seconds(guards_of(instance.supervisor)[SITE])


def _received(crowd: Crowd) -> int:
    return sum(watcher.received for watcher in crowd.watchers)


def _count_done() -> int:
    from tournament.models import Tournament

    return sum(Tournament.objects.values_list("games_done", flat=True))


if __name__ == "__main__":
    raise SystemExit(main())
