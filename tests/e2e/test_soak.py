"""Short forms of the soak test ``python -m benchmarks.soak``."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.support.needs import need
from tests.support.sites import bare_environment
from tournament.embedded.plan import ROOT

pytestmark = pytest.mark.thorough
MOST_S = "900"
"""Several times the time on an idle machine."""


def soak(*words: str) -> str:
    """What the soak prints; fails if anything was wrong."""
    need("cc")
    command = (sys.executable, "-m", "benchmarks.soak", "--games=1", "--lease=8", f"--most={MOST_S}", *words)
    run = subprocess.run(
        command, cwd=ROOT, env=bare_environment(), capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stdout + run.stderr
    return run.stdout


def rows(output: str) -> dict[str, int]:
    """The numbers of the last table, by name."""
    cells = (line.strip("| ").split(" | ") for line in output.splitlines() if line.startswith("| "))
    return {what: int(number) for what, number in cells if number.isdigit()}


def test_with_faults_the_same_games_are_recorded_once_as_with_one_slot_or_eight() -> None:
    output = soak("--database=sqlite", "--database=postgresql", "--pace=1.5", "--calm")
    assert output.count("All games are recorded once") == 4
    assert "All runs: the same games" in output


def test_ladders_continue_after_every_kind_of_fault_and_make_no_pair_twice() -> None:
    counted = rows(soak("--ladders", "--games=20", "--pace=2"))
    assert counted["games"] >= 20
    assert counted["attempts recorded"] == counted["games"]
    kinds = (
        "kills of site",
        "workers cut off",
        "times without the database",
        "kills of Redis, its data lost",
    )
    assert min(counted[kind] for kind in kinds) > 0


def test_every_process_that_hangs_is_restarted_and_every_game_is_recorded_once() -> None:
    counted = rows(soak("--ladders", "--games=20", "--hang", "--pace=2"))
    assert sum(number > 0 for what, number in counted.items() if what.startswith("stops of ")) == 6
