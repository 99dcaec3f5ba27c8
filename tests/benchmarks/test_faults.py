"""Faulty engines in one match: each verdict is right, within ten times the target times."""

from __future__ import annotations

from dataclasses import replace

import pytest

from benchmarks.faults import FAULTS, READY_MS, Event, Fault, Seen, format_row, run_event

pytestmark = pytest.mark.slow

QUICK = [fault for fault in FAULTS if fault.flag_ms < READY_MS]
"""A stall takes ten seconds, and has its own tests."""
FEW = [
    fault
    for fault in QUICK
    if fault.name in {"hangs, deaf to signals", "exits beside a child", "answers twice"}
]
"""One of each kind; tests/workers/play/test_bad_engines.py has them all without a match."""
SLACK = 10.0


@pytest.fixture(
    scope="module",
    params=[
        pytest.param(FEW, id="a few"),
        pytest.param(QUICK, id="all", marks=pytest.mark.thorough),
    ],
)
def faults(request: pytest.FixtureRequest) -> list[Fault]:
    return list(request.param)


@pytest.fixture(scope="module")
def event(faults: list[Fault], tmp_path_factory: pytest.TempPathFactory) -> Event:
    return run_event(tmp_path_factory.mktemp("match"), faults=faults)


def test_a_match_makes_short_work_of_engines_at_fault(faults: list[Fault], event: Event) -> None:
    late = [
        format_row(fault, event.seen[fault.name])
        for fault in faults
        if not event.seen[fault.name].meets(fault, SLACK)
    ]
    assert late == []


def test_the_match_continues_after_every_fault(faults: list[Fault], event: Event) -> None:
    assert (event.exit_code, event.games) == (0, 2 * len(faults))


def test_a_missed_target_is_noticed() -> None:
    fault = FAULTS[0]
    good = Seen({fault.verdict}, verdict_ms=70.0, usable_ms=290.0, peak_mib=30.0)
    assert good.meets(fault)
    for worse in (
        replace(good, verdicts={"crash"}),
        replace(good, verdict_ms=80.0),
        replace(good, usable_ms=310.0),
        replace(good, peak_mib=33.0),
        replace(good, orphans=1),
    ):
        assert not worse.meets(fault), worse
