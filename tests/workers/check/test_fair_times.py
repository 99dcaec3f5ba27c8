"""The times of a checked engine leave out what the machine withholds, and nothing else."""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.support.sandboxes import bad_engine_in, sandbox_of
from tests.workers.check.test_check import BY_NAME, DOGON, found_by
from workers.check import account, checked_process, playing, protocol_checks
from workers.check.checked_engine import CheckedEngine
from workers.check.checked_process import Budget
from workers.check.run import try_check
from workers.engine.launch import plan_launch
from workers.sandbox.levels import Level

MS = 1_000_000
LONG_MS = 9000
"""More than any turn here takes."""
BUSY_LOOPS_A_CORE = 4


@dataclass
class Withholding:
    """A machine that withholds the same time from every turn; ``None``: its kernel does not count that."""

    ns: int
    is_proof: bool = False
    counts_present_wait: bool = True

    def present_waits(self) -> frozenset[tuple[int, int]]:
        return frozenset()

    def mark(self) -> None: ...

    def sample(self) -> None: ...

    def since_mark_ns(self) -> int:
        return self.ns


def withhold(monkeypatch: pytest.MonkeyPatch, counter: Withholding | None) -> None:
    monkeypatch.setattr(account.EngineAccount, "withheld_counter", lambda self: counter)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("plan", "withheld_ms", "fault"),
    [
        ("go late 0.3", LONG_MS, ""),
        ("go late 0.3", 0, "to 'go movetime 20' the answer took "),
        ("go burn 0.3", LONG_MS, "wall time "),
    ],
    ids=("a delayed engine", "a sleeping engine", "a searching engine"),
)
def test_a_late_answer_is_a_fault_only_if_the_machine_did_not_withhold_the_time(
    plan: str, withheld_ms: int, fault: str, mark: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(playing, "GRACE_SECONDS", 60.0)
    withhold(monkeypatch, Withholding(withheld_ms * MS))
    found = found_by("short times", plan, mark)
    assert found.was_tried
    assert fault in found.fault
    assert bool(found.fault) == bool(fault)


@pytest.mark.slow
@pytest.mark.parametrize(("is_free", "is_fault"), [(True, True), (False, False)])
def test_where_the_kernel_counts_nothing_a_late_answer_is_a_fault_if_there_is_a_free_core(
    is_free: bool, is_fault: bool, mark: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    withhold(monkeypatch, None)
    monkeypatch.setattr(playing, "has_free_core", lambda: is_free)
    assert bool(found_by("short times", "go late 0.3", mark).fault) == is_fault


@pytest.mark.parametrize(("withheld_ms", "is_fault"), [(LONG_MS, False), (0, True)])
def test_every_wait_is_longer_by_the_time_withheld(
    withheld_ms: int, is_fault: bool, mark: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The engine sleeps for 0.4 s."""
    withhold(monkeypatch, Withholding(withheld_ms * MS))
    for module in (checked_process, protocol_checks):
        monkeypatch.setattr(module, "READY_SECONDS", 0.3)
    assert bool(found_by("isready", "isready:2 late 0.4", mark).fault) == is_fault


@contextmanager
def busy_machine() -> Iterator[None]:
    """Every core of this process has some endless loops, which end with it."""
    context = multiprocessing.get_context("fork")
    loops = [
        context.Process(target=_spin, daemon=True)
        for _ in range(BUSY_LOOPS_A_CORE * len(os.sched_getaffinity(0)))
    ]
    for loop in loops:
        loop.start()
    try:
        yield
    finally:
        for loop in loops:
            loop.kill()
            loop.join()


def _spin() -> None:
    while True:
        pass


@pytest.mark.slow
@pytest.mark.parametrize("name", ["short times", "time control", "isready", "stop"])
def test_an_engine_that_answers_at_once_passes_on_a_busy_machine(name: str, mark: str) -> None:
    with busy_machine():
        assert found_by(name, "", mark).fault == ""


@pytest.mark.slow
def test_a_machine_with_busy_loops_on_all_cores_has_no_free_core() -> None:
    with busy_machine():
        assert not all(account.has_free_core() for _ in range(10))


@pytest.mark.slow
def test_thinking_while_it_should_wait_is_found_in_the_sandbox_as_well(
    tmp_path: Path, mark: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(protocol_checks, "BUSY_SHARE", 0.02)
    sandbox = sandbox_of(Level.B)
    spec = bad_engine_in(tmp_path / "bot", "go", "spin", "-", mark=mark)
    engine = CheckedEngine(lambda: plan_launch(spec, tmp_path / "bot", sandbox), Budget(240.0))
    try:
        finding = try_check(engine, BY_NAME["idle"], DOGON)
    finally:
        engine.clear()
    assert "while idle it used" in finding.fault


@pytest.mark.parametrize(("periods", "is_fault"), [(0, False), (2, False), (3, True)])
def test_work_after_an_answer_is_a_fault_only_if_it_goes_on(
    periods: int, is_fault: bool, mark: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It uses 0.2 s of each of the first observed half seconds, as a virtual machine that compiles."""
    observed: list[float] = []

    def observe(_: object, seconds: float) -> list[str]:
        observed.append(seconds)
        return []

    monkeypatch.setattr(checked_process.CheckedProcess, "read_for", observe)
    monkeypatch.setattr(account.EngineAccount, "cpu_ns", lambda self: min(len(observed), periods) * 200 * MS)
    assert bool(found_by("idle", "", mark).fault) == is_fault
