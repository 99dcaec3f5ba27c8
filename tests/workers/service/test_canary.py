"""The canary game, which is the same on every machine."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from workers.jobs import GameReport
from workers.play.batch import play_batch
from workers.play.runner import Callbacks, WorkerContext
from workers.service.canary import DIGEST, canary_job, digest_of, judge_canary, play_canary

WORKER = WorkerContext("tester/1", Path("/nowhere"), Path("/nowhere"))


@pytest.fixture(scope="module")
def played() -> GameReport:
    reports: list[GameReport] = []
    play_batch([canary_job()], WORKER, Callbacks(reports.append, lambda progress: None))
    return reports[0]


def test_the_game_is_the_one_that_workers_expect(played: GameReport) -> None:
    """If a bot, its evaluation or the random draws change, set DIGEST in workers/service/canary.py anew."""
    assert digest_of(played) == DIGEST
    assert judge_canary(played) == ""


def test_a_different_move_or_end_is_reported(played: GameReport) -> None:
    other = replace(played, moves=(*played.moves[:-1], ("a1+", "")))
    assert judge_canary(other) == "the canary game was played with other moves than it must have"
    torn = replace(played, termination="crash", evidence="the process ended with code 1")
    assert judge_canary(torn) == "the canary game ended in crash: the process ended with code 1"


def test_an_aborted_canary_reports_no_error() -> None:
    assert play_canary(WORKER, lambda: True) == ""
