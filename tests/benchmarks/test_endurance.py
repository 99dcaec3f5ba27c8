"""The benchmark of long matches, with short ones."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks import endurance
from benchmarks.endurance import Run, Sample
from benchmarks.gauge import Load
from tests.support.needs import need

pytestmark = pytest.mark.slow


@pytest.fixture(autouse=True)
def _room(monkeypatch: pytest.MonkeyPatch) -> None:
    """A short match is still warming up."""
    monkeypatch.setattr(endurance, "GROWTH_MIB", 8.0)


@pytest.mark.thorough
def test_many_games_leave_a_match_as_it_was(tmp_path: Path) -> None:
    need("cc")
    run = endurance.play_good(tmp_path, games=400, slots=1)
    assert list(run.wrong(400)) == []


def test_crashing_hanging_and_flooding_engines_leave_nothing(tmp_path: Path) -> None:
    run = endurance.play_faulty(tmp_path, games=16, slots=1)
    assert list(run.wrong(16)) == []


def test_growth_and_leftovers_are_noticed() -> None:
    first, last = Sample(10, Load(3, 70.0, 30), 9), Sample(20, Load(3, 79.0, 50), 30)
    run = Run((first, last), 1.0, 3, ("process 7 is left",))
    assert list(run.wrong(30)) == [
        "20 of 30 games, exit code 3",
        "memory grew by 9.0 MiB",
        "open descriptors grew from 30 to 50",
        "processes grew from 9 to 30",
        "process 7 is left",
    ]
