"""The jobs of one message: which process is kept, what ends them, their progress, and what they record."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import count
from pathlib import Path

import pytest

from engines.records import Fault, Termination
from engines.rules.base import Result
from tests.support.jobs import bad_engine, engine_of, job_of, nothing_left, play_job, processes_with
from workers.jobs import EngineSpec, GameJob, GameReport, JobError, JobGame
from workers.play import batch as batch
from workers.play import runner
from workers.play.batch import play_batch
from workers.play.environment import environment_headers, measure_speed
from workers.play.runner import Callbacks, WorkerContext, refuse_job

WORKER = WorkerContext("tester", Path("/nowhere"), Path("/nowhere"))


def play(*jobs: GameJob) -> list[GameReport]:
    reports: list[GameReport] = []
    assert play_batch(jobs, WORKER, Callbacks(reports.append, lambda progress: None)) == ()
    return reports


def processes(reports: list[GameReport], spec: EngineSpec, jobs: list[GameJob]) -> list[tuple[int, int]]:
    """The process and its game's number for each game of this engine, from its ``info`` lines."""
    seen = []
    games = [(job, game) for job in jobs for game in job.games]
    for report, (job, game) in zip(reports, games, strict=True):
        if spec in job.engines:
            is_white = job.engines[game.white] == spec
            seen.append(min(engine_of((report.white if is_white else report.black).lines)))
    return seen


def test_an_engine_that_also_plays_the_next_pair_keeps_its_process(mark: str) -> None:
    one, two, three = (bad_engine(name=name, mark=mark) for name in ("One", "Two", "Three"))
    jobs = [job_of(one, two, games=2), job_of(three, one, games=2), job_of(two, three, games=2)]
    with nothing_left(mark):
        reports = play(*jobs)
    ones, twos = processes(reports, one, jobs), processes(reports, two, jobs)
    assert [game for _, game in ones] == [1, 2, 3, 4]
    assert len({pid for pid, _ in ones}) == 1
    assert [game for _, game in twos] == [1, 2, 1, 2]
    assert len({pid for pid, _ in twos}) == 2


def test_an_engine_that_plays_itself_has_two_processes(mark: str) -> None:
    one = bad_engine(mark=mark)
    with nothing_left(mark):
        first, second = play(job_of(one, one), job_of(one, one))
    pids = [min(engine_of(side.lines))[0] for side in (first.white, first.black, second.white, second.black)]
    assert len(set(pids)) == 2
    assert pids[:2] == pids[2:]


def test_a_fault_does_not_affect_other_jobs(mark: str) -> None:
    bad, good = bad_engine("go", "leave", "3", mark=mark, name="Bad"), bad_engine(mark=mark)
    with nothing_left(mark):
        reports = play(
            job_of(bad, good), job_of(good, bad), job_of(good, good, game="chess"), job_of(good, good)
        )
    assert [report.termination for report in reports] == ["crash", "crash", "void", "ply limit"]


def test_a_stop_gives_back_all_that_is_not_played(mark: str) -> None:
    one, two = bad_engine(mark=mark), bad_engine(mark=mark, name="Two")
    jobs = [job_of(one, two, games=2) for _ in range(3)]
    reports: list[GameReport] = []
    with nothing_left(mark):
        line = Callbacks(reports.append, lambda progress: None, lambda: len(reports) == 3)
        assert play_batch(jobs, WORKER, line) == jobs[1].games[1:] + jobs[2].games
    assert len(reports) == 3


def test_the_remaining_jobs_are_given_back_if_engines_are_slower_than_expected(mark: str) -> None:
    one, two = bad_engine(mark=mark), bad_engine(mark=mark, name="Two")
    jobs = [job_of(one, two, games=2) for _ in range(4)]
    reports: list[GameReport] = []
    times = count(0.0, batch.LONGEST_SECONDS / 2 + 1)
    with nothing_left(mark):
        line = Callbacks(reports.append, lambda progress: None)
        left = play_batch(jobs, WORKER, line, lambda: next(times))
    assert left == jobs[2].games + jobs[3].games
    assert len(reports) == 4


def test_a_stopped_attempt_is_not_played_to_its_end_and_the_others_are(mark: str) -> None:
    """It is neither reported nor given back, and its engines start again for the next game."""

    def is_thinking() -> bool:
        return len(processes_with(mark)) == 2

    one, two = bad_engine("go:1", "resist", "-", mark=mark), bad_engine(mark=mark, name="Two")
    good = bad_engine(mark=mark, name="Good")
    first = job_of(one, two, time_control="60+0")
    second, third = (
        replace(job_of(good, two), games=(JobGame("spring/1/2/1", attempt, 0),))
        for attempt in ("two", "three")
    )
    reports: list[GameReport] = []
    with nothing_left(mark):
        line = Callbacks(
            reports.append,
            lambda progress: None,
            is_stopped=lambda attempt: attempt == "two" or (attempt == "attempt-1" and is_thinking()),
        )
        assert play_batch([first, second, third], WORKER, line) == ()
    assert [(report.attempt, report.fault) for report in reports] == [("three", "none")]


HOST = WorkerContext("host/1", Path("/nowhere"), Path("/nowhere"))


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
    reports = list(refuse_job(job, HOST, JobError("no bundle")))
    assert all(report.result is Result.UNDECIDED for report in reports)
    assert all(report.termination == Termination.VOID for report in reports)
    assert all(report.fault == Fault.INFRASTRUCTURE for report in reports)
    why = "the worker does not play this job: no bundle"
    assert [(report.key, report.attempt, report.evidence) for report in reports] == [
        ("spring/1/1/1", "attempt-1", why),
        ("spring/1/1/2", "attempt-2", why),
    ]


def test_sandbox_speed_and_clock_become_headers() -> None:
    assert environment_headers("level A, freezer", "35.2", "run delay") == (
        ("Walls", "level A, freezer"),
        ("WorkerSpeed", "35.2"),
        ("Clock", "run delay"),
    )
    assert environment_headers("", "") == ()


@pytest.mark.parametrize("word", ["level C, freezer", 'level A, freezer"]', "35.2\n", "1e9", "-1.0", "٣.١"])
def test_texts_that_no_worker_sends_are_left_out(word: str) -> None:
    assert environment_headers(word, word, word) == ()


def test_a_speed_is_fit_for_a_header() -> None:
    speed = measure_speed()
    assert re.fullmatch(r"[0-9]+\.[0-9]", speed)
    assert environment_headers("", speed) == (("WorkerSpeed", speed),)
