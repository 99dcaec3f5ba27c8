"""Measures how many bytes each table of the database takes for a million games.

It makes a database in a temporary folder, plays random games of all ladders with comments and logs like those
of the sample bots, and has the record keeper's functions store them. Prints by how many bytes each table with
its indexes grew in the second half of the games, scaled to a million games: with logs and attempts, and after
everything is pruned that is not kept for good. Tables that grow with the number of bots are left out by that.

    python -m benchmarks.growth --games 20000 --database postgresql
"""

from __future__ import annotations

import argparse
import datetime
import os
import random
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Final

from benchmarks.machine import describe_machine
from benchmarks.soak.terms import POSTGRESQL, SQLITE
from tests.support.postgres import running_postgres
from tournament.embedded.console import Console
from tournament.embedded.database import open_database

if TYPE_CHECKING:
    from tournament.models import Game
    from workers.jobs import GameJob, GameReport, JobGame

MILLION: Final = 1_000_000
BOTS: Final = 12
MESSAGE: Final = 50
"""Reports that are stored together."""
TIME_CONTROL: Final = "5+0.05"
OPENING_PLIES: Final = 4
PLY_LIMIT: Final = 40
"""Random games are longer than those of bots that search: these have 30 to 60 plies."""
SHOWN: Final = 0.005
"""The least share of a table that is shown."""
HEAD: Final = "| table | content, MB | indexes, MB | together, MB |\n| --- | ---: | ---: | ---: |"


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser("python -m benchmarks.growth", description=__doc__.partition("\n")[0])
    parser.add_argument("--games", type=int, default=2_640, help="played (default %(default)s)")
    parser.add_argument("--database", choices=(SQLITE, POSTGRESQL), default=SQLITE)
    options = parser.parse_args(arguments)
    with ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="duarena-growth-"))
        os.environ["DUARENA_DATA"] = folder
        os.environ["DJANGO_SETTINGS_MODULE"] = "tournament.settings"
        postgres = options.database == POSTGRESQL
        os.environ["DATABASE_URL"] = (
            stack.enter_context(running_postgres()) if postgres else f"sqlite:///{Path(folder, 'db.sqlite3')}"
        )
        open_database(Path(folder), Console(sys.stderr))
        play(options.games // 2, seed=1)
        _prune()
        before = _sizes()
        games = play(options.games // 2, seed=2)
        print(*describe_machine(), f"\n{options.database}, {games:,} games after as many", sep="\n")
        _print("with logs and attempts", before, games)
        _prune()
        _print("kept for good", before, games)
    return 0


def play(games: int, seed: int) -> int:
    """Play a round robin of about this many games; returns how many."""
    from engines.rules.registry import GAMES
    from tests.support.schedule import make_tournament, make_version
    from tournament.models import Bot, BotVersion, Game, Tournament
    from tournament.services.schedule.steps import take_steps_of
    from tournament.services.schedule.tournaments import start

    codes = list(GAMES)
    for number in range(Bot.objects.count(), BOTS):
        make_version(f"Bot {number + 1}", games=codes)
    event = make_tournament(
        versions=list(BotVersion.objects.order_by("pk")),
        ladders=codes,
        pairs=max(1, round(games / (len(codes) * BOTS * (BOTS - 1)))),
        opening_plies=OPENING_PLIES,
        time_control=TIME_CONTROL,
        running=False,
        seed=seed,
    )
    Tournament.objects.filter(pk=event.pk).update(ply_limit=PLY_LIMIT)
    start(Tournament.objects.get(pk=event.pk))
    while event.steps.exists():
        take_steps_of(event)
    waiting = list(Game.objects.filter(tournament=event).order_by("id").values_list("pk", flat=True))
    for first in range(0, len(waiting), MESSAGE):
        _play(waiting[first : first + MESSAGE])
    return len(waiting)


def _play(games: Sequence[int]) -> None:
    """Claim these games, and store reports of them as the record keeper does."""
    from django.utils import timezone

    from tournament.models import Attempt, Game
    from tournament.services.results import keeper

    chosen = list(Game.objects.filter(pk__in=games).select_related("pairing", "tournament"))
    attempts = {
        game.pk: Attempt(
            game=game,
            job="00000000-0000-4000-8000-000000000000",
            assigned="players@east",
            sent_at=timezone.now(),
        )
        for game in chosen
    }
    Attempt.objects.bulk_create(attempts.values())
    for game in chosen:
        Game.objects.filter(pk=game.pk).update(state=Game.State.CLAIMED, attempt=attempts[game.pk].pk)
    stored = keeper.record_all([_report(game, attempts[game.pk]) for game in chosen])
    assert all(isinstance(one, keeper.Recorded) for one in stored), stored


def _report(game: Game, attempt: object) -> GameReport:
    """A random game with the comments and the lines of engines that search for a tenth of a second."""
    from dataclasses import replace

    from tests.support.schedule import play as play_one
    from workers.jobs import BOOK

    job, row = _job_of(game, attempt)
    report = play_one(job, row)
    dice = random.Random(game.key)
    tokens = [token for token, _ in report.moves]
    moves = [
        (token, comment if comment == BOOK else _comment(dice, tokens[ply : ply + 3]))
        for ply, (token, comment) in enumerate(report.moves)
    ]
    now = datetime.datetime.now(datetime.UTC)
    return replace(
        report,
        worker="players@east/1",
        moves=tuple(moves),
        started=(now - datetime.timedelta(seconds=5)).isoformat(),
        finished=now.isoformat(),
        white=replace(report.white, stderr="", lines=_lines(dice, tokens, 0)),
        black=replace(report.black, stderr="", lines=_lines(dice, tokens, 1)),
        walls="level A, freezer",
        speed="31.5",
    )


def _job_of(game: Game, attempt: object) -> tuple[GameJob, JobGame]:
    from types import SimpleNamespace
    from typing import cast

    from workers.jobs import JobGame

    job = SimpleNamespace(
        game=game.ladder_id, fen="", ply_limit=game.tournament.ply_limit, opening=game.pairing.opening_moves
    )
    return cast("GameJob", job), JobGame(game.key, str(getattr(attempt, "pk", "")), 0)


def _comment(dice: random.Random, line: Sequence[str]) -> str:
    score, depth = dice.uniform(-9, 9), dice.randint(3, 14)
    seconds, nodes = dice.uniform(0.05, 0.3), dice.randint(900, 40_000)
    return f"{score:+.2f}/{depth} {seconds:.3f}s {nodes}n cpu {seconds:.3f}s pv {' '.join(line)}"


def _lines(dice: random.Random, tokens: Sequence[str], side: int) -> str:
    """What one engine and the server say to each other."""
    return "\n".join(_spoken(dice, tokens, side)) + "\n"


def _spoken(dice: random.Random, tokens: Sequence[str], side: int) -> Iterator[str]:
    yield from ("> uginewgame", "> isready", "< readyok")
    for ply in range(OPENING_PLIES, len(tokens)):
        if ply % 2 != side:
            continue
        clocks = (dice.randint(900, 5000) for _ in range(2))
        yield f"> position startpos moves {' '.join(tokens[:ply])}"
        yield "> go p1time {} p2time {} p1inc 50 p2inc 50".format(*clocks)
        for depth in range(1, 4):
            pv = " ".join(tokens[ply : ply + depth])
            yield (
                f"< info depth {depth} score cp {dice.randint(-900, 900)} nodes {dice.randint(20, 9000)}"
                f" time {dice.randint(1, 99)} pv {pv}"
            )
        yield f"< bestmove {tokens[ply]}"


def _prune() -> None:
    """Delete everything that is not kept for good, and give the space back."""
    from django.db import connection
    from django.utils import timezone

    from tournament.services.pruning import prune

    prune(timezone.now() + datetime.timedelta(days=1000), budget_s=3600.0)
    with connection.cursor() as cursor:
        cursor.execute("VACUUM FULL" if connection.vendor == "postgresql" else "VACUUM")


def _sizes() -> dict[str, tuple[int, int]]:
    """The bytes of each table, and of its indexes."""
    from tournament.services.sizes import table_sizes

    return {size.name: (size.content, size.indexes) for size in table_sizes()}


def _print(title: str, before: dict[str, tuple[int, int]], games: int) -> None:
    """The growth of the tables since ``before``, by this number of games."""
    scale = MILLION / games / 1e6
    grown = {
        name: [scale * (now - then) for now, then in zip(sizes, before[name], strict=True)]
        for name, sizes in _sizes().items()
    }
    total = sum(map(sum, grown.values()))
    print(f"\n{title}, for a million games\n", HEAD, sep="\n")
    for name, cells in sorted(grown.items(), key=lambda item: -sum(item[1])):
        if sum(cells) >= SHOWN * total:
            print(f"| `{name}` | {cells[0]:,.0f} | {cells[1]:,.0f} | {sum(cells):,.0f} |")
    print(f"| all | | | {total:,.0f} |")


if __name__ == "__main__":
    sys.exit(main())
