"""Measures what the workers' door costs a site: simulated slots ask, show moves and report, through nginx.

The site is that of ``./arena up`` without workers; the proxy has the configuration of ``docs/nginx``. Slots
are threads of this process with the client of real ones, all behind one address. They play random games,
which take as long as ``--seconds`` says. It needs nginx.

    .venv/bin/python -m benchmarks.door --slots 64 --database postgresql
"""

from __future__ import annotations

import os
import random
import re
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import uuid
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Final

import django

from benchmarks.measuring import Broken, cpu_seconds, describe_machine, parser_of
from tests.support.heartbeats import heartbeat_of
from tests.support.postgres import running_postgres
from tests.support.service_processes import find_port
from tests.support.sites import LonelySite, running_lonely_site
from tournament.embedded.plan import ROOT
from workers.jobs import Ask, Batch, GameJob, GameReport, JobGame, Post, PostAnswer, Progress, Work
from workers.service.site import Sender, SiteDoor, Spool

NAME: Final = "players@simulated"
RUN: Final = str(uuid.uuid4())
GAMES_A_SLOT: Final = 100
SHOWN_SECONDS: Final = 0.5
"""A slot shows the moves of its game this often, as real ones do."""
IDLE_SECONDS: Final = 2.0
LINES: Final = 50
WARM_UP_SECONDS: Final = 20.0


def main(words: Sequence[str] | None = None) -> int:
    parser = parser_of("door", __doc__)
    parser.add_argument("--slots", type=int, default=64, metavar="N", help="slots (%(default)s)")
    parser.add_argument("--seconds", type=float, default=2.0, help="length of a game (%(default)s)")
    parser.add_argument("--measured", type=float, default=60.0, metavar="S", help="seconds (%(default)s)")
    parser.add_argument("--database", choices=("sqlite", "postgresql"), default="sqlite")
    given = parser.parse_args(words)
    print(*describe_machine(), sep="\n")
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="door-")))
        is_large = given.database == "postgresql"
        settings = {"DATABASE_URL": stack.enter_context(running_postgres())} if is_large else {}
        site = stack.enter_context(running_lonely_site(folder / "site", 8920, settings=settings))
        proxy = stack.enter_context(running_proxy(folder, site.url))
        begin(site, given.slots * GAMES_A_SLOT)
        with Slots(proxy, site.token, folder, given.slots, given.seconds):
            time.sleep(WARM_UP_SECONDS)
            before, began = _mark(site), time.monotonic()
            time.sleep(given.measured)
            after, ended = _mark(site), time.monotonic()
        took = {name: (after[name] - before[name]) / (ended - began) for name in after}
        games = took.pop("games")
        print(f"- {games:.1f} games a second recorded")
        for name, used in took.items():
            print(f"- {name}: {used:.0%} of a core, {1000 * used / games:.1f} ms a game")
        for address, seconds in TIMES.items():
            middle, last = statistics.median(seconds), statistics.quantiles(seconds, n=100)[98]
            print(f"- {address}: median {1000 * middle:.0f} ms, 99 % {1000 * last:.0f} ms")
    return 0


@contextmanager
def running_proxy(folder: Path, site: str) -> Iterator[str]:
    """nginx with our configuration, changed as a machine without containers and certificates needs it."""
    port, other = (find_port("127.0.0.1", first) for first in (8930, 8960))
    text = (ROOT / "docs" / "nginx" / "nginx.conf").read_text()
    temporary = "".join(f"{kind}_temp_path {folder}/{kind};" for kind in ("client_body", "proxy", "fastcgi"))
    for pattern, new in (
        (r"/run/nginx.pid", f"{folder}/nginx.pid"),
        (r"/dev/std(err|out)", f"{folder}/nginx.log"),
        (r"http \{", f"http {{ {temporary} uwsgi_temp_path {folder}/u; scgi_temp_path {folder}/s;"),
        (r"set \$site .*;", f"set $site {site.removeprefix('http://')};"),
        (r"listen 80 ", f"listen 127.0.0.1:{other} "),
        (r"listen 443 ssl http2", f"listen 127.0.0.1:{port}"),
        (r"ssl_.*;", ""),
    ):
        text = re.sub(pattern, new, text)
    path = folder / "nginx.conf"
    path.write_text(f"user {os.environ.get('USER', 'root')};\n{text}" if os.getuid() == 0 else text)
    nginx = subprocess.Popen(["nginx", "-c", str(path), "-g", "daemon off;"])
    try:
        yield f"http://127.0.0.1:{port}"
    finally:
        nginx.terminate()
        nginx.wait()


def begin(site: LonelySite, games: int) -> None:
    """Start a round robin of this many games between four bots that nobody runs."""
    os.environ.update(site.environment)
    django.setup()
    program = (
        "from tests.support.schedule import make_tournament\n"
        f"make_tournament(bots=4, pairs={games // 12}, time_control='10+0.1')"
    )
    site.run(program)


TIMES: dict[str, list[float]] = defaultdict(list)
"""Seconds of the requests, by their kind."""


@contextmanager
def timed(name: str) -> Iterator[None]:
    began = time.monotonic()
    try:
        yield
    finally:
        TIMES[name].append(time.monotonic() - began)


class TimedDoor(SiteDoor):
    def ask(self, ask: Ask) -> Batch | None:
        with timed("an ask"):
            return super().ask(ask)

    def post(self, job: str, post: Post) -> PostAnswer:
        with timed("a post"):
            return super().post(job, post)


class Slots:
    """Simulated slots of one worker."""

    def __init__(self, url: str, token: str, folder: Path, number: int, seconds: float) -> None:
        self._url, self._token, self._folder = url, token, folder
        self._number, self._seconds = number, seconds
        self._lines: list[GameReport] = []
        self._seeds = count()
        self._is_over = threading.Event()
        players = [threading.Thread(target=self._play, args=(one,)) for one in range(number)]
        self._threads = [threading.Thread(target=self._keep_beating), *players]

    def __enter__(self) -> None:
        self._beat(SiteDoor(self._url, self._token))
        for thread in self._threads:
            thread.start()

    def __exit__(self, *_: object) -> None:
        self._is_over.set()
        for thread in self._threads:
            thread.join()

    def _keep_beating(self) -> None:
        door = SiteDoor(self._url, self._token)
        while not self._is_over.wait(5):
            self._beat(door)

    def _beat(self, door: SiteDoor) -> None:
        beat = heartbeat_of(NAME, run=RUN, slots=self._number)
        if not (admission := door.beat(beat)).admitted:
            raise Broken(admission.why)

    def _play(self, number: int) -> None:
        spool = Spool(self._folder / "spool" / str(number))
        door = TimedDoor(self._url, self._token)
        sender = Sender(door, spool, worker=NAME, run=RUN, slot=number)
        sender.start()
        time.sleep(random.uniform(0, self._seconds))
        while not self._is_over.is_set():
            batch = sender.ask((Work.GAMES,))
            if batch is None:
                self._is_over.wait(IDLE_SECONDS)
                continue
            sender.begin(batch.job, batch.lease_s)
            for job in batch.jobs:
                for game in job.games:
                    self._play_game(sender, job, game)
            sender.end()
        sender.flush(IDLE_SECONDS)

    def _play_game(self, sender: Sender, job: GameJob, game: JobGame) -> None:
        line = self._line(job, game)
        steps = max(1, round(self._seconds / SHOWN_SECONDS))
        for step in range(steps):
            known = line.moves[: len(line.moves) * step // steps]
            sender.show(Progress(game.key, game.attempt, 0, known, 9000, 9000))
            time.sleep(self._seconds / steps)
        sender.report(replace(line, key=game.key, attempt=game.attempt))

    def _line(self, job: GameJob, game: JobGame) -> GameReport:
        """One of some random games."""
        from tests.support.schedule import play

        if len(self._lines) < LINES:
            self._lines.append(replace(play(job, game, next(self._seeds)), worker=f"{NAME}/1"))
        return self._lines[next(self._seeds) % len(self._lines)]


def _mark(site: LonelySite) -> Mapping[str, float]:
    from tournament.models import Game

    done = Game.objects.filter(state=Game.State.DONE).count()
    return {"games": float(done), **{name: cpu_seconds(pid) for name, pid in site.guards.items()}}


if __name__ == "__main__":
    sys.exit(main())
