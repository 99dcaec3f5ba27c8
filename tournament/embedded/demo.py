"""``./arena demo``: the site runs until the sample bots have played a round robin on all ladders.

At the end it writes the records to files, checks that they verify and give the published ratings to the bit,
and prints the ratings. The next demonstration plays another round robin on the same data.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from engines.records import read_headers
from engines.rules.registry import GAMES
from tournament.embedded import StartError
from tournament.embedded.console import Console
from tournament.embedded.instance import running_instance
from tournament.embedded.options import Options
from tournament.embedded.plan import ROOT
from tournament.embedded.up import describe_disk, describe_workers, watch

if TYPE_CHECKING:
    from tournament.models import LadderRating

COLUMNS = "{:12}" + "{:>8}" * 7


def demo(options: Options, console: Console) -> int:
    """Play the demonstration and print its ratings; returns the exit code. Raises ``StartError``."""
    with running_instance(options, console, _prepare) as instance:
        console.say(f"The sample bots play on {len(GAMES)} ladders, watched at {instance.address.url}")
        watch(
            instance,
            console,
            lambda: [*describe_disk(), *describe_workers()],
            is_done=lambda: bool(instance.supervisor.hopeless) or _is_done(),
        )
        if instance.supervisor.stopping:
            raise StartError("stopped before all games were played; the next `./arena demo` continues")
        if why := instance.supervisor.hopeless:
            raise StartError(f"the demonstration cannot go on: {why}")
        conclude(console, options.data / "records")
    console.say("Everything has stopped.")
    return 0


def _prepare() -> None:
    from tournament.embedded.samples import register_samples, start_event
    from tournament.models import Tournament
    from tournament.services.work.workers import presume_lost

    presume_lost()
    versions = register_samples()
    if not Tournament.objects.running().exists():
        # It must end within five minutes on two cores, installation included.
        start_event("Demonstration", versions, pairs=2, time_control="0.05/move")


def _is_done() -> bool:
    from tournament.models import Game, Tournament

    is_halted = Game.objects.filter(state=Game.State.HALTED).exists()
    return is_halted or not Tournament.objects.running().exists()


def conclude(console: Console, folder: Path) -> None:
    """Write the records into the folder, check them, and print the ratings. Raises ``StartError``."""
    from tournament.models import Game, Ladder, LadderRating
    from tournament.services.results.exact import exact_from_records, exact_from_tables

    if halted := Game.objects.filter(state=Game.State.HALTED).first():
        raise StartError(f"game {halted.key} could not be played: {halted.evidence}")
    files = write_records(folder)
    if subprocess.run((sys.executable, "-m", "engines", "verify", *files.values()), cwd=ROOT).returncode:
        raise StartError("the records do not verify")
    for code, path in files.items():
        with path.open(encoding="utf-8") as file:
            (exact,) = exact_from_records([code], read_headers(file, str(path)))
        if str(exact) != str(exact_from_tables(code)):
            raise StartError(f"ratings made from {path} differ from those published")
        ratings = LadderRating.objects.placed(LadderRating.objects.places(code))
        console.say(f"\n{Ladder(code=code).name}\n\n{format_ratings(ratings)}")
    console.say("\nEvery move was replayed; ratings made from these records are the same to the bit.")


def write_records(folder: Path) -> dict[str, Path]:
    """Write a file of each ladder, as its page publishes it; returns the files by ladder."""
    from tournament.access import public_records

    folder.mkdir(parents=True, exist_ok=True)
    files = {code: folder / f"{code}.pgn" for code in GAMES}
    for code, path in files.items():
        with path.open("w", encoding="utf-8") as file:
            for text in public_records(code).values_list("text", flat=True).iterator(500):
                file.write(f"{text}\n")
    return files


def format_ratings(ratings: Iterable[LadderRating]) -> str:
    """The rows of a ladder's table in columns."""
    lines = [COLUMNS.format("", "rating", "mu", "sigma", "games", "won", "drawn", "lost")]
    for row in ratings:
        skill = (f"{number:.2f}" for number in (row.conservative, row.mu, row.sigma))
        tally = (row.games, row.wins, row.draws, row.losses)
        lines.append(COLUMNS.format(row.version.bot.name, *skill, *tally))
    return "\n".join(lines)
