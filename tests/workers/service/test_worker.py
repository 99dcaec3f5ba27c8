"""A game worker as a process on a real Redis: what it sends back, and what is left when it ends."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from tests.support.bad_engines import LINE
from tests.support.brokers import PATIENCE_SECONDS, Broker, running_worker
from tests.support.jobs import BadBundles, job_of, processes_with, wait_until
from workers.jobs import ComplianceEnding, ComplianceJob, ComplianceNews, Progress, Release
from workers.service.messaging.commands import Command

pytestmark = pytest.mark.slow


def scratch_folders(folder: Path) -> list[Path]:
    return list((folder / "tmp").glob("duarena-engine-*"))


def test_a_job_comes_back_as_progress_and_records(
    broker: Broker, mark: str, bundled: BadBundles, tmp_path: Path
) -> None:
    job = job_of(bundled(), bundled("go:1", "leave", "3"), games=2)
    with running_worker(broker.url, tmp_path) as worker:
        broker.send(job)
        (first, second), messages = broker.receive_reports(2)
        worker.terminate()
        assert worker.wait(PATIENCE_SECONDS) == 0
    progress = [Progress.from_json(m.value) for m in messages if m.task == "tournament.progress"]
    assert progress[0].key == "spring/1/1/1"
    assert [(r.key, r.attempt, r.fault, r.termination) for r in (first, second)] == [
        ("spring/1/1/1", "attempt-1", "black", "crash"),
        ("spring/1/1/2", "attempt-2", "white", "crash"),
    ]
    assert [token for token, _ in first.moves] == LINE[:1]
    assert first.worker == second.worker == progress[0].worker
    assert processes_with(mark) == []
    assert scratch_folders(tmp_path) == []


def test_a_validation_worker_checks_and_plays_while_games_wait(
    broker: Broker, mark: str, bundled: BadBundles, tmp_path: Path
) -> None:
    """It takes nothing from the queue of games."""
    spec = bundled("ugi", "leave", "3")
    with running_worker(broker.url, tmp_path, "validation") as worker:
        broker.send(job_of(bundled(), bundled()))
        broker.send_check(ComplianceJob("e1", spec, ("dogon-kulei",), 20))
        news: list[ComplianceNews] = []
        while not news or news[-1].ending is ComplianceEnding.NONE:
            news += [ComplianceNews.from_json(m.value) for m in broker.receive_until("tournament.news")]
        broker.send(job_of(bundled(), bundled()), queue="validation")
        (report,), _ = broker.receive_reports(1)
        worker.terminate()
        assert worker.wait(PATIENCE_SECONDS) == 0
    assert [found.check for found in news[-1].found] == ["handshake"]
    assert report.fault == "none"
    assert broker.receive(0.1) is None
    assert processes_with(mark) == []
    assert scratch_folders(tmp_path) == []


def test_a_stopping_worker_gives_its_games_back(
    broker: Broker, mark: str, bundled: BadBundles, tmp_path: Path
) -> None:
    one = bundled("go", "resist", "-")
    job = job_of(one, bundled(), games=2, time_control="60+0")
    with running_worker(broker.url, tmp_path) as worker:
        broker.send(job)
        broker.receive_until("tournament.progress")
        assert wait_until(lambda: len(processes_with(mark)) == 2)
        worker.terminate()
        worker.wait(PATIENCE_SECONDS)
    releases = broker.receive_until("tournament.release", seconds=1)[-1].value
    assert [Release.from_json(value).attempt for value in releases] == ["attempt-1", "attempt-2"]
    assert processes_with(mark) == []
    assert scratch_folders(tmp_path) == []


def test_a_job_that_the_site_stops_is_given_back_and_its_engines_end(
    broker: Broker, mark: str, bundled: BadBundles, tmp_path: Path
) -> None:
    """Deadline of the behaviour: five seconds; ten times that here."""
    job = job_of(bundled("go", "resist", "-"), bundled(), games=2, time_control="999999+0")
    with running_worker(broker.url, tmp_path):
        broker.send(job)
        broker.receive_until("tournament.progress")
        assert wait_until(lambda: len(processes_with(mark)) == 2)
        worker = broker.heartbeats[-1].worker
        broker.command(Command(worker, stop=("another",)))
        broker.push(f"commands.{worker}", b"\xff\xfe\x00")  # has no effect
        broker.command(Command(worker, stop=(job.job,)))
        assert wait_until(lambda: not processes_with(mark), 50)
        releases = broker.receive_until("tournament.release")[-1].value
        assert [Release.from_json(value).attempt for value in releases] == ["attempt-1", "attempt-2"]
        broker.send(job_of(bundled(), bundled()))  # the slot takes the next job
        (report,), _ = broker.receive_reports(1)
    assert report.fault == "none"


@pytest.mark.parametrize(
    "whole",
    [
        pytest.param(False, id="the slot"),
        pytest.param(True, id="the whole worker", marks=pytest.mark.thorough),
    ],
)
def test_no_engine_outlives_a_worker_that_is_killed(
    broker: Broker, mark: str, bundled: BadBundles, tmp_path: Path, whole: bool
) -> None:
    """Deadline of the behaviour: one second; ten times that here."""
    one = bundled("start", "multiply", "-", "go", "resist", "-")
    with running_worker(broker.url, tmp_path) as worker:
        broker.send(job_of(one, bundled(), time_control="60+0"))
        (message,) = broker.receive_until("tournament.progress")
        slot = int(message.value["worker"].rpartition("/")[2])
        assert wait_until(lambda: len(processes_with(mark)) == 3)
        if whole:
            os.killpg(worker.pid, signal.SIGKILL)
        else:
            os.kill(slot, signal.SIGKILL)
        assert wait_until(lambda: not processes_with(mark), 10)
        assert wait_until(lambda: not scratch_folders(tmp_path), 10)
