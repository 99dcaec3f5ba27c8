"""Measures how soon the engines of running games are gone after a user stops the games.

On a site like that of ``./arena up`` two bots play games that would take days. A user pauses and resumes a
tournament, staff withdraws a version, and the user cancels another tournament, each by the form on its page;
measured is the time from the request until the last engine has ended. The target is five seconds.

    .venv/bin/python -m benchmarks.stops
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from benchmarks.machine import describe_machine
from benchmarks.stranger.visitor import Visitor
from tests.support.processes import command_line
from tournament.embedded.console import Console
from tournament.embedded.instance import Instance, running_instance
from tournament.embedded.options import Options
from workers.sandbox.tree import descendants

TARGET_S: Final = 5.0
PATIENCE_S: Final = 60.0
LOOK_S: Final = 0.02
ENDLESS: Final = "999999+999999"
PLAYERS: Final = ("Alphabeta", "Greedy")
LADDER: Final = "dualma"


class NotInTime(Exception):
    """What was waited for did not happen."""


class LongGames:
    """A site on which staff has tournaments of endless games; every act is a form of a page."""

    def __init__(self, instance: Instance) -> None:
        from tournament.models import BotVersion, User

        self._supervisor = instance.supervisor
        found = BotVersion.objects.valid().filter(bot__name__in=PLAYERS).select_related("bot")
        self._bots = list(found.order_by("bot__name"))
        self._staff = Visitor((instance.address.host, instance.address.port))
        self._staff.sign_up("stan")
        User.objects.filter(username="stan").update(is_staff=True)

    def start(self, name: str) -> str:
        """Start a tournament; returns its page when engines run."""
        bots = [version.pk for version in self._bots]
        slug = self._staff.start_tournament(
            {
                "name": name,
                "bots": bots,
                "ladders": [LADDER],
                "pairs": 5,
                "time_control": ENDLESS,
                "opening_plies": 0,
            }
        )
        self.wait_until(lambda: bool(self.engines()), "the games begin")
        return f"/tournaments/{slug}/"

    def time_until_gone(self, form: str) -> float:
        """Send a form; returns the seconds until no engine is left."""
        began = time.monotonic()
        self._staff.post(form, {})
        self.wait_until(lambda: not self.engines(), f"the engines end after {form}")
        return time.monotonic() - began

    def resume(self, page: str) -> None:
        """Resume a tournament and wait until engines run."""
        self._staff.post(f"{page}resume/", {})
        self.wait_until(lambda: bool(self.engines()), "the games are played again")

    def withdraw(self) -> float:
        """Withdraw one of the bots; returns the seconds until no engine is left."""
        page = self._bots[0].get_absolute_url()
        seconds = self.time_until_gone(f"{page}withdraw/")
        self._staff.post(f"{page}reinstate/", {})
        return seconds

    def engines(self) -> list[int]:
        """The processes of engines, those of their sandboxes included."""
        return [
            pid for pid in descendants(self._supervisor.guards["players"]) if "main.py" in command_line(pid)
        ]

    def wait_until(self, happens: Callable[[], bool], what: str) -> None:
        """Wait while the site runs. Raises ``NotInTime``."""
        end = time.monotonic() + PATIENCE_S
        while not happens():
            if time.monotonic() > end:
                raise NotInTime(f"not within {PATIENCE_S:.0f} seconds: {what}")
            self._supervisor.tend()
            time.sleep(LOOK_S)


@contextmanager
def site_with_long_games(folder: Path) -> Iterator[LongGames]:
    """A site on a new data folder, with two slots."""

    def prepare() -> None:
        from tournament.embedded.samples import register_samples

        register_samples()

    os.environ["DUARENA_LADDER_GAMES"] = "0"  # else their games follow those that are stopped
    with running_instance(Options("up", folder, workers=2), Console(sys.stderr), prepare) as instance:
        yield LongGames(instance)


def measure(games: LongGames, times: int) -> dict[str, list[float]]:
    """The seconds of each way to stop games."""
    taken: dict[str, list[float]] = {"pause": [], "withdrawal": [], "cancellation": []}
    for number in range(times):
        page = games.start(f"Paused {number}")
        taken["pause"].append(games.time_until_gone(f"{page}pause/"))
        games.resume(page)
        taken["withdrawal"].append(games.withdraw())
        page = games.start(f"Cancelled {number}")
        taken["cancellation"].append(games.time_until_gone(f"{page}cancel/"))
    return taken


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.stops", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("--times", type=int, default=10, help="of each kind (%(default)s)")
    options = parser.parse_args(arguments)
    print(*describe_machine(), sep="\n")
    with (
        tempfile.TemporaryDirectory(prefix="stops-") as folder,
        site_with_long_games(Path(folder) / "site") as games,
    ):
        taken = measure(games, options.times)
    print(f"\n| {options.times} times each | median | longest |\n| --- | ---: | ---: |")
    for what, seconds in taken.items():
        print(f"| {what} | {statistics.median(seconds):.2f} s | {max(seconds):.2f} s |")
    return int(max(map(max, taken.values())) > TARGET_S)


if __name__ == "__main__":
    raise SystemExit(main())
