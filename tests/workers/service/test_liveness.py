"""Slots that hang: which of them are killed, and that the worker plays on."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from tests.support.brokers import running_worker
from tests.support.fake_door import FakeDoor
from tests.support.jobs import BadBundles, job_of, processes_with, wait_until
from tests.support.processes import slots_of
from workers.service.liveness import SlotWatch, start_beat
from workers.service.slots import Slots
from workers.silence import CHECK_S, SILENT_S

FIRST, SECOND = 101, 102
"""Processes of the slots 0 and 1."""


class Watched:
    """Two slots, watched as often as the worker's main process does it."""

    def __init__(self) -> None:
        self.slots, self.killed, self.now = Slots(), list[int](), 0.0
        self.watch = SlotWatch(self.slots, self.killed.append)
        for slot, pid in enumerate((FIRST, SECOND)):
            self.slots.begin_beat(slot, pid)
            self.slots.beat(slot)

    def wait(self, seconds: float, *beating: int) -> None:
        for _ in range(int(seconds / CHECK_S) + 1):
            self.now += CHECK_S
            for slot in beating:
                self.slots.beat(slot)
            if not self.killed:
                self.watch.check([FIRST, SECOND], self.now)


def test_a_slot_that_hangs_is_killed_within_a_minute_and_no_other() -> None:
    watched = Watched()
    watched.wait(60, 0, 1)
    assert watched.killed == []
    watched.wait(SILENT_S - CHECK_S, 0)
    assert watched.killed == []
    watched.wait(60 - SILENT_S, 0)
    assert watched.killed == [SECOND]


def test_times_in_which_the_worker_itself_was_stopped_do_not_count() -> None:
    watched = Watched()
    watched.wait(CHECK_S, 0, 1)
    watched.now += 10_000
    watched.wait(CHECK_S, 0, 1)
    assert watched.killed == []


def test_the_process_that_takes_the_place_of_a_killed_one_has_its_own_time() -> None:
    watched = Watched()
    watched.wait(2 * SILENT_S, 1)
    assert watched.killed == [FIRST]
    watched.slots.begin_beat(0, third := 103)
    for _ in range(3):
        watched.now += CHECK_S
        watched.slots.beat(1)
        watched.watch.check([third, SECOND], watched.now)
    assert watched.killed == [FIRST]


def test_a_process_without_a_slot_has_not_counted() -> None:
    assert Slots().beats_of(FIRST) is None


def test_a_slot_counts_from_its_start_on() -> None:
    slots = Slots()
    start_beat(slots, 5)
    assert wait_until(lambda: slots.beats_of(os.getpid()))


@pytest.mark.thorough
def test_a_slot_that_is_stopped_ends_with_its_engines_and_another_one_plays(
    door: FakeDoor, mark: str, bundled: BadBundles, tmp_path: Path
) -> None:
    """Deadline of the behaviour: a minute; twice that here."""
    with running_worker(door.url, tmp_path) as worker:
        door.give(job_of(bundled("go", "resist", "-"), bundled(), time_control="999999+0"))
        assert wait_until(lambda: len(processes_with(mark)) == 2)
        (slot,) = slots_of(worker.pid)
        os.kill(slot, signal.SIGSTOP)
        assert wait_until(lambda: not processes_with(mark), 120)
        door.give(job_of(bundled(), bundled()))
        (report,) = door.wait_for_reports(1)
    assert report.fault == "none"
    assert not report.worker.endswith(f"/{slot}")
