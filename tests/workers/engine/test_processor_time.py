"""Which engines are suspended in their opponent's turns, and how much processor time an engine may use."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, cast

import pytest

from workers.engine.processor_time import (
    BASE_SECONDS,
    CHECK_NS,
    FORGIVEN_NS,
    FREE_NS,
    ProcessorTime,
    WaitingEngines,
    limit_ns,
)
from workers.sandbox.process import SandboxedProcess

MS = 1_000_000
SECOND = 1000 * MS


@dataclass
class FakeProcess:
    """A sandboxed process that uses the time its test says, and none while it is frozen."""

    used_ns: int = 0
    is_frozen: bool = False
    freezes: int = 0
    evidence: list[tuple[int, int]] = field(default_factory=list)

    def cpu_ns(self) -> int:
        return self.used_ns

    def use(self, ns: int) -> None:
        self.used_ns += 0 if self.is_frozen else ns

    def freeze(self) -> None:
        self.is_frozen = True
        self.freezes += 1

    def thaw(self) -> None:
        self.is_frozen = False

    def end_over_processor_time(self, cpu_ns: int, clock_ns: int) -> None:
        self.evidence.append((cpu_ns, clock_ns))


class Clock:
    """The time of the test."""

    def __init__(self) -> None:
        self.now_ns = SECOND

    def monotonic_ns(self) -> int:
        return self.now_ns


class Rig:
    """An engine and the other engines' waits for it."""

    def __init__(self, clock: Clock) -> None:
        self.clock = clock
        self.process = FakeProcess()
        self.waiting = WaitingEngines()
        self.time = ProcessorTime(cast("SandboxedProcess", cast(Any, self.process)), self.waiting)

    def own_turn(self, ms: float, cpu_ms: float | None = None) -> int:
        self.time.begin_turn()
        self.clock.now_ns += int(ms * MS)
        self.process.use(int((ms if cpu_ms is None else cpu_ms) * MS))
        return self.time.end_turn()

    def other_turn(self, ms: float, thinks: Callable[[int], int]) -> None:
        """``thinks`` is how many nanoseconds it uses of each piece between two checks."""
        left = int(ms * MS)
        while left > 0:
            piece = min(left, self.waiting.check(self.clock.now_ns))
            self.clock.now_ns += piece
            self.process.use(thinks(piece))
            left -= piece
        self.waiting.check(self.clock.now_ns)


@pytest.fixture
def rig(monkeypatch: pytest.MonkeyPatch) -> Rig:
    clock = Clock()
    monkeypatch.setattr("workers.engine.processor_time.time.monotonic_ns", clock.monotonic_ns)
    monkeypatch.setattr("workers.engine.processor_time.os.sched_getaffinity", lambda _: {0})
    return Rig(clock)


def nothing(_: int) -> int:
    return 0


def everything(ns: int) -> int:
    return ns


def test_an_engine_that_only_waits_is_never_suspended(rig: Rig) -> None:
    for _ in range(100):
        rig.own_turn(50)
        rig.other_turn(300, nothing)
    assert rig.process.freezes == 0


def test_going_back_to_wait_for_input_is_not_thinking(rig: Rig) -> None:
    for _ in range(1000):
        rig.own_turn(1)
        rig.process.use(FORGIVEN_NS)
        rig.other_turn(5, nothing)
    assert rig.process.freezes == 0


def test_an_engine_that_thinks_on_is_suspended_until_its_turn_and_at_once_after_later_answers(
    rig: Rig,
) -> None:
    rig.own_turn(1)
    rig.other_turn(1000, everything)
    assert rig.process.used_ns <= 1 * MS + FREE_NS + FORGIVEN_NS + CHECK_NS
    for turn in range(2, 10):
        rig.own_turn(1)
        assert (rig.process.is_frozen, rig.process.freezes) == (True, turn)
    rig.time.begin_turn()
    assert rig.process.is_frozen is False


@pytest.mark.parametrize(("other_ms", "part"), [(3, 1.0), (9, 1.0), (9, 0.5), (50, 0.1), (1000, 0.02)])
def test_thinking_in_short_turns_or_in_bursts_gives_no_more(rig: Rig, other_ms: float, part: float) -> None:
    turns = 200
    for _ in range(turns):
        rig.own_turn(1)
        rig.other_turn(other_ms, lambda ns: int(ns * part))
    taken = rig.process.used_ns - turns * MS
    assert taken <= FREE_NS + CHECK_NS + turns * FORGIVEN_NS
    assert rig.process.freezes > 0


def test_each_game_begins_anew(rig: Rig) -> None:
    rig.own_turn(1)
    rig.other_turn(100, everything)
    rig.time.begin_game()
    rig.own_turn(1)
    assert not rig.process.is_frozen


def test_between_games_it_is_suspended_in_any_case(rig: Rig) -> None:
    rig.time.end_turn(suspend=True)
    rig.other_turn(1000, everything)
    assert rig.process.used_ns == 0
    rig.own_turn(1)
    rig.time.end_turn(suspend=True)
    rig.other_turn(1000, everything)
    assert rig.process.used_ns == 1 * MS


def test_the_time_of_a_move_includes_what_was_used_since_the_last_one(rig: Rig) -> None:
    rig.own_turn(1)
    rig.other_turn(5, everything)
    assert rig.own_turn(3) == 8 * MS


def test_the_limit_is_ten_seconds_and_twice_its_own_turns_on_each_core() -> None:
    assert limit_ns(0, 1) == 10 * SECOND
    assert limit_ns(60 * SECOND, 1) == 130 * SECOND
    assert limit_ns(60 * SECOND, 4) == 490 * SECOND


def test_an_engine_within_its_limit_is_not_ended(rig: Rig) -> None:
    for _ in range(100):
        rig.own_turn(1000, 2000)
        rig.time.check_turn()
    assert not rig.process.evidence


def test_an_engine_over_its_limit_is_ended_after_its_answer(rig: Rig) -> None:
    rig.own_turn(1000, 1000 * BASE_SECONDS + 2001)
    assert rig.process.evidence == [(BASE_SECONDS * SECOND + 2001 * MS, SECOND)]


def test_an_engine_over_its_limit_is_ended_in_its_turn(rig: Rig) -> None:
    rig.time.begin_turn()
    rig.clock.now_ns += SECOND
    rig.process.use(12 * SECOND)
    rig.time.check_turn()
    assert not rig.process.evidence
    rig.process.use(1)
    rig.time.check_turn()
    assert rig.process.evidence


def test_an_engine_that_evades_its_suspension_is_ended_at_its_limit(rig: Rig) -> None:
    rig.own_turn(1)
    rig.process.freeze = lambda: None  # type: ignore[method-assign]
    rig.other_turn(1000, everything)
    rig.process.used_ns += 11 * SECOND
    rig.own_turn(1)
    assert rig.process.evidence


def test_an_engine_that_ended_is_not_watched(rig: Rig) -> None:
    rig.own_turn(1)
    rig.time.close()
    rig.time.close()
    rig.other_turn(1000, everything)
    assert rig.process.freezes == 0
