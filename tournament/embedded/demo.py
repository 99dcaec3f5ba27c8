"""``./arena demo``: a round robin of the sample bots from the first game to the last table.

It uses all parts: the site over HTTP, Redis, Celery's workers, the record keeper. At the
end it checks what Duarena promises: the published records verify, ratings rebuilt from
them are the same to the bit, and no process is left.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path
from typing import TYPE_CHECKING

from engines.console import format_duration
from engines.rules.registry import GAMES
from tournament.embedded.console import Console
from tournament.embedded.instance import Instance, running_instance
from tournament.embedded.options import Options
from tournament.embedded.plan import ROOT
from tournament.embedded.processes.guard import descendants
from tournament.embedded.processes.lock import instance_lock
from tournament.embedded.up import disk_news, watch
from tournament.known_database import MARKER

if TYPE_CHECKING:
    from tournament.models import Tournament

DEADLINE_S = 15 * 60.0
"""Time limit: several times what two slow cores take."""


class DemoFailed(Exception):
    """A check that failed; the text is a sentence for the user."""


def demo(options: Options, console: Console) -> int:
    """Play the demonstration in a fresh data folder, print its tables; returns the exit code."""
    began = time.monotonic()
    _clear(options.data)
    with running_instance(options, console, _prepare) as instance:
        tournament = _tournament()
        console.say(f"{tournament.games_total} games on five ladders, watched at {instance.address.url}")
        _play(instance, console, options.workers, tournament)
        files = _fetch_records(instance, options.data / "records", tournament.ladders)
        _print_tables(console, tournament)
        _verify(console, files)
        _compare_ratings(console, files)
    if left := descendants(os.getpid()):
        raise DemoFailed(f"processes are left: {left}")
    took = format_duration(time.monotonic() - began)
    console.say(f"Everything has stopped, no process is left. It took {took}.")
    return 0


def _clear(data: Path) -> None:
    """Remove the files of the last demonstration; raises ``AlreadyRunning`` if it still runs.

    The folder itself stays: its parent may not be writable for us, as after a start by root.
    """
    if data.exists():
        with instance_lock(data):
            for entry in data.iterdir():
                if entry.name == MARKER:
                    continue
                if entry.is_dir() and not entry.is_symlink():
                    shutil.rmtree(entry)
                else:
                    entry.unlink()


def _prepare() -> None:
    from tournament.embedded.samples import DEMO_EVENT, register_samples, start_event

    start_event(DEMO_EVENT, register_samples())


def _tournament() -> Tournament:
    from tournament.models import Tournament

    return Tournament.objects.get()


def _play(instance: Instance, console: Console, workers: int, tournament: Tournament) -> None:
    """Watch the site until all games are played; raises ``DemoFailed``."""
    deadline = time.monotonic() + DEADLINE_S

    def is_over() -> bool:
        tournament.refresh_from_db()
        if not tournament.is_over and time.monotonic() > deadline:
            done, total = tournament.games_done, tournament.games_total
            raise DemoFailed(f"only {done} of {total} games were played in {format_duration(DEADLINE_S)}")
        return tournament.is_over

    watch(instance, console, workers, [disk_news()], is_done=is_over)
    if not tournament.is_over:
        raise DemoFailed("stopped before all games were played")
    console.say(f"{tournament.games_done}/{tournament.games_total} games are played.")
    _check_played(tournament)


def _check_played(tournament: Tournament) -> None:
    from tournament.models import Game, GameRecord

    if halted := tournament.games.filter(state=Game.State.HALTED).first():
        raise DemoFailed(f"game {halted.key} could not be played: {halted.evidence}")
    recorded = GameRecord.objects.count()
    if recorded != tournament.games_total:
        raise DemoFailed(f"{recorded} records of {tournament.games_total} games")


def _fetch_records(instance: Instance, folder: Path, ladders: list[str]) -> list[Path]:
    """Download each ladder's records from the site, in completion sequence."""
    from django.urls import reverse

    folder.mkdir(parents=True)
    files = []
    for code in ladders:
        path = folder / f"{code}.pgn"
        with urllib.request.urlopen(instance.address.url + reverse("ladder-records", args=[code])) as answer:
            path.write_bytes(answer.read())
        files.append(path)
    return files


def _print_tables(console: Console, tournament: Tournament) -> None:
    from tournament.embedded.tables import describe_ladder
    from tournament.models import Ladder

    for code in tournament.ladders:
        console.say(f"\n{Ladder(code=code).name}\n\n{describe_ladder(tournament, code)}")


def _verify(console: Console, files: list[Path]) -> None:
    command = (sys.executable, "-m", "engines", "verify", *map(str, files))
    answer = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if answer.returncode != 0:
        raise DemoFailed(f"the records do not verify: {(answer.stdout + answer.stderr).strip()}")
    console.say("\nRecords, all of them verified by replaying every move:")
    for path in files:
        console.say(f"  {path}")


def _compare_ratings(console: Console, files: list[Path]) -> None:
    """Rate the files alone, in a new process without a database; raises ``DemoFailed``."""
    from tournament.services.results.exact import exact_from_tables

    command = ("manage.py", "rebuild_ratings", "--print", "--from-records", *map(str, files))
    with tempfile.TemporaryDirectory() as empty:
        answer = subprocess.run(
            (sys.executable, *command),
            cwd=ROOT,
            env={**os.environ, "DUARENA_DATA": empty, "DATABASE_URL": f"sqlite:///{empty}/none.sqlite3"},
            capture_output=True,
            text=True,
            check=False,
        )
    if answer.returncode != 0:
        raise DemoFailed(f"the records cannot be rated: {answer.stderr.strip()}")
    if answer.stdout != "".join(f"{exact_from_tables(code)}\n" for code in GAMES):
        raise DemoFailed("ratings made from the records differ from those published")
    console.say("Ratings made from these records in a new process: the same to the bit.")
