"""Short forms of the soak test ``python -m benchmarks.soak``."""

from __future__ import annotations

import subprocess
import sys

import pytest

from benchmarks.soak.network import command_inside
from tests.support.needs import need
from tests.support.sites import bare_environment
from tournament.embedded.plan import ROOT

pytestmark = pytest.mark.thorough
MOST_S = "600"
"""Ten times the time on an idle machine."""


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
    output = soak("--database=sqlite", "--database=postgresql", "--pace=1.5", "--calm", "--at-once")
    assert output.count("All games are recorded once") == 4
    assert "All runs: the same games" in output


def test_ladders_continue_after_faults_and_make_no_pair_twice() -> None:
    output = soak("--ladders", "--games=20", "--pace=2")
    assert output.count("All games are recorded once") == 1
    assert rows(output)["games"] >= 20


def can_have_a_network() -> bool:
    need("ip")
    inside = command_inside(())
    words = () if inside is None else inside[: inside.index("env")]
    tried = subprocess.run((*words, "ip", "link", "add", "type", "veth"), capture_output=True, check=False)
    return tried.returncode == 0


def test_games_lost_with_a_host_that_is_cut_off_are_played_elsewhere_and_recorded_once() -> None:
    if not can_have_a_network():
        pytest.skip("needs network namespaces: root, or user namespaces for everybody")
    counted = rows(soak("--hosts", "--ladders", "--workers=2"))
    assert counted["hosts cut off"] == counted["hosts back again"] == 1
    assert counted["attempts lost"] >= 1
    assert counted["attempts recorded"] == counted["games"]
