"""Counting the time that the machine withholds from an engine, by the kernel's own counters."""

from __future__ import annotations

import os
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.jobs import wait_until
from workers.sandbox import withheld
from workers.sandbox.withheld import (
    SAMPLED_NS,
    DelayCounter,
    PressureCounter,
    accounted_core_ns,
    core_ns,
    has_pressure,
    outermost_account,
    parse_full_ns,
    run_delay_ns,
)

MS = 1_000_000
PRESSURE = (
    "some avg10=0.10 avg60=0.00 avg300=0.00 total=777\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=1234\n"
)


class Core:
    """A core as a test describes it: the delays of threads, others' time, and the engine's processes."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.delays: dict[int, int] = {1: 0}
        self.others_ns = 0
        self.processes = [1]
        monkeypatch.setattr(withheld, "run_delay_ns", self._delay)
        self.counter = DelayCounter(lambda: [1, 2, 3], lambda: self.others_ns, lambda: self.processes)
        self.counter.mark()

    def _delay(self, thread: int) -> int:
        if thread not in self.delays:
            raise ProcessLookupError
        return self.delays[thread]


@pytest.fixture
def core(monkeypatch: pytest.MonkeyPatch) -> Core:
    return Core(monkeypatch)


def test_the_delays_of_all_threads_count_from_the_mark_on(core: Core) -> None:
    core.delays[1] = 5 * MS
    core.counter.mark()
    core.delays |= {1: 8 * MS, 2: 4 * MS}
    core.others_ns = 100 * MS
    assert core.counter.since_mark_ns() == 7 * MS


def test_threads_that_wait_for_each_other_have_nothing_withheld(core: Core) -> None:
    core.delays |= {1: 900 * MS, 2: 900 * MS, 3: 900 * MS}
    core.others_ns = 2 * MS
    assert core.counter.since_mark_ns() == 2 * MS


@pytest.mark.parametrize("others_ns", [0, -30 * MS])
def test_where_the_core_did_nothing_for_others_nothing_is_withheld(core: Core, others_ns: int) -> None:
    core.delays[1] = 900 * MS
    core.others_ns = others_ns
    assert core.counter.since_mark_ns() == 0


def test_a_new_process_without_a_control_group_ends_the_count_for_good(core: Core) -> None:
    core.delays[1], core.others_ns, core.processes = 50 * MS, 50 * MS, [1, 7]
    core.counter.sample()
    core.processes = [1]
    assert core.counter.since_mark_ns() == 0
    core.counter.mark()
    core.delays[1], core.others_ns = 90 * MS, 90 * MS
    assert core.counter.since_mark_ns() == 0


def test_processes_that_were_there_before_the_first_move_may_end(core: Core) -> None:
    core.delays[1], core.others_ns, core.processes = 50 * MS, 50 * MS, []
    assert core.counter.since_mark_ns() == 50 * MS


def test_a_thread_that_ended_counts_as_far_as_it_was_seen(core: Core) -> None:
    core.delays[2], core.others_ns = 30 * MS, SAMPLED_NS
    core.counter.sample()
    core.delays[2], core.others_ns = 40 * MS, 100 * MS
    core.counter.sample()
    del core.delays[2]
    assert core.counter.since_mark_ns() == 40 * MS
    core.counter.mark()
    core.others_ns += 100 * MS
    assert core.counter.since_mark_ns() == 0


def test_on_a_core_without_others_threads_are_not_looked_at(core: Core) -> None:
    core.delays[2], core.others_ns = 30 * MS, SAMPLED_NS - 1
    core.counter.sample()
    del core.delays[2]
    core.others_ns = 100 * MS
    assert core.counter.since_mark_ns() == 0


def test_pressure_counts_from_the_mark_on() -> None:
    totals = iter([10 * MS, 25 * MS, 5 * MS])
    counter = PressureCounter(lambda: next(totals))
    counter.mark()
    assert counter.since_mark_ns() == 15 * MS
    assert counter.since_mark_ns() == 0  # a group that was throttled meanwhile
    assert counter.is_proof


def test_the_full_line_of_a_pressure_file_is_read() -> None:
    assert parse_full_ns(PRESSURE) == 1_234_000
    with pytest.raises(ValueError, match="no full line"):
        parse_full_ns("some avg10=0.00 avg60=0.00 avg300=0.00 total=0\n")


def test_a_group_without_pressure_information_is_noticed(tmp_path: Path) -> None:
    assert not has_pressure(tmp_path)
    (tmp_path / "cpu.pressure").write_text("")
    assert not has_pressure(tmp_path)
    (tmp_path / "cpu.pressure").write_text(PRESSURE)
    assert has_pressure(tmp_path)


def test_the_account_of_a_core_is_that_of_the_outermost_group(tmp_path: Path) -> None:
    inner = tmp_path / "top" / "duarena" / "engine-1"
    inner.mkdir(parents=True)
    for place in (inner, inner.parent, inner.parent.parent):
        (place / "cpuacct.usage_percpu").write_text("100 250 \n")
    assert outermost_account(str(inner)) == str(tmp_path / "top")
    assert accounted_core_ns(str(tmp_path / "top"), 1) == 250


# The kernel itself


@pytest.fixture
def crowded() -> Iterator[int]:
    """A thread that shares one core with a busy loop; its number."""
    core = min(os.sched_getaffinity(0))
    found: list[int] = []
    end = threading.Event()

    def compute() -> None:
        os.sched_setaffinity(0, {core})
        found.append(threading.get_native_id())
        while not end.is_set():
            pass

    thread = threading.Thread(target=compute)
    thread.start()
    assert wait_until(lambda: bool(found))
    loop = subprocess.Popen(("taskset", "-c", str(core), "timeout", "60", "sh", "-c", "while :; do :; done"))
    yield found[0]
    end.set()
    loop.terminate()  # `timeout` passes it on to the loop
    loop.wait()
    thread.join()


def test_a_thread_that_waits_for_its_core_has_a_growing_delay(crowded: int) -> None:
    before = run_delay_ns(crowded)
    assert wait_until(lambda: run_delay_ns(crowded) > before + 20 * MS)


def test_a_core_that_works_has_a_growing_account(crowded: int) -> None:
    core = min(os.sched_getaffinity(0))
    before = core_ns(core)
    assert wait_until(lambda: core_ns(core) > before)
    with pytest.raises(OSError, match="no core 9999"):
        core_ns(9999)
