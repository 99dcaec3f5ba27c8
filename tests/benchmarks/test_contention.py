"""The benchmark of the fair clock in a short form: its engines, and what they are charged."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from benchmarks.contention import HONEST, HOSTILE, PLIES, SOURCE, Rig, busy_loops
from benchmarks.measuring import pinned
from tests.support.needs import need
from tests.support.sandboxes import sandbox_of
from workers.sandbox.levels import Level

pytestmark = [pytest.mark.slow, pytest.mark.sandbox]

THINK_MS = 20
LOOPS = 2


@pytest.fixture(params=["A", "B"])
def rig(request: pytest.FixtureRequest, tmp_path: Path) -> Rig:
    subprocess.run((need("cc"), "-O1", "-pthread", "-o", tmp_path / "evader", SOURCE), check=True)
    return Rig(sandbox_of(Level(request.param)), tmp_path)


@pytest.mark.parametrize("how", [*HONEST, *HOSTILE])
def test_no_engine_voids_a_game_or_is_charged_more_than_wall_time(rig: Rig, how: str) -> None:
    core = [max(os.sched_getaffinity(0))]
    with pinned(frozenset(core)), busy_loops(LOOPS, core):
        moves, played = rig.play(how, THINK_MS)
    assert (played.termination, played.evidence) == ("ply limit", "")
    assert len(moves) == PLIES // 2
    assert all(0 < move.charged <= move.wall for move in moves)
    assert (sum(move.steps for move in moves) > 0) is (how != "sleeper")
