"""A site whose processes are killed while it plays: every game is recorded once, and no process is left."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from tests.support.jobs import wait_until
from tests.support.processes import command_line
from tests.support.sites import SiteData
from tournament.embedded.options import find_port
from tournament.embedded.plan import ROOT
from tournament.embedded.processes.guard import descendants

PATIENCE_S = 300.0
"""The time limit of a wait; only a failing test or a busy machine reaches it."""
LEASE_S = 8
"""A lost game is played again after a lease, once the keeper has run for as long."""
GAMES = 40
LADDERS = ("dogon-kulei", "dogon-gagara")
GAMES_AN_HOUR = 36_000
"""The games of each ladder: more than are played, so that there is always another game."""
SCHEDULE = f"""
from tournament.embedded.samples import register_samples
from tournament.models import ActiveVersion, Ladder, Matchmaking, User
from tournament.services.schedule.tournaments import create_round_robin, start

bots = [version for version in register_samples() if version.bot.name in {{"Random", "Greedy"}}]
for version in bots:
    version.bot.owner = User.objects.create_user(version.bot.name)  # bots of one owner never meet
    version.bot.save()
Ladder.objects.ensure()
Matchmaking.objects.ensure()
Matchmaking.objects.filter(ladder__in={LADDERS}).update(games_an_hour={GAMES_AN_HOUR}, opening_plies=2)
ActiveVersion.objects.exclude(version__in=bots).update(enabled=False)
start(create_round_robin(
    None, name="Among killers", versions=bots, ladders={list(LADDERS)}, pairs={GAMES // 4},
    time_control="0.1/move", seed=1, opening_plies=2,
))
"""
STOP_LADDERS = """
from tournament.models import Matchmaking

Matchmaking.objects.update(games_an_hour=0)
"""
VICTIMS = {
    "keeper": "--hostname=keeper@%h",
    "redis": "redis-server",
    "beat": "--pidfile=",
    "site": "gunicorn",
    "players": "--queue=games",
    "validators": "--queue=validation",
}
"""A word in the command line of each process."""


class Site(SiteData):
    """``arena up`` as a process, on a separate data folder."""

    def __init__(self, data: Path) -> None:
        super().__init__(data)
        self.environment |= {"DUARENA_LEASE": str(LEASE_S), "DUARENA_LADDER_TIME": "0.1/move"}
        self.run(SCHEDULE)
        (data / "scratch" / "left by a dead engine").mkdir(parents=True)
        self._output_path = data / "output"
        command = ("-m", "tournament.embedded", "up", "--port", str(find_port("127.0.0.1", 18_600)))
        with self._output_path.open("wb") as output:
            self.process = subprocess.Popen(
                (sys.executable, *command, "--workers", "2", "--trust-uploads", "--data", str(data)),
                cwd=ROOT,
                env=self.environment,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
            )

    def output(self) -> str:
        return self._output_path.read_text()

    def done(self) -> int:
        return len(self.ask("SELECT id FROM tournament_game WHERE state = 'done'"))

    def is_over(self) -> bool:
        """Whether the round robin and every game that the ladders began are finished."""
        begun = "SELECT count(*) FROM tournament_game WHERE state IN ('waiting', 'claimed')"
        return self.state() != "running" and self.ask(begun) == [(0,)]

    def state(self) -> object:
        """The state of the round robin."""
        ((state,),) = self.ask("SELECT state FROM tournament_tournament WHERE name = 'Among killers'")
        return state

    def wait_until(self, condition: Callable[[], bool], what: str) -> None:
        """The site must not end meanwhile."""

        def is_met() -> bool:
            if condition():
                return True
            assert self.process.poll() is None, self.output()
            return False

        assert wait_until(is_met, PATIENCE_S, pause=0.1), f"{what}: {self.output()}"

    def wait_for_a_game(self, what: str) -> None:
        """Wait for one more recorded game than now; the ladders always have games to play."""
        before = self.done()
        self.wait_until(lambda: self.done() > before, what)

    def kill(self, word: str) -> bool:
        """Kill all processes with the word in their command lines, but not their guards; False if none is."""
        found = False
        for pid in descendants(self.process.pid):
            if word in (line := command_line(pid)) and "guard.py" not in line:
                found = True
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
        return found

    def kill_a_pool_process(self) -> bool:
        """Kill the youngest process of the players; False if there is none."""
        pool = [pid for pid in descendants(self.process.pid) if "--queue=games" in command_line(pid)]
        if pool:
            with suppress(ProcessLookupError):
                os.kill(max(pool), signal.SIGKILL)
        return bool(pool)


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    site = Site(tmp_path)
    yield site
    site.process.kill()
    site.process.wait()


@pytest.mark.thorough
def test_every_game_is_recorded_once_after_any_kills(site: Site) -> None:
    site.wait_for_a_game("no games are played")
    for name, word in VICTIMS.items():
        site.wait_until(lambda word=word: site.kill(word), f"{name} does not run")  # type: ignore[misc]
        site.wait_until(lambda name=name: f"{name} died (signal 9)" in site.output(), f"{name} is not missed")  # type: ignore[misc]
        site.wait_for_a_game(f"no game after the death of {name}")
    site.wait_until(site.kill_a_pool_process, "nobody plays")
    site.wait_for_a_game("no game after the death of a pool process")
    site.run(STOP_LADDERS)
    site.wait_until(site.is_over, "it does not end")

    assert site.state() == "finished"
    assert site.ask("SELECT games_done FROM tournament_tournament WHERE name = 'Among killers'") == [(GAMES,)]
    done = site.done()
    assert done > GAMES
    recorded = site.ask("SELECT game_id FROM tournament_attempt WHERE end = 'recorded'")
    assert len(recorded) == len(set(recorded)) == len(site.ask("SELECT * FROM tournament_gamerecord")) == done
    assert site.manage("rebuild_ratings").count("nothing changed") == 5

    processes = descendants(site.process.pid)
    site.process.send_signal(signal.SIGINT)
    assert site.process.wait(PATIENCE_S) == 0
    assert not (site.data / "scratch" / "left by a dead engine").exists()
    assert [pid for pid in processes if Path(f"/proc/{pid}").exists()] == []
