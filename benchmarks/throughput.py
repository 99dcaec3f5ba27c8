"""Measures the games a second of a whole site, from the database through Celery to the record keeper.

Four bots in C that answer at once play a rated round robin in a site like that of ``./arena up``: each pair
of games by two processes, every move refereed, every game replayed by the record keeper and rated. The
engines run in the sandbox that this machine provides to the user, and its level is printed; root needs
``--no-sandbox``. At the end rebuilt ratings must be equal to the bit, and each game must be recorded once. It
also prints the processor time of each part of the site, and the part of the time between its first and its
last game that a slot was inside a game. With ``--think`` the bots think for up to the given number of
milliseconds a move.

    nice -n -15 .venv/bin/python -m benchmarks.throughput
    nice -n -15 .venv/bin/python -m benchmarks.throughput --think 20 --games 600
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count, islice
from pathlib import Path
from typing import TYPE_CHECKING, Final

from benchmarks.measuring import Broken, cpu_seconds, describe_machine, parser_of
from benchmarks.overhead import compile_engine
from engines.bundles.store import inspect_bundle, pack_bundle, store_bundle
from engines.rules.playout import Dice, draw_game
from engines.rules.registry import GAMES, Variant
from tests.support.service_processes import guards_of
from tournament.embedded.console import Console
from tournament.embedded.instance import Instance, running_instance
from tournament.embedded.options import Options

if TYPE_CHECKING:
    from tournament.models import BotVersion, Tournament

BOTS: Final = 4
LADDER, SLOTS = "dogon-kulei", 2
MEETINGS: Final = BOTS * (BOTS - 1) // 2
LINES: Final = 500
LEAST_PLIES: Final = 40
PLY_LIMIT: Final = 100
LOOK_SECONDS: Final = 0.25
MARGINS: Final = (0.1, 0.9)
"""The parts of the games between which the time is measured, without the start and the end."""
LEAST_SHOWN_MS: Final = 0.005


@dataclass(frozen=True, slots=True)
class Mark:
    """The progress of a site at a moment (monotonic, in seconds)."""

    at: float
    games: int
    cpu: Mapping[str, float]
    """Processor seconds of each service so far; those of the players include slots and engines."""


def main(arguments: Sequence[str] | None = None) -> int:
    options = _parser().parse_args(arguments)
    print(*describe_machine(), sep="\n")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        zips = pack_bots(GAMES[LADDER], folder, think_ms=options.think)
        site = Options("up", folder / "site", workers=SLOTS, trust_uploads=options.no_sandbox)
        with running_instance(
            site, Console(sys.stderr), lambda: _prepare(zips, LADDER, options.games)
        ) as instance:
            begun, ended = _watch(instance)
        _check()
        print(f"- sandbox of the engines: {_find_sandbox()}")
        print(f"- a slot was inside a game {_share_inside():.1%} of the time")
    games = ended.games - begun.games
    rate = games / (ended.at - begun.at)
    print(f"- {LADDER}, {SLOTS} slots: {rate:.0f} games a second recorded")
    took = {name: 1000 * (total - begun.cpu.get(name, 0)) / games for name, total in ended.cpu.items()}
    shares = ", ".join(f"{name} {ms:.2f}" for name, ms in took.items() if ms >= LEAST_SHOWN_MS)
    print(f"- processor time a game: {sum(took.values()):.2f} ms ({shares})")
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = parser_of("throughput", __doc__)
    parser.add_argument("--games", type=int, default=12_000, help="approximate number (%(default)s)")
    parser.add_argument(
        "--think", type=int, default=0, metavar="MS", help="longest time for a move (%(default)s)"
    )
    parser.add_argument("--no-sandbox", action="store_true", help="run the engines without a sandbox")
    return parser


def pack_bots(
    game: Variant,
    folder: Path,
    *,
    name: str = "Instant",
    think_ms: int = 0,
    pause_ms: int = 0,
    plies: int = LEAST_PLIES,
    lines: int = LINES,
) -> list[bytes]:
    """The bots' zips: one program under different names, with so many lines, each of ``plies`` or more."""
    command = json.dumps(["./engine", "lines", "0", str(think_ms), str(pause_ms)])
    program = compile_engine(folder).read_bytes()
    line = " line ".join(" ".join(moves) for moves in islice(draw_lines(game, plies), lines))
    zips = []
    for number in range(1, BOTS + 1):
        manifest = (
            f'[bot]\nname = "{name} {number}"\nversion = "1"\ncommand = {command}\ngames = ["{game.code}"]\n'
        )
        zips.append(pack_bundle({"bot.toml": manifest.encode(), "engine": program, "lines": line.encode()}))
    return zips


def draw_lines(game: Variant, plies: int) -> Iterator[list[str]]:
    """Random games that are long enough."""
    for seed in count(1):
        moves = draw_game(game.position.initial(), PLY_LIMIT, Dice(seed))
        if len(moves) >= plies:
            yield moves


def _prepare(zips: Sequence[bytes], ladder: str, games: int) -> None:
    from tournament.services.schedule.tournaments import create_round_robin, start

    begun = time.monotonic()
    tournament = create_round_robin(
        None, name="Throughput", versions=[register(content) for content in zips], ladders=[ladder],
        pairs=max(1, games // 2 // MEETINGS), time_control="10+0.1", seed=1, opening_plies=0,
        ply_limit=PLY_LIMIT, rated_off_terms=True,
    )  # fmt: skip
    start(tournament)
    print(f"- {tournament.games_total} games made in {time.monotonic() - begun:.1f} s")


def register(content: bytes) -> BotVersion:
    from django.conf import settings

    from tournament.models import Bot, BotVersion, Bundle
    from tournament.services.uploads.submission import add_version

    bundle = Bundle.objects.create(sha256=store_bundle(settings.BUNDLES, content), size=len(content))
    manifest = inspect_bundle(content)
    bot = Bot.objects.register(None, manifest.name)
    return add_version(bot, bundle, manifest, state=BotVersion.State.VALID)


def _watch(instance: Instance) -> tuple[Mark, Mark]:
    """Watch the site; returns its marks at both margins."""
    from tournament.models import Tournament

    marks: list[Mark] = []
    tournament: Tournament = Tournament.objects.get()
    first, last = (share * tournament.games_total for share in MARGINS)
    while not tournament.is_over:
        instance.supervisor.tend()
        time.sleep(LOOK_SECONDS)
        tournament.refresh_from_db()
        if first <= tournament.games_done <= last:
            marks.append(_mark(instance, tournament.games_done))
        if instance.supervisor.stopping:
            raise Broken("stopped before all games were played")
    if len(marks) < 2:
        raise Broken("too few games to measure: ask for more with --games")
    return marks[0], marks[-1]


def _mark(instance: Instance, games: int) -> Mark:
    cpu = {name: cpu_seconds(guard) for name, guard in guards_of(instance.supervisor).items()}
    return Mark(time.monotonic(), games, cpu)


def _check() -> None:
    """Check that all games are recorded once, without a fault, and rated like in a rebuild."""
    from tests.support.verdicts import find_faults
    from tournament.models import Game

    for game in Game.objects.exclude(fault="none")[:1]:
        raise Broken(f"{game} {game.termination} at ply {game.plies}: {game.evidence}")
    for fault in find_faults():
        raise Broken(fault)
    print(
        f"- all recorded once, {Game.objects.filter(rated=True).count()} rated, rebuilt ratings are the same"
    )


def _find_sandbox() -> str:
    """The level of the sandbox and how it stops engines, from the records."""
    from tournament.models import GameRecord

    level = re.search(r'^\[Walls "(.*)"\]', GameRecord.objects.earliest("pk").text, re.MULTILINE)
    return level[1] if level else "none"


def _share_inside() -> float:
    """The part of the time between its first and last game that a slot is inside one; mean of all slots."""
    from django.db.models import F, Max, Min, Sum

    from tournament.models import Attempt

    started, finished = F("game__started_at"), F("game__finished_at")
    slots = Attempt.objects.filter(end=Attempt.End.RECORDED).values("worker")
    rows = slots.annotate(inside=Sum(finished - started), first=Min(started), last=Max(finished))
    inside = sum(row["inside"].total_seconds() for row in rows)
    return float(inside / sum((row["last"] - row["first"]).total_seconds() for row in rows))


if __name__ == "__main__":
    raise SystemExit(main())
