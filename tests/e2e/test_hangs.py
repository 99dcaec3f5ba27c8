"""A site of which one process after another is stopped: each is killed and restarted, and games go on."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from tests.e2e.test_kills import STOP_LADDERS, VICTIMS, Site
from tests.support.processes import command_line
from tournament.embedded.processes.guard import descendants


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    site = Site(tmp_path)
    yield site
    site.process.kill()
    site.process.wait()


def stop(site: Site, word: str) -> bool:
    """Stop all processes with the word in their command lines, also slots; False if there is none."""
    found = [
        pid
        for pid in descendants(site.process.pid)
        if word in (line := command_line(pid)) and "guard.py" not in line
    ]
    for pid in found:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGSTOP)
    return bool(found)


@pytest.mark.thorough
def test_every_process_that_hangs_is_restarted_and_every_game_is_recorded_once(site: Site) -> None:
    site.wait_for_a_game("no games are played")
    for name, word in VICTIMS.items():
        site.wait_until(lambda word=word: stop(site, word), f"{name} does not run")  # type: ignore[misc]
        text = f"{name} has not responded for "
        site.wait_until(lambda text=text: text in site.output(), f"{name} is not missed")  # type: ignore[misc]
        site.wait_for_a_game(f"no game after {name} was stopped")
    site.run(STOP_LADDERS)
    site.wait_until(site.is_over, "it does not end")
    assert site.state() == "finished"
    recorded = site.ask("SELECT game_id FROM tournament_attempt WHERE end = 'recorded'")
    records = site.ask("SELECT * FROM tournament_gamerecord")
    assert len(recorded) == len(set(recorded)) == len(records) == site.done()
    assert site.manage("rebuild_ratings").count("nothing changed") == 5
