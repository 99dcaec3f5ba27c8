"""Engines without a sandbox: which are suspended in their opponent's turns."""

from __future__ import annotations

import uuid
from pathlib import Path
from typing import Any, cast

import pytest

from tests.support.jobs import bad_engine, job_of, play_job, processes_with
from tests.workers.engine.test_processor_time import MS, FakeProcess
from workers.engine.processor_time import FORGIVEN_NS, FREE_NS, WaitingEngines
from workers.engine.unsandboxed import UnsandboxedProcess, UnsandboxedTime


class Waiting:
    """An engine that waits while another one has long turns."""

    def __init__(self) -> None:
        self.process = FakeProcess()
        self.engines = WaitingEngines()
        self.time = UnsandboxedTime(cast("UnsandboxedProcess", cast(Any, self.process)), self.engines)
        self.time.end_turn()

    def long_turn(self, used_ns: int) -> None:
        self.engines.begin_long_turn()
        self.process.use(used_ns)
        self.engines.end_long_turn()

    def own_turn(self, used_ns: int) -> None:
        self.time.begin_turn()
        self.process.use(used_ns)
        self.time.end_turn()


@pytest.fixture
def waiting() -> Waiting:
    return Waiting()


def test_what_it_uses_in_its_own_turns_reported_or_not_never_suspends_it(waiting: Waiting) -> None:
    for _ in range(100):
        waiting.long_turn(0)
        waiting.process.use(50 * MS)  # quick moves that the fast path does not report
        waiting.engines.begin_long_turn()
        waiting.own_turn(50 * MS)
        waiting.engines.end_long_turn()
    assert waiting.process.freezes == 0


def test_it_is_suspended_once_its_opponent_s_turns_add_up_until_its_own_turn(waiting: Waiting) -> None:
    for _ in range(3):
        waiting.long_turn(FREE_NS // 2)
    frozen = [waiting.process.is_frozen]
    waiting.time.begin_turn()
    frozen.append(waiting.process.is_frozen)
    waiting.time.end_turn()
    assert [*frozen, waiting.process.is_frozen] == [True, False, True]


def test_what_is_forgiven_is_forgiven_once_a_turn_however_often_it_is_checked(waiting: Waiting) -> None:
    waiting.engines.begin_long_turn()
    for _ in range(FREE_NS // FORGIVEN_NS + 2):
        frozen = waiting.process.is_frozen
        waiting.process.use(FORGIVEN_NS)
        waiting.time.check_wait()
    assert (frozen, waiting.process.is_frozen, waiting.process.freezes) == (False, True, 1)


def test_each_game_begins_anew(waiting: Waiting) -> None:
    waiting.long_turn(2 * FREE_NS)
    waiting.time.begin_game()
    waiting.own_turn(0)
    assert not waiting.process.is_frozen


def state_of(mark: str) -> str:
    """The states of the processes with a mark, as ``/proc`` names them."""
    stats = [Path(f"/proc/{process}/stat").read_text() for process in processes_with(mark)]
    return "".join(text.rpartition(")")[2].split()[0] for text in stats)


@pytest.mark.slow
def test_an_engine_that_spins_is_stopped_while_its_opponent_thinks() -> None:
    mark = str(uuid.uuid4())
    job = job_of(bad_engine("isready", "spin", "-", mark=mark), bad_engine("go", "hang", "-"))
    played = play_job(job, is_stopping=lambda: state_of(mark) == "T")
    assert (len(played.returned), played.reports) == (1, [])


@pytest.mark.slow
def test_an_engine_that_spins_plays_its_games_to_the_end() -> None:
    job = job_of(bad_engine("isready", "spin", "-"), bad_engine("go", "late", "0.1"), games=2)
    assert [report.termination for report in play_job(job).reports] == ["ply limit"] * 2
