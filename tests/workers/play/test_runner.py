"""Progress of jobs before the first move, and jobs that cannot be read."""

from __future__ import annotations

from pathlib import Path

import pytest

from engines.records import Fault, Termination
from engines.rules.base import Result
from tests.support.jobs import bad_engine, job_of, play_job
from workers.jobs import EngineSpec, GameJob, JobError
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


def refused(message: object) -> list[tuple[str, str, str]]:
    with pytest.raises(JobError) as raised:
        GameJob.from_json(message)
    reports = list(refuse_job(message, WORKER, raised.value))
    assert all(report.result is Result.UNDECIDED for report in reports)
    assert all(report.termination == Termination.VOID for report in reports)
    assert all(report.fault == Fault.INFRASTRUCTURE for report in reports)
    return [(report.key, report.attempt, report.evidence) for report in reports]


def test_a_job_that_cannot_be_read_is_a_void_of_each_of_its_games() -> None:
    job = job_of(bad_engine(), bad_engine(), games=2).to_json()
    why = "the worker cannot read its job: GameJob has an unknown field 'dice'"
    assert refused({**job, "dice": 2}) == [
        ("spring/1/1/1", "attempt-1", why),
        ("spring/1/1/2", "attempt-2", why),
    ]


def test_games_that_cannot_be_read_either_are_left_out() -> None:
    job = job_of(bad_engine(), bad_engine(), games=2).to_json()
    assert [key for key, _, _ in refused({**job, "games": [{"key": 1}, job["games"][1]]})] == ["spring/1/1/2"]


@pytest.mark.parametrize("message", [None, "job", [], {}, {"games": None}, {"games": "all"}])
def test_a_message_that_is_no_job_gives_no_reports(message: object) -> None:
    assert refused(message) == []


def test_a_bundle_that_is_missing_is_a_void_without_our_paths(tmp_path: Path) -> None:
    stray = EngineSpec("Stray", "1", ("python3", "main.py"), bundle="0" * 64)
    (report,) = play_job(job_of(stray, bad_engine()), folder=tmp_path).reports
    assert report.termination == Termination.VOID
    assert report.evidence == "the bundle of Stray is not available: No such file or directory"
