"""The self-test of a slot: the canary game, and a slot that is held."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from workers.jobs import GameReport
from workers.play.batch import play_batch
from workers.play.runner import Callbacks, WorkerContext
from workers.service import self_test
from workers.service.self_test import DIGEST, SelfTest, canary_job, digest_of, judge_canary, play_canary
from workers.service.slots import Slots, SlotState

WORKER = WorkerContext("tester/1", Path("/nowhere"), Path("/nowhere"))


@pytest.fixture(scope="module")
def played() -> GameReport:
    reports: list[GameReport] = []
    play_batch([canary_job()], WORKER, Callbacks(reports.append, lambda progress: None))
    return reports[0]


def test_the_game_is_the_one_that_workers_expect(played: GameReport) -> None:
    """If a bot, its evaluation or the random draws change, set DIGEST in self_test.py anew."""
    assert digest_of(played) == DIGEST
    assert judge_canary(played) == ""


def test_a_different_move_or_end_is_reported(played: GameReport) -> None:
    other = replace(played, moves=(*played.moves[:-1], ("a1+", "")))
    assert judge_canary(other) == "the canary game was played with other moves than it must have"
    torn = replace(played, termination="crash", evidence="the process ended with code 1")
    assert judge_canary(torn) == "the canary game ended in crash: the process ended with code 1"


def test_an_aborted_canary_reports_no_error() -> None:
    assert play_canary(WORKER, lambda: True) == ""


@pytest.fixture
def slots(monkeypatch: pytest.MonkeyPatch) -> Slots:
    """Slots of a worker that the site has admitted; a held slot tests itself without pauses."""
    monkeypatch.setattr(self_test, "FIRST_PAUSE_SECONDS", 0.0)
    slots = Slots()
    slots.admit()
    return slots


def test_the_test_runs_once_after_each_admission(slots: Slots, monkeypatch: pytest.MonkeyPatch) -> None:
    played: list[int] = []

    def play_canary(*_: object) -> str:
        played.append(slots.admissions)
        return ""

    monkeypatch.setattr(self_test, "play_canary", play_canary)
    test = SelfTest(slots, 0)
    for _ in range(2):
        assert test.find_trouble(WORKER) == ""
    slots.bar()
    slots.admit()
    for _ in range(2):
        assert test.find_trouble(WORKER) == ""
    assert played == [1, 2]


def test_a_slot_is_held_and_says_why_until_it_finds_no_trouble(slots: Slots) -> None:
    seen: list[tuple[str, int]] = []
    found = iter(["it still died", ""])

    def retest() -> str:
        seen.append((slots.trouble, slots.number_in(SlotState.HELD)))
        return next(found)

    SelfTest(slots, 3).hold("the canary died", retest)
    assert seen == [("the canary died", 1), ("it still died", 1)]
    assert (slots.trouble, slots.number_in(SlotState.HELD)) == ("", 0)


def test_a_held_slot_of_a_stopping_worker_ends(slots: Slots) -> None:
    slots.stop()
    SelfTest(slots, 0).hold("the canary died", lambda: "it still died")
    assert slots.trouble == ""
