"""Progress of jobs before the first move, and jobs that are not played."""

from __future__ import annotations

from pathlib import Path

import pytest

from engines.records import Fault, Termination
from engines.rules.base import Result
from tests.support.jobs import bad_engine, job_of, play_job
from workers.jobs import JobError
from workers.play import runner
from workers.play.runner import WorkerContext, refuse_job

WORKER = WorkerContext("host/1", Path("/nowhere"), Path("/nowhere"))


@pytest.mark.slow
def test_progress_of_a_game_is_sent_while_its_engines_start(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runner, "PROGRESS_SECONDS", 0.2)
    slow = bad_engine("ugi", "late", "1.5")
    played = play_job(job_of(slow, bad_engine()))
    assert played.reports[0].termination == Termination.PLY_LIMIT
    assert len([word for word in played.progress if not word.moves]) > 1


def test_progress_of_every_game_is_sent_at_once() -> None:
    played = play_job(job_of(bad_engine(), bad_engine(), games=2))
    assert [word.key for word in played.progress] == ["spring/1/1/1", "spring/1/1/2"]


def test_a_job_that_is_not_played_is_a_void_of_each_of_its_games() -> None:
    job = job_of(bad_engine(), bad_engine(), games=2)
    reports = list(refuse_job(job, WORKER, JobError("no bundle")))
    assert all(report.result is Result.UNDECIDED for report in reports)
    assert all(report.termination == Termination.VOID for report in reports)
    assert all(report.fault == Fault.INFRASTRUCTURE for report in reports)
    why = "the worker does not play this job: no bundle"
    assert [(report.key, report.attempt, report.evidence) for report in reports] == [
        ("spring/1/1/1", "attempt-1", why),
        ("spring/1/1/2", "attempt-2", why),
    ]
