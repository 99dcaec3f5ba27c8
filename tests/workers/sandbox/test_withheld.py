"""Counting the time that the machine withholds from an engine, by the kernel's own counters."""

from __future__ import annotations

import os
import subprocess
import threading
from collections.abc import Iterator
from io import StringIO
from pathlib import Path
from types import SimpleNamespace

import pytest

from tests.support.jobs import wait_until
from workers.sandbox import withheld
from workers.sandbox.withheld import (
    SAMPLED_NS,
    TICK_NS,
    DelayCounter,
    PressureCounter,
    StealCounter,
    accounted_core_ns,
    can_run,
    core_ns,
    has_pressure,
    outermost_account,
    parse_full_ns,
    run_count,
    run_delay_ns,
    steal_ns,
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
        self.now_ns = self.steal_ns = self.own_ns = 0
        monkeypatch.setattr(withheld, "time", SimpleNamespace(monotonic_ns=lambda: self.now_ns))
        self.steal = StealCounter(lambda: self.steal_ns, lambda: self.own_ns)
        self.counter = DelayCounter(
            lambda: [1, 2, 3], lambda: self.others_ns, lambda: self.processes, self.steal
        )
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


def test_waiting_while_the_host_does_not_run_the_core_counts(core: Core) -> None:
    """Two threads, which also wait for each other, beside a program that had the core for 100 ms."""
    core.delays |= {1: 600 * MS, 2: 600 * MS}
    core.others_ns, core.steal_ns, core.now_ns = 100 * MS, 500 * MS + TICK_NS, 620 * MS
    assert core.counter.since_mark_ns() == 600 * MS


def test_an_engine_that_has_the_core_while_the_host_does_not_run_it_is_not_charged_for_it(core: Core) -> None:
    """It computes for a quarter of the time of the machine, a loop for the rest."""
    core.delays[1] = 300 * MS + 3 * 100 * MS
    core.own_ns, core.others_ns, core.steal_ns = 100 * MS, 300 * MS, 400 * MS + TICK_NS
    core.now_ns = core.own_ns + core.others_ns + core.steal_ns - TICK_NS
    assert core.counter.since_mark_ns() == 700 * MS
    pressure = PressureCounter(iter([0, 600 * MS]).__next__, core.steal)
    core.now_ns = core.steal_ns = core.own_ns = 0
    pressure.mark()
    core.own_ns, core.steal_ns, core.now_ns = 100 * MS, 400 * MS + TICK_NS, 800 * MS
    assert pressure.since_mark_ns() == 700 * MS


def test_an_engine_that_sleeps_gets_nothing_of_steal_time(core: Core) -> None:
    core.steal_ns, core.now_ns = 500 * MS, 700 * MS
    assert core.counter.since_mark_ns() == 0


def test_one_tick_of_steal_time_does_not_count(core: Core) -> None:
    """It may have begun long before the move."""
    core.delays[1], core.own_ns, core.steal_ns, core.now_ns = 2 * MS, 3 * MS, TICK_NS, 5 * MS
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


def test_a_wait_for_the_core_is_the_same_until_the_thread_has_run(monkeypatch: pytest.MonkeyPatch) -> None:
    states = {1: ("R", 5), 2: ("S", 7), 3: ("R", 9)}
    monkeypatch.setattr(withheld, "can_run", lambda thread: states[thread][0] == "R")
    monkeypatch.setattr(withheld, "run_count", lambda thread: states[thread][1])
    counter = DelayCounter(lambda: [1, 2, 3], lambda: 0)
    waits = counter.present_waits()
    assert waits == {(1, 5), (3, 9)}
    states |= {1: ("R", 6), 3: ("S", 9)}
    assert not waits & counter.present_waits()


def test_a_thread_that_waits_for_its_core_can_run_and_one_that_sleeps_cannot(crowded: int) -> None:
    assert wait_until(lambda: can_run(crowded))
    before = run_count(crowded)
    assert wait_until(lambda: run_count(crowded) > before)
    with subprocess.Popen(("sleep", "60")) as sleeper:
        assert wait_until(lambda: not can_run(sleeper.pid))
        sleeper.kill()


def test_a_core_that_works_has_a_growing_account(crowded: int) -> None:
    core = min(os.sched_getaffinity(0))
    before = core_ns(core)
    assert wait_until(lambda: core_ns(core) > before)
    with pytest.raises(OSError, match="no core 9999"):
        core_ns(9999)


def test_the_steal_time_of_a_core_is_the_eighth_number_of_its_line(monkeypatch: pytest.MonkeyPatch) -> None:
    assert steal_ns(min(os.sched_getaffinity(0))) >= 0
    text = "cpu  9 9 9 9 9 9 9 9 9 9\ncpu0 1 2 3 4 5 6 7 8 9 10\ncpu1 1 2 3 4 5 6 7 80 9 10\n"
    monkeypatch.setattr(withheld, "open", lambda path: StringIO(text), raising=False)
    assert (steal_ns(0), steal_ns(1)) == (8 * TICK_NS, 80 * TICK_NS)
    assert core_ns(1) == (1 + 2 + 3 + 6 + 7) * TICK_NS
