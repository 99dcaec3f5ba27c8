"""A site whose processes are killed while it plays: every game is recorded once, and nothing survives it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.support.sites import SiteData
from tournament.embedded.guard import descendants
from tournament.embedded.options import find_port
from tournament.embedded.plan import ROOT

PATIENCE_S = 150.0
"""A lost game is played again after a lease of 30 s, once the keeper has run for as long."""
GAMES = 40
SCHEDULE = """
from tournament.embedded.samples import register_samples
from tournament.services.tournaments import create_round_robin, start

bots = [version for version in register_samples() if version.bot.name in {"Random", "Greedy"}]
start(create_round_robin(
    None, name="Among killers", versions=bots, ladders=["dogon-kulei", "dogon-gagara"], pairs=10,
    time_control="0.1/move", seed=1, opening_plies=2,
))
"""
VICTIMS = {
    "keeper": "--hostname=keeper@%h",
    "redis": "redis-server",
    "beat": "--pidfile=",
    "site": "gunicorn",
    "players": "--queue=games",
    "validators": "--queue=validation",
}
"""A word of each one's command line."""


def command_line(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
    except OSError:
        return ""


class Site(SiteData):
    """``arena up`` on a data folder of its own, as a process."""

    def __init__(self, data: Path) -> None:
        super().__init__(data)
        self.run(SCHEDULE)
        (data / "scratch" / "left by a dead engine").mkdir(parents=True)
        self._said = data / "said"
        command = ("-m", "tournament.embedded", "up", "--port", str(find_port("127.0.0.1", 18_600)))
        with self._said.open("wb") as output:
            self.process = subprocess.Popen(
                (sys.executable, *command, "--workers", "2", "--data", str(data)),
                cwd=ROOT,
                env=self.environment,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
            )

    def said(self) -> str:
        return self._said.read_text()

    def done(self) -> int:
        return len(self.ask("SELECT id FROM tournament_game WHERE state = 'done'"))

    def wait_until(self, condition: Callable[[], bool], what: str) -> None:
        deadline = time.monotonic() + PATIENCE_S
        while not condition():
            assert self.process.poll() is None, self.said()
            assert time.monotonic() < deadline, f"{what}: {self.said()}"
            time.sleep(0.1)

    def kill(self, word: str) -> None:
        """All processes with the word in their command lines, but not their guards."""
        for pid in descendants(self.process.pid):
            if word in (line := command_line(pid)) and "guard.py" not in line:
                os.kill(pid, signal.SIGKILL)

    def kill_a_pool_process(self) -> None:
        pool = [pid for pid in descendants(self.process.pid) if "--queue=games" in command_line(pid)]
        os.kill(max(pool), signal.SIGKILL)


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    site = Site(tmp_path)
    yield site
    site.process.kill()
    site.process.wait()


@pytest.mark.slow
def test_whatever_is_killed_every_game_is_recorded_once(site: Site) -> None:
    site.wait_until(lambda: site.done() >= 2, "no games are played")
    for name, word in VICTIMS.items():
        before = site.done()
        site.kill(word)
        site.wait_until(lambda name=name: f"{name} died (signal 9)" in site.said(), f"{name} is not missed")  # type: ignore[misc]
        site.wait_until(lambda before=before: site.done() > before, f"no game after the death of {name}")  # type: ignore[misc]
    site.kill_a_pool_process()
    over = "SELECT state FROM tournament_tournament"
    site.wait_until(lambda: site.ask(over) != [("running",)], "it does not end")

    assert site.ask(over) == [("finished",)]
    assert site.done() == GAMES
    recorded = site.ask("SELECT game_id FROM tournament_attempt WHERE end = 'recorded'")
    assert (
        len(recorded) == len(set(recorded)) == len(site.ask("SELECT * FROM tournament_gamerecord")) == GAMES
    )
    assert site.manage("rebuild_ratings").count("nothing changed") == 5

    processes = descendants(site.process.pid)
    site.process.send_signal(signal.SIGINT)
    assert site.process.wait(PATIENCE_S) == 0
    assert not (site.data / "scratch" / "left by a dead engine").exists()
    assert [pid for pid in processes if Path(f"/proc/{pid}").exists()] == []
