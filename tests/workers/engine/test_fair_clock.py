"""The fair clock: what a move is charged, when the flag falls, and when a core counts as contended."""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

import pytest

from engines.records import Termination
from workers.engine import fair_clock
from workers.engine.fair_clock import (
    CONTENDED_NS,
    LAST_WAIT_NS,
    MARK_NS,
    MAX_WITHHELD_NS,
    NEVER_NS,
    PERIOD_NS,
    RECHECK_NS,
    SAMPLE_NS,
    ContendedCore,
    FairClock,
    find_clock_method,
)
from workers.engine.faults import EngineSilent
from workers.engine.players import _silence_verdict
from workers.game.charges import Charge
from workers.game.referee import Forfeit, Void
from workers.sandbox.sandbox import Sandbox
from workers.sandbox.withheld import WithheldCounter

MS = 1_000_000
SECOND = 1000 * MS


@dataclass
class Counted:
    """A counter with the values of its test."""

    withheld_ns: int = 0
    is_proof: bool = True
    counts_present_wait: bool = True
    waits: frozenset[tuple[int, int]] = frozenset()
    marks: int = 0
    samples: int = 0

    def mark(self) -> None:
        self.marks += 1
        self.withheld_ns = 0

    def sample(self) -> None:
        self.samples += 1

    def present_waits(self) -> frozenset[tuple[int, int]]:
        return self.waits

    def since_mark_ns(self) -> int:
        return self.withheld_ns


class Rig:
    """A clock, its counter, and the time of the test."""

    def __init__(self) -> None:
        self.now_ns = SECOND
        self.cpu_ns = 0
        self.counter = Counted()
        self.own_delay_ns = 0
        counter = cast("WithheldCounter", self.counter)
        self.clock = FairClock(counter, lambda: self.cpu_ns, lambda: self.own_delay_ns)

    def begin(self) -> None:
        self.clock.prepare()
        self.asked_ns = self.now_ns
        self.clock.begin(self.now_ns)

    def wait(self, ms: float) -> None:
        """Wait as the process does, in steps."""
        end_ns = self.now_ns + int(ms * MS)
        while self.now_ns < end_ns:
            self.now_ns += min(self.clock.check(self.now_ns), end_ns - self.now_ns)
        self.clock.check(self.now_ns)

    def move(self, ms: float, withheld_ms: float = 0, cpu_ms: float = 0) -> Charge:
        self.begin()
        self.wait(ms)
        self.counter.withheld_ns, self.cpu_ns = int(withheld_ms * MS), int(cpu_ms * MS)
        return self.clock.end(self.now_ns)


@pytest.fixture
def rig(monkeypatch: pytest.MonkeyPatch) -> Rig:
    rig = Rig()
    monkeypatch.setattr(fair_clock, "CORE", ContendedCore())
    monkeypatch.setattr("workers.engine.fair_clock.time.monotonic_ns", lambda: rig.now_ns)
    return rig


def test_a_quick_move_reads_no_counter_and_is_charged_its_wall_time(rig: Rig) -> None:
    charge = rig.move(0.9, withheld_ms=0.5)
    assert (charge.used_ns, charge.withheld_ns, rig.counter.marks) == (900_000, 0, 0)


def test_the_counter_is_marked_after_a_millisecond_and_then_sampled(rig: Rig) -> None:
    rig.begin()
    assert rig.clock.check(rig.now_ns) == MARK_NS
    rig.wait(MARK_NS / MS)
    assert (rig.counter.marks, rig.counter.samples) == (1, 0)
    rig.wait(30 * SAMPLE_NS / MS)
    assert rig.counter.marks == 1
    assert 20 <= rig.counter.samples <= 60


def test_time_withheld_is_not_charged(rig: Rig) -> None:
    charge = rig.move(100, withheld_ms=60, cpu_ms=30)
    assert (charge.wall_ns, charge.withheld_ns, charge.used_ns) == (100 * MS, 60 * MS, 40 * MS)


def test_the_time_for_which_an_answer_waits_because_the_worker_has_no_core_is_not_charged(rig: Rig) -> None:
    rig.begin()
    rig.wait(60)
    rig.own_delay_ns = 40 * MS
    rig.clock.check(rig.now_ns)  # only the last wait counts: before, the engine may have worked
    rig.now_ns += 200 * MS
    rig.own_delay_ns += 190 * MS
    charge = rig.clock.end(rig.now_ns)
    assert (charge.wall_ns, charge.used_ns) == (260 * MS, 70 * MS)


@pytest.mark.parametrize("is_contended", [False, True])
def test_an_answer_that_comes_before_the_worker_begins_to_wait_for_it_counts_as_well(
    rig: Rig, is_contended: bool
) -> None:
    rig.clock.is_contended = is_contended
    rig.begin()
    rig.now_ns += 141 * MS
    rig.own_delay_ns += 140 * MS
    assert rig.clock.end(rig.now_ns).used_ns == MS


def test_the_time_in_which_the_worker_could_not_mark_the_counter_is_not_charged(rig: Rig) -> None:
    rig.begin()
    rig.now_ns += 120 * MS
    rig.own_delay_ns += 119 * MS
    rig.wait(30)
    assert rig.clock.left_ns(-70 * MS) == 49 * MS
    rig.counter.withheld_ns = 20 * MS
    assert rig.clock.end(rig.now_ns, is_answered=False).used_ns == 11 * MS


def test_a_worker_without_a_core_does_not_prolong_the_time_of_an_engine_that_is_silent(rig: Rig) -> None:
    rig.begin()
    rig.wait(60)
    rig.now_ns += 200 * MS
    rig.own_delay_ns += 190 * MS
    assert rig.clock.end(rig.now_ns, is_answered=False).used_ns == 260 * MS


def test_an_engine_is_never_charged_less_than_the_processor_time_it_used(rig: Rig) -> None:
    assert rig.move(100, withheld_ms=90, cpu_ms=35).used_ns == 35 * MS


def test_no_more_is_withheld_than_the_time_since_the_mark(rig: Rig) -> None:
    assert rig.move(100, withheld_ms=5000).used_ns == MARK_NS


def test_what_the_worker_itself_takes_is_charged(rig: Rig) -> None:
    assert rig.move(100, withheld_ms=0.99).used_ns == 100 * MS
    assert rig.move(100, withheld_ms=1).used_ns == 99 * MS
    assert rig.move(20, withheld_ms=0.49).used_ns == 20 * MS
    assert rig.move(20, withheld_ms=0.5).used_ns == 19_500_000


def test_while_the_core_is_contended_the_counter_is_marked_before_the_question(rig: Rig) -> None:
    contended = []
    for ms, withheld_ms in ((0.5, 0.0), (100, CONTENDED_NS / MS), (0.9, 0.6), (0.5, 0.0)):
        charge = rig.move(ms, withheld_ms)
        contended.append((rig.counter.marks, rig.clock.is_contended, charge.used_ns))
    assert contended == [
        (0, False, 500_000),
        (1, True, 100 * MS - CONTENDED_NS),
        (2, False, 300_000),
        (2, False, 500_000),
    ]


def test_the_flag_falls_later_by_the_time_withheld_so_far(rig: Rig) -> None:
    rig.begin()
    rig.wait(150)
    assert rig.clock.left_ns(0) == 0
    rig.counter.withheld_ns = 40 * MS
    assert rig.clock.left_ns(-10 * MS) == 30 * MS
    rig.cpu_ns = 130 * MS
    assert rig.clock.left_ns(-10 * MS) == 10 * MS
    assert rig.clock.left_ns(-30 * MS) == -10 * MS


def test_the_flag_falls_at_a_limit_all_the_same(rig: Rig) -> None:
    rig.begin()
    rig.wait(30_000)
    rig.counter.withheld_ns = 25 * SECOND
    assert rig.clock.left_ns(-MAX_WITHHELD_NS + 5 * MS) == 5 * MS
    assert rig.clock.left_ns(-MAX_WITHHELD_NS) == 0


def test_outside_turns_no_deadline_is_deferred(rig: Rig) -> None:
    rig.counter.counts_present_wait = False
    rig.move(100, withheld_ms=60)
    assert rig.clock.left_ns(0) == 0
    assert rig.clock.check(rig.now_ns) == NEVER_NS


def test_where_a_present_wait_is_not_counted_it_may_end_before_the_flag_falls(rig: Rig) -> None:
    rig.counter.counts_present_wait = False
    for _ in range(2):
        rig.begin()
        rig.wait(100)
        assert rig.clock.left_ns(0) == LAST_WAIT_NS
        rig.wait(5)
        assert rig.clock.left_ns(-5 * MS) == LAST_WAIT_NS - 5 * MS
        rig.counter.withheld_ns = 60 * MS  # the wait is over
        assert rig.clock.left_ns(-5 * MS) == 55 * MS
        rig.wait(LAST_WAIT_NS // MS)
        assert rig.clock.left_ns(-60 * MS) <= 0  # once a turn
        rig.clock.end(rig.now_ns)


def test_the_flag_does_not_fall_while_the_engine_still_waits_for_its_core(rig: Rig) -> None:
    rig.counter.counts_present_wait = False
    rig.counter.waits = frozenset({(7, 40), (8, 3)})
    rig.begin()
    rig.wait(80)
    assert rig.clock.left_ns(0) == LAST_WAIT_NS
    rig.wait(500)
    rig.counter.waits = frozenset({(7, 41), (8, 3)})
    assert rig.clock.left_ns(-500 * MS) == RECHECK_NS
    rig.counter.waits = frozenset({(7, 41), (8, 4)})  # all have run since
    rig.counter.withheld_ns = 510 * MS
    assert rig.clock.left_ns(-500 * MS) == 10 * MS


def test_waits_that_begin_after_the_flag_would_have_fallen_do_not_defer_it(rig: Rig) -> None:
    rig.counter.counts_present_wait = False
    rig.begin()
    rig.wait(80)
    assert rig.clock.left_ns(0) == LAST_WAIT_NS
    rig.wait(20)
    rig.counter.waits = frozenset({(7, 40)})
    assert rig.clock.left_ns(-20 * MS) == 0


def test_a_wait_that_ends_while_the_counter_is_read_counts(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    """The worker may lose its core between two reads of the kernel's counters."""
    rig.counter.counts_present_wait = False
    rig.begin()
    rig.wait(80)
    rig.counter.waits = frozenset({(7, 40)})
    assert rig.clock.left_ns(0) == LAST_WAIT_NS
    rig.wait(100)

    def ends_after(since_mark_ns: int) -> int:
        rig.counter.waits, rig.counter.withheld_ns = frozenset(), 90 * MS
        return since_mark_ns

    monkeypatch.setattr(rig.counter, "since_mark_ns", lambda: ends_after(rig.counter.withheld_ns))
    assert rig.clock.left_ns(-100 * MS) == RECHECK_NS


def test_a_last_wait_has_a_limit(rig: Rig) -> None:
    rig.counter.counts_present_wait = False
    rig.counter.waits = frozenset({(7, 40)})
    rig.begin()
    rig.wait(80)
    rig.clock.left_ns(0)
    rig.wait(MAX_WITHHELD_NS // MS)
    assert rig.clock.left_ns(-MAX_WITHHELD_NS) <= 0


# The end of a move that is late


def charge(wall_ms: float, withheld_ms: float, cpu_ms: float = 0, *, is_proof: bool = True) -> Charge:
    wall_ns, withheld_ns, cpu_ns = (int(ms * MS) for ms in (wall_ms, withheld_ms, cpu_ms))
    return Charge(wall_ns, withheld_ns, cpu_ns, MAX_WITHHELD_NS, is_proof)


@pytest.mark.parametrize(
    ("late", "is_void"),
    [
        (charge(20_000, 19_000), True),  # more than the limit, and the engine used its time well
        (charge(20_000, 9_000), False),  # it took 11 seconds itself
        (charge(900, 500), False),  # in time
        (charge(20_000, 19_000, cpu_ms=2_000), False),  # it used more processor time than it had
        (charge(20_000, 19_000, is_proof=False), False),
    ],
)
def test_a_late_move_is_void_only_if_pressure_proves_the_machines_fault(late: Charge, is_void: bool) -> None:
    assert late.is_void(1500 * MS) is is_void


def test_the_evidence_names_all_three_times() -> None:
    assert charge(230.6, 60, 20).sentence == (
        "wall time 230 ms, withheld by the machine 60 ms, charged 170 ms"
    )


def test_an_engine_that_never_answers_is_judged_by_the_same_rule() -> None:
    silence = EngineSilent("no line arrived in time")
    void = _silence_verdict(silence, 1500 * MS, charge(20_000, 19_000))
    assert isinstance(void, Void)
    assert str(void).startswith("other programs used the core for too long: wall time 20000 ms")
    late = _silence_verdict(silence, 1500 * MS, charge(20_000, 19_000, is_proof=False))
    assert isinstance(late, Forfeit)
    assert late.termination is Termination.TIME
    assert late.evidence.endswith(
        "no line arrived in time (wall time 20000 ms, withheld by the machine 19000 ms, charged 10000 ms)"
    )


# A contended core


def test_a_core_is_complained_of_after_minutes_in_which_others_used_most_of_it() -> None:
    core = ContendedCore()
    for period in range(18):
        assert core.complaint() == "", period
        core.add(PERIOD_NS, PERIOD_NS * 7 // 10)
    complaint = "in 3 minutes of play engines were kept waiting, lately for 70 % of their time"
    assert core.complaint() == f"other programs use its core: {complaint}"
    assert core.complaint() == ""


def test_a_quiet_moment_begins_the_minutes_anew() -> None:
    core = ContendedCore()
    for period in range(100):
        core.add(PERIOD_NS, PERIOD_NS * (4 if period % 17 == 16 else 9) // 10)
        assert core.complaint() == ""


def test_short_moves_are_added_up() -> None:
    core = ContendedCore()
    for _ in range(17_999):
        core.add(10 * MS, 9 * MS)
    assert core.complaint() == ""
    core.add(10 * MS, 9 * MS)
    assert core.complaint()


# What says how clocks run


class NoCounters:
    withheld_source = ""


class Counters:
    withheld_source = "pressure"


@pytest.mark.parametrize(
    ("sandbox", "is_pinned", "words"),
    [
        (None, True, "wall time, also when the machine is busy: engines run without a sandbox."),
        (Counters(), False, "wall time, also when the machine is busy: games have no core of their own."),
        (NoCounters(), True, "this kernel does not count how long programs wait for a core."),
        (Counters(), True, "do not count the time that other programs take from an engine (pressure)."),
    ],
)
def test_a_clock_says_how_it_runs(sandbox: object, is_pinned: bool, words: str) -> None:
    method = find_clock_method(cast("Sandbox | None", sandbox), is_pinned=is_pinned)
    assert method.sentence.endswith(words)
    assert (method.source == "") is bool(method.reason)
