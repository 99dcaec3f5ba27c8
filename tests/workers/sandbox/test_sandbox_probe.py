"""The probe notices each missing protection. Its engine does no harm, so protections may be removed."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path
from unittest.mock import patch

import pytest

from tests.support.hostile.removals import remove_protections
from workers.engine import sandbox_probe
from workers.engine.faults import EngineFault
from workers.engine.sandbox_probe import ProbeRun, _failure, _try_memory, _try_to_escape
from workers.sandbox.levels import Level, Verdict
from workers.sandbox.sandbox import Sandbox

PROTECTIONS = (
    "folders not shown",
    "namespace of the network",
    "namespace of processes",
    "environment of bwrap",
    "closed root",
    "system call filter",
    "hard limits",
    "limits of the first process",
)


@pytest.fixture(autouse=True)
def _closed_again() -> Iterator[None]:
    yield
    patch.stopall()


def test_nothing_is_missing_in_a_complete_sandbox(level_b: Sandbox) -> None:
    assert _try_to_escape(level_b) == []


@pytest.mark.parametrize("protection", PROTECTIONS)
def test_a_missing_protection_is_noticed(protection: str, level_b: Sandbox) -> None:
    assert _try_to_escape(remove_protections((protection,), level_b, Path(tempfile.gettempdir())))


def test_an_engine_that_gets_out_is_a_certain_result(level_b: Sandbox) -> None:
    """Another probe would be no better, unlike after one that a busy machine cut short."""
    sandbox = remove_protections(("folders not shown",), level_b, Path(tempfile.gettempdir()))
    assert Verdict(Level.C, tuple(_try_to_escape(sandbox))).is_certain


def test_an_engine_that_does_not_answer_in_time_is_an_uncertain_result(
    level_b: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sandbox_probe, "PROBE_SECONDS", 0)
    for wants in (_try_to_escape(level_b), _try_memory(level_b)):
        assert wants
        assert not Verdict(Level.C, tuple(wants)).is_certain


@pytest.mark.parametrize(
    ("stderr", "is_certain"),
    [
        ("bwrap: No permissions to create new namespace", True),
        ("bwrap: setting up uid map: Permission denied", True),
        ("bwrap: Unknown option --disable-userns", True),
        ("bwrap: Can't fork unprivileged helper: Resource temporarily unavailable", False),
        ("", False),
    ],
)
def test_a_refusal_by_the_system_is_certain_and_any_other_failed_start_is_not(
    stderr: str, is_certain: bool
) -> None:
    want = _failure(ProbeRun("", EngineFault("the process ended"), stderr))
    assert Verdict(Level.C, (want,)).is_certain is is_certain
