"""Hostile engines in the sandbox, observed from outside; each succeeds without its protection."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.hostile.attack import Attack
from tests.support.hostile.attacks import ATTACKS
from tests.support.hostile.outer import run_unprotected_trial
from tests.support.hostile.server import TrialServer
from tests.support.sandboxes import sandbox_of
from workers.sandbox.levels import Level

WORKER_BYTES = 200 * 1024 * 1024
UNPROTECTED_TRIES = 3

SHOWN = [attack for attack in ATTACKS if not attack.unshown]


GROUPS = {"memory", "limit of processes", "rest"}
"""Protections for which level A uses control groups."""
TRIALS = [
    pytest.param(
        attack,
        level,
        id=f"{attack.name}-{level}",
        marks=[] if level == attack.level or GROUPS & set(attack.protections) else pytest.mark.thorough,
    )
    for attack in ATTACKS
    for level in (Level.A, Level.B)
    if level <= attack.level
]
"""Every attack at level A, and at level B if that level stops it.

Level A has every protection of level B: only a complete run tries there what control groups do not stop.
"""


@pytest.fixture(scope="module")
def server() -> Iterator[TrialServer]:
    server = TrialServer()
    yield server
    server.close()


@pytest.mark.slow
@pytest.mark.sandbox
@pytest.mark.parametrize(("attack", "level"), TRIALS)
def test_the_sandbox_stops_an_engine_that(
    attack: Attack, level: Level, server: TrialServer, tmp_path: Path
) -> None:
    sandbox_of(level)
    seen = server.run_trial(attack.name, level, tmp_path)
    assert seen.alive, seen.evidence
    assert not attack.reached_its_goal(seen), seen
    assert seen.termination == attack.verdict or (attack.plays_on and seen.termination == "ply limit"), seen
    assert seen.fault == ("none" if seen.termination == "ply limit" else "white"), seen
    assert (seen.survivors, seen.groups, seen.changed, seen.has_controls) == (0, 0, False, False), seen
    assert seen.worker_bytes < WORKER_BYTES


@pytest.mark.slow
@pytest.mark.thorough
@pytest.mark.sandbox
@pytest.mark.parametrize("attack", SHOWN, ids=[attack.name for attack in SHOWN])
def test_without_its_protection_the_attack_succeeds_of_an_engine_that(attack: Attack, tmp_path: Path) -> None:
    """One success is enough: other programs on the machine may disturb a channel between two engines."""
    sandbox_of(Level.B)
    for number in range(UNPROTECTED_TRIES):
        folder = tmp_path / str(number)
        folder.mkdir()
        seen = run_unprotected_trial(attack.name, folder)
        if attack.reached_its_goal(seen):
            break
    assert attack.reached_its_goal(seen), seen


def test_every_attack_names_its_protections_or_why_success_cannot_be_shown() -> None:
    assert len({attack.name for attack in ATTACKS}) == len(ATTACKS)
    for attack in ATTACKS:
        assert bool(attack.protections) != bool(attack.unshown), attack.name
