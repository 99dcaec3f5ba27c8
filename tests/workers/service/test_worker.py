"""A worker as a process at the door of a fake site: what it reports, and what is left when it ends."""

from __future__ import annotations

import itertools
import os
import signal
import socket
import subprocess
import sys
import uuid
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from celery import Celery

from tests.support.bad_engines import LINE
from tests.support.brokers import ROOT, running_redis, running_worker, tell_slots
from tests.support.fake_door import PATIENCE_SECONDS, TOKEN, FakeDoor, seconds_until
from tests.support.jobs import BadBundles, job_of, processes_with, wait_until
from tests.support.processes import slots_of
from tournament.embedded.processes.redis_server import broker_url
from workers.jobs import ComplianceEnding, ComplianceJob, JobGame, SearchJob, Work
from workers.sandbox.policy import TRUST
from workers.service.broker import open_redis

pytestmark = pytest.mark.slow


def scratch_folders(folder: Path) -> list[Path]:
    return list((folder / "tmp").glob("duarena-engine-*"))


def spooled(folder: Path) -> list[Path]:
    return list((folder / "cache").glob("spool-*/*/*.json"))


def test_a_job_comes_back_as_reports(door: FakeDoor, mark: str, bundled: BadBundles, tmp_path: Path) -> None:
    job = door.give(job_of(bundled(), bundled("go:1", "leave", "3"), games=2))
    with running_worker(door.url, tmp_path) as worker:
        first, second = door.wait_for_reports(2)
        assert wait_until(lambda: not spooled(tmp_path))
        worker.terminate()
        assert worker.wait(PATIENCE_SECONDS) == 0
    assert {name for name, _ in door.posts} == {job}
    assert [(r.key, r.attempt, r.fault, r.termination) for r in (first, second)] == [
        ("spring/1/1/1", "attempt-1", "black", "crash"),
        ("spring/1/1/2", "attempt-2", "white", "crash"),
    ]
    assert [token for token, _ in first.moves] == LINE[:1]
    assert door.heartbeats[-1].stopping
    assert {key for _, key in door.requests} == {"Bearer duarena_key"}
    assert processes_with(mark) == []
    assert scratch_folders(tmp_path) == []


def test_a_worker_for_checks_checks_and_plays(
    door: FakeDoor, mark: str, bundled: BadBundles, tmp_path: Path
) -> None:
    door.give_check(ComplianceJob("e1", bundled("ugi", "leave", "3"), ("dogon-kulei",), 20))
    door.give(job_of(bundled(), bundled()))
    with running_worker(door.url, tmp_path, "validation") as worker:
        (report,) = door.wait_for_reports(1)
        worker.terminate()
        assert worker.wait(PATIENCE_SECONDS) == 0
    assert {ask.takes for ask in door.asks} == {(Work.ANALYSIS, Work.CHECKS)}  # people wait for searches
    assert door.news[-1].ending is ComplianceEnding.DONE
    assert [found.check for found in door.news[-1].found] == ["handshake"]
    assert report.fault == "none"
    assert processes_with(mark) == []


def test_a_worker_for_checks_searches_and_a_lost_answer_loses_no_evaluation(
    door: FakeDoor, mark: str, bundled: BadBundles, tmp_path: Path
) -> None:
    search = str(uuid.uuid4())
    door.give_search(SearchJob(search, bundled(), "dogon-kulei", None, ("c1+", "c2-"), (0, 1, 2), 50))
    posts = itertools.count()
    door.loses = lambda path: search in path and next(posts) < 2
    with running_worker(door.url, tmp_path, "validation") as worker:
        door.wait_for(lambda: [news for news in door.searched if news.is_over])
        worker.terminate()
        assert worker.wait(PATIENCE_SECONDS) == 0
    assert {one.ply for news in door.searched for one in news.found if one.move} == {0, 1, 2}
    assert (door.searched[-1].is_over, door.searched[-1].why) == (True, "")
    assert processes_with(mark) == []
    assert scratch_folders(tmp_path) == []
    assert scratch_folders(tmp_path) == []


def test_a_stopping_worker_returns_all_games_of_its_jobs(
    door: FakeDoor, mark: str, bundled: BadBundles, tmp_path: Path
) -> None:
    slow = bundled("go", "resist", "-")
    door.give(job_of(slow, bundled(), games=2, time_control="60+0"), job_of(bundled(), bundled(), games=2))
    with running_worker(door.url, tmp_path) as worker:
        assert wait_until(lambda: len(processes_with(mark)) == 2)
        door.wait_for(lambda: door.progress)
        worker.terminate()
        assert worker.wait(PATIENCE_SECONDS) == 0
    assert door.returned == ["attempt-1", "attempt-2"] * 2
    assert door.reports == []
    assert door.log[-1] == "/api/workers/"
    assert door.heartbeats[-1].stopping
    assert processes_with(mark) == []
    assert scratch_folders(tmp_path) == []


def test_an_attempt_that_the_site_stops_ends_and_the_next_game_is_played(
    door: FakeDoor, mark: str, bundled: BadBundles, tmp_path: Path
) -> None:
    """Deadline of the behaviour: three seconds; ten times that here."""
    slow = job_of(bundled("go", "resist", "-"), bundled(), time_control="999999+0")
    door.give(slow, replace(job_of(bundled(), bundled()), games=(JobGame("spring/1/2/1", "attempt-9", 0),)))
    with running_worker(door.url, tmp_path):
        assert wait_until(lambda: len(processes_with(mark)) == 2)
        door.stopped.update({"another", "attempt-1"})
        assert seconds_until(lambda: door.reports) < 30
    assert [(report.attempt, report.fault) for report in door.reports] == [("attempt-9", "none")]
    assert door.returned == []


@pytest.fixture
def redis_url() -> Iterator[str]:
    with running_redis() as socket:
        yield broker_url(socket)


@pytest.mark.parametrize("with_redis", [False, True])
def test_no_engine_outlives_a_slot_that_is_killed_and_its_successor_holds_what_was_not_sent(
    door: FakeDoor, mark: str, bundled: BadBundles, tmp_path: Path, redis_url: str, with_redis: bool
) -> None:
    """Deadline of the behaviour: one second; ten times that here."""
    one = bundled("start", "multiply", "-", "go:4", "resist", "-")
    job = door.give(job_of(one, bundled(), games=2, time_control="60+0"))
    with running_worker(door.url, tmp_path, redis=redis_url if with_redis else "") as worker:
        door.hear(lambda heartbeat: heartbeat.slots == 1)
        tell_slots(redis_url)
        assert wait_until(lambda: len(processes_with(mark)) == 3)
        (slot,) = slots_of(worker.pid)
        door.is_away = True
        os.kill(slot, signal.SIGKILL)
        assert wait_until(lambda: not processes_with(mark), 10)
        assert wait_until(lambda: not scratch_folders(tmp_path), 10)
        known = len(door.asks)
        door.is_away = False
        door.give(job_of(bundled(), bundled()))
        tell_slots(redis_url)
        door.wait_for_reports(1)
    first = door.asks[known]
    assert first.holds == ()
    assert first.slot == door.asks[0].slot
    assert first.ask != door.asks[0].ask
    assert job != door.posts[-1][0]


def test_a_worker_without_redis_plays_on_after_an_idle_slot_is_killed(
    door: FakeDoor, bundled: BadBundles, tmp_path: Path
) -> None:
    """An idle slot may hold the lock of the pipe that brings tasks to all slots."""
    with running_worker(door.url, tmp_path, slots=2) as worker:
        door.wait_for(lambda: door.asks, 2)
        for slot in slots_of(worker.pid):
            os.kill(slot, signal.SIGKILL)
        door.give(job_of(bundled(), bundled()))
        door.wait_for_reports(1)
        worker.terminate()
        assert worker.wait(PATIENCE_SECONDS) == 0


def test_reports_of_a_killed_worker_are_named_and_sent_by_the_next_one(
    door: FakeDoor, mark: str, bundled: BadBundles, tmp_path: Path
) -> None:
    """The site is away when the game ends. The next worker has fewer slots."""
    jobs = {door.give(job_of(bundled(), bundled(), games=2)) for _ in range(2)}
    door.loses = lambda path: path.startswith("/api/work/") and path != "/api/work/"
    with running_worker(door.url, tmp_path, slots=2) as worker:
        assert wait_until(lambda: len(door.reports) >= 4 and len(spooled(tmp_path)) >= 2, PATIENCE_SECONDS)
        os.killpg(worker.pid, signal.SIGKILL)
        worker.wait()
    door.loses = lambda path: False
    asked, posted, logged = len(door.asks), len(door.posts), len(door.log)
    with running_worker(door.url, tmp_path):
        door.wait_for(lambda: door.asks, asked + 1)
        assert wait_until(lambda: not spooled(tmp_path))
    again = {post.reports for _, post in door.posts[posted:]}
    assert {report.attempt for some in again for report in some} == {"attempt-1", "attempt-2"}
    assert {name for name, _ in door.posts[posted:]} == jobs
    assert set(door.asks[asked].holds) <= jobs
    sent_before = {path.split("/")[3] for path in door.log[logged:][: door.log[logged:].index("/api/work/")]}
    assert jobs <= {*door.asks[asked].holds, *sent_before}
    assert door.asks[asked].run != door.asks[0].run


def test_a_worker_that_cannot_reach_its_site_plays_to_the_end_and_sends_the_reports_later(
    door: FakeDoor, mark: str, bundled: BadBundles, tmp_path: Path
) -> None:
    door.give(job_of(bundled("go", "late", "0.3"), bundled(), games=2))
    with running_worker(door.url, tmp_path) as worker:
        assert wait_until(lambda: len(processes_with(mark)) == 2)
        door.is_away = True
        assert wait_until(lambda: not processes_with(mark) and spooled(tmp_path))
        assert worker.poll() is None
        known = len(door.requests)
        door.wait_for(lambda: door.requests, known + 3)  # it goes on to ask
        assert door.reports == []
        door.is_away = False
        assert [report.fault for report in door.wait_for_reports(2)] == ["none", "none"]
        assert wait_until(lambda: not spooled(tmp_path))
        door.give(job_of(bundled(), bundled()))
        door.wait_for_reports(3)


def test_an_ask_whose_answer_was_lost_is_repeated_with_the_same_id(
    door: FakeDoor, bundled: BadBundles, tmp_path: Path
) -> None:
    lost: list[str] = []

    def loses(path: str) -> bool:
        if path == "/api/work/" and len(lost) < 3:
            lost.append(path)
            return True
        return False

    door.loses = loses
    door.give(job_of(bundled(), bundled()))
    with running_worker(door.url, tmp_path):
        (report,) = door.wait_for_reports(1)
    assert report.fault == "none"
    assert len({ask.ask for ask in door.asks[:4]}) == 1


def test_a_stopping_worker_does_not_wait_for_a_site_that_is_away(
    door: FakeDoor, mark: str, bundled: BadBundles, tmp_path: Path
) -> None:
    door.give(job_of(bundled("go", "resist", "-"), bundled(), time_control="60+0"))
    with running_worker(door.url, tmp_path) as worker:
        assert wait_until(lambda: len(processes_with(mark)) == 2)
        door.is_away = True
        worker.terminate()
        assert worker.wait(30) == 0
    assert processes_with(mark) == []


def test_messages_start_the_slots_of_a_worker_and_its_consumer_comes_back_after_all_faults_of_redis(
    door: FakeDoor, bundled: BadBundles, tmp_path: Path
) -> None:
    played = itertools.count(1)

    def play() -> Celery:
        door.give(job_of(bundled(), bundled()))
        app = tell_slots(url)
        door.wait_for_reports(next(played))
        return app

    with (
        running_redis() as at,
        open_redis(url := broker_url(at)) as client,
        running_worker(door.url, tmp_path, redis=url),
    ):
        door.hear(lambda heartbeat: heartbeat.slots == 1)
        app = play()
        assert wait_until(lambda: app.control.ping(timeout=5), 60)
        client.flushall()
        play()
        for _ in range(2):
            client.shutdown(nosave=True)
            with running_redis(at=at):
                play()


def test_all_slots_of_a_worker_play_at_the_same_time(
    door: FakeDoor, mark: str, bundled: BadBundles, tmp_path: Path
) -> None:
    for _ in range(2):
        door.give(job_of(bundled("go", "resist", "-"), bundled(), time_control="60+0"))
    with running_worker(door.url, tmp_path, slots=2) as worker:
        assert wait_until(lambda: len(processes_with(mark)) == 4)
        assert door.hear(lambda heartbeat: heartbeat.busy == 2).slots == 2
        worker.terminate()
        assert worker.wait(PATIENCE_SECONDS) == 0
    assert sorted(door.returned) == ["attempt-1", "attempt-1"]
    assert {ask.slot for ask in door.asks} == {0, 1}


def test_celery_starts_the_same_worker(door: FakeDoor, bundled: BadBundles, tmp_path: Path) -> None:
    door.give(job_of(bundled(), bundled()))
    own = {"DUARENA_SITE": door.url, "DUARENA_TOKEN": TOKEN, "DUARENA_CACHE": str(tmp_path / "cache")}
    own |= {"DUARENA_BUNDLES": str(tmp_path / "bundles"), "REDIS_URL": "", TRUST: "1"}
    command = (sys.executable, "-m", "celery", "-A", "workers.service", "worker", "--concurrency=1")
    outer = {name: value for name, value in os.environ.items() if name != "DJANGO_SETTINGS_MODULE"}
    worker = subprocess.Popen(command, cwd=ROOT, env={**outer, **own})
    try:
        (report,) = door.wait_for_reports(1)
        worker.terminate()
        assert worker.wait(PATIENCE_SECONDS) == 0
    finally:
        worker.kill()
    assert report.worker.startswith(f"celery@{socket.gethostname()}/")
    assert door.heartbeats[-1].stopping
