"""Measures how long other writers wait while a tournament of 99,000 games is made, extended and cancelled.

In a new SQLite database, with the site's own settings. Another process stores a row again and again, as the
record keeper does, and measures how long it waits for the write lock. The beat's runs follow each other
after a fifth of a second instead of a second.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import sqlite3
import statistics
import tempfile
import time
from collections.abc import Callable, Sequence
from importlib import import_module
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Final

PAUSE_S: Final = 0.005
"""Between two writes of the other process."""
BEAT_S: Final = 0.2
TIMEOUT_S: Final = 60.0


def main(words: Sequence[str] | None = None) -> None:
    """Print the table."""
    argparse.ArgumentParser(prog="python -m benchmarks.schedules", description=__doc__).parse_args(words)
    with tempfile.TemporaryDirectory(prefix="duarena-schedules-") as folder:
        os.environ |= {"DUARENA_DATA": folder, "DJANGO_SETTINGS_MODULE": "tournament.settings"}
        _set_up()
        ours, theirs = multiprocessing.Pipe()
        writer = multiprocessing.get_context("spawn").Process(
            target=_write, args=(Path(folder) / "db.sqlite3", theirs)
        )
        writer.start()
        try:
            _measure_all(ours)
        finally:
            ours.send(None)
            writer.join()


def _set_up() -> None:
    import django
    from django.core.management import call_command

    django.setup()
    call_command("migrate", verbosity=0)
    call_command("createcachetable", verbosity=0)
    import_module("tournament.urls")  # as in a process of the site that has shown a page


def _measure_all(writer: Connection) -> None:
    from tests.support.schedule import make_version
    from tournament.models import User
    from tournament.services.schedule import tournaments

    staff = User.objects.create(username="stan", is_staff=True)
    versions = [make_version(f"Bot {number}") for number in range(1, 101)]

    def create() -> None:
        tournaments.create_round_robin(
            staff,
            name="Large",
            versions=versions,
            ladders=["duploline"],
            pairs=10,
            time_control="1+0.1",
            seed=1,
            opening_plies=4,
        )

    def act(name: str, *more: int) -> Callable[[], None]:
        return lambda: getattr(tournaments, name)(staff.tournaments.latest("id"), *more)

    print("| step | request | until done | other writer: median | longest wait |")
    print("| --- | ---: | ---: | ---: | ---: |")
    _measure("create a draft of 99,000 games", create, writer)
    _measure("start it", act("start"), writer)
    _measure("cancel it", act("cancel"), writer)
    _measure("create another", create, writer)
    _measure("cancel the draft", act("cancel"), writer)
    versions[:] = versions[:10]
    create()
    act("start")()
    _measure("extend one of 900 games by 89,100", act("extend", 990), writer)


def _finish_steps() -> None:
    """Run what the beat runs, until nothing is left to do."""
    from tournament.services.calendar import tend

    while tend():
        time.sleep(BEAT_S)


def _measure(name: str, step: Callable[[], None], writer: Connection) -> None:
    writer.send("measure")
    writer.recv()
    begun = time.monotonic()
    step()
    request = time.monotonic() - begun
    _finish_steps()
    done = time.monotonic() - begun
    writer.send("report")
    waits: list[float] = writer.recv()
    median, longest = statistics.median(waits), max(waits)
    print(f"| {name} | {request:.2f} s | {done:.1f} s | {median:.3f} s | {longest:.2f} s |", flush=True)


def _write(database: Path, parent: Connection) -> None:
    """Store a row until the parent sends None; the waits since "measure" are sent at "report"."""
    connection = sqlite3.connect(database, timeout=TIMEOUT_S, isolation_level=None)
    waits: list[float] = []
    while True:
        begun = time.monotonic()
        connection.execute("BEGIN IMMEDIATE")
        waits.append(time.monotonic() - begun)
        connection.execute("UPDATE tournament_ladder SET sequence = sequence")
        connection.execute("COMMIT")
        if parent.poll(PAUSE_S):
            match parent.recv():
                case "measure":
                    waits = []
                    parent.send("ready")
                case "report":
                    parent.send(waits)
                case _:
                    return


if __name__ == "__main__":
    main()
