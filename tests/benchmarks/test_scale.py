"""The simulation of ``benchmarks.scale``: keepers that are fast enough keep up, others do not."""

from __future__ import annotations

import statistics

from benchmarks.scale import SECONDS, simulate


def test_a_keeper_that_needs_half_of_its_time_keeps_up() -> None:
    waits, left = simulate(100, verifying_s=0.004, verifiers=1, at_once_s=0.001, each_s=0.004)
    assert abs(len(waits) - 100 * SECONDS) < 300
    assert 0.009 < statistics.median(waits) < 0.05
    assert left < 10


def test_verifiers_and_keepers_that_are_too_slow_leave_reports_waiting() -> None:
    slow_keeper, _ = simulate(100, verifying_s=0.001, verifiers=1, at_once_s=0.0, each_s=0.02)
    assert max(slow_keeper) > SECONDS / 4
    slow_verifier, left = simulate(100, verifying_s=0.02, verifiers=1, at_once_s=0.0, each_s=0.001)
    assert left > 500
    helped, left = simulate(100, verifying_s=0.02, verifiers=3, at_once_s=0.0, each_s=0.001)
    assert max(helped) < statistics.median(slow_verifier)
    assert left < 10
