"""The record keeper's tasks, their schedule, and its Celery app."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from celery import Celery
from django.db import OperationalError
from django.test import Client
from django.utils import timezone

from tests.support.brokers import running_redis
from tests.support.databases import database_url
from tests.support.door import DoorWorker
from tests.support.jobs import wait_until
from tests.support.schedule import OnCommit, make_tournament, make_user, open_door, play_short
from tests.tournament.conftest import FakeRedis
from tournament import celery, queues, tasks
from tournament.embedded.plan import ROOT
from tournament.embedded.processes.redis_server import broker_url
from tournament.models import Attempt, EventCount, Game, InboxReport, Job, Keeper, Worker
from tournament.services import event_counts
from tournament.services.results.keeper import record_inbox
from workers.jobs import Batch
from workers.service.broker import KEEPER, PLAY, broker_settings, open_redis

pytestmark = pytest.mark.django_db
look_at_broker, send = queues.look_at_broker, queues.send


@pytest.fixture
def worker() -> DoorWorker:
    return DoorWorker()


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The record keeper's own clock; nothing has been done yet."""
    now = [1000.0]
    monkeypatch.setattr(tasks.time, "monotonic", lambda: now[0])  # type: ignore[attr-defined]
    for each in tasks.RESTED:
        monkeypatch.setattr(each, "due_at", 0.0)
    return now


@pytest.fixture
def ran(monkeypatch: pytest.MonkeyPatch, clock: list[float]) -> list[str]:
    """The names of the tasks that ran, in the place of running them."""
    names: list[str] = []
    for each in tasks.RESTED:
        monkeypatch.setattr(each, "run", lambda name=each.name: names.append(name))
    return names


def run_all() -> None:
    """What the beat sends within a minute, once each."""
    for name in celery.PERIODS_SECONDS:
        celery.app.tasks[f"tournament.{name}"]()


def report_all(worker: DoorWorker, batch: Batch) -> None:
    worker.post(batch.job, reports=tuple(report for job in batch.jobs for report in play_short(job)))


def test_the_beat_sends_every_task_of_the_record_keeper() -> None:
    names = {name for name in celery.app.tasks if name.startswith("tournament.")}
    schedule = celery.app.conf.beat_schedule.values()
    assert names == {entry["task"] for entry in schedule}
    assert all(entry["options"]["expires"] > 0 for entry in schedule)
    assert [queue.name for queue in celery.app.conf.task_queues] == [KEEPER]


def test_the_tasks_handle_the_inbox_and_do_what_is_due(worker: DoorWorker, clock: list[float]) -> None:
    make_tournament(ladders=["dogon-kulei"])
    report_all(worker, worker.take())
    open_door()
    Keeper.objects.all().delete()
    run_all()
    assert set(Game.objects.values_list("state", flat=True)) == {"done"}
    assert not InboxReport.objects.exists()
    assert Keeper.objects.count() == 1


def test_messages_that_have_waited_run_a_task_once(ran: list[str], clock: list[float]) -> None:
    for _ in range(30):
        run_all()
        clock[0] += 0.01
    assert sorted(ran) == sorted(each.name for each in tasks.RESTED)


def test_reports_that_are_left_are_handled_after_the_tasks_that_wait(
    broker: FakeRedis, monkeypatch: pytest.MonkeyPatch
) -> None:
    budgets: list[float] = []

    def never_empty(seconds: float) -> bool:
        budgets.append(seconds)
        return True

    monkeypatch.setattr(tasks, "record_inbox", never_empty)
    tasks.record()
    assert broker.lengths == {KEEPER: 1}
    assert budgets == [tasks.INBOX_SECONDS]


def test_pages_are_true_while_reports_keep_arriving(
    worker: DoorWorker, clock: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The sweep marks a silent worker as lost, and the keeper is well, though the inbox is never empty."""
    make_tournament(ladders=["dogon-kulei"])
    report_all(worker, worker.take())
    open_door()
    InboxReport.objects.update(received_at=timezone.now() - timedelta(seconds=90))
    Worker.objects.update(seen_at=timezone.now() - timedelta(seconds=30))
    Keeper.objects.update(seen_at=timezone.now() - timedelta(seconds=90))
    assert "keeper: it has not worked for 90 s" in Client().get("/healthz").content.decode()
    assert "The record keeper has not worked since" in Client().get("/workers/").content.decode()
    monkeypatch.setattr(tasks, "record_inbox", lambda seconds: True)
    run_all()
    assert Client().get("/healthz").status_code == 200
    page = Client().get("/workers/").content.decode()
    assert "The record keeper has not worked" not in page
    assert 'worker-lost">lost<' in page
    client = Client()
    client.force_login(make_user("eve", staff=True))
    assert "behind the workers: 2 reports waiting" in client.get("/staff/").content.decode()


def test_a_slow_duty_rests_for_as_long_as_it_took(
    ran: list[str], clock: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    times: list[float] = []

    def slow() -> None:
        times.append(clock[0])
        clock[0] += 4.0

    tend = next(each for each in tasks.RESTED if each.name == "tend")
    monkeypatch.setattr(tend, "run", slow)
    for _ in range(20):
        tend()
        clock[0] += 1.0
    assert times[:3] == [1000.0, 1008.0, 1016.0]


def test_what_fails_is_counted_by_task(monkeypatch: pytest.MonkeyPatch, on_commit: OnCommit) -> None:
    event_counts.store_counts()
    EventCount.objects.all().delete()
    monkeypatch.setattr(tasks.RESTED[0], "run", lambda: 1 / 0)
    with on_commit():
        celery.app.tasks["tournament.sweep"].apply()
    event_counts.store_counts()
    assert list(EventCount.objects.values_list("kind", "label", "count")) == [("error", "sweep", 1)]


def test_while_the_database_is_away_the_record_keeper_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    tries: list[float] = []
    pauses: list[float] = []

    def away_twice(seconds: float) -> bool:
        tries.append(seconds)
        if len(tries) < 3:
            raise OperationalError("database or disk is full")
        return False

    class Connection:
        in_atomic_block = False

        def close(self) -> None:
            """As the real one."""

    monkeypatch.setattr(tasks, "record_inbox", away_twice)
    monkeypatch.setattr(tasks, "connection", Connection())
    monkeypatch.setattr(tasks.time, "sleep", pauses.append)  # type: ignore[attr-defined]
    tasks.record()
    assert pauses == [1.0, 2.0]


def test_tending_tells_free_slots_that_games_wait(worker: DoorWorker, broker: FakeRedis) -> None:
    worker.slots = 3
    worker.beat()
    tournament = make_tournament(ladders=["dogon-kulei"], pairs=2)
    tasks.tend()
    assert broker.lengths == {"games": 2}
    tasks.tend()
    assert broker.lengths == {"games": 2}
    make_tournament(
        ladders=["dogon-kulei"], pairs=8, name="more", versions=[p.version for p in tournament.entries.all()]
    )
    tasks.tend()
    assert broker.lengths == {"games": 3}
    broker.lengths.clear()
    Worker.objects.update(quarantined_at=timezone.now())
    tasks.tend()
    assert broker.lengths == {}


def test_a_slot_that_has_not_reported_its_last_games_counts_once(
    worker: DoorWorker, broker: FakeRedis
) -> None:
    worker.slots = 2
    worker.beat()
    make_tournament(ladders=["dogon-kulei"], pairs=4)
    first = worker.take()
    worker.ask(holds=(first.job,))
    tasks.tend()
    assert broker.lengths == {"games": 1}


def test_without_redis_games_are_recorded_and_nothing_fails(worker: DoorWorker, broker: FakeRedis) -> None:
    broker.is_away = True
    make_tournament(ladders=["dogon-kulei"])
    report_all(worker, worker.take())
    run_all()
    assert set(Game.objects.values_list("state", flat=True)) == {"done"}


def test_a_keeper_that_was_away_records_what_came_meanwhile(worker: DoorWorker) -> None:
    make_tournament(ladders=["dogon-kulei"], pairs=4)
    worker.beat()
    held: list[str] = []
    while (batch := worker.ask(holds=tuple(held))) is not None:
        held.append(batch.job)
        report_all(worker, batch)
    open_door(timezone.now() + timedelta(hours=1))
    assert not Job.objects.held().exists()
    tasks.sweep()
    assert set(Game.objects.values_list("state", flat=True)) == {"claimed"}
    assert not record_inbox(10)
    assert set(Game.objects.values_list("state", flat=True)) == {"done"}
    assert set(Attempt.objects.values_list("end", flat=True)) == {"recorded"}


# Redis


def test_messages_are_sent_up_to_a_number_and_a_missing_redis_is_told_once(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(queues, "REST_SECONDS", 0.0)
    monkeypatch.setattr(queues, "_REDIS", queues._Patience())
    queues._client.cache_clear()
    with running_redis() as socket:
        monkeypatch.setenv("REDIS_URL", broker_url(socket))
        app = Celery("tests")
        app.conf.update(broker_settings(broker_url(socket), KEEPER))
        for _ in range(3):
            send(app, celery.RECORD, KEEPER)
            send(app, PLAY, "games", most=4)
        state = look_at_broker([KEEPER, "games"])
        assert state.lengths == {KEEPER: 3, "games": 4}
        assert state.memory
    for _ in range(2):
        send(app, celery.RECORD, KEEPER)
    assert [record.message for record in caplog.records if "Redis" in record.message] == [
        "Redis does not answer"
    ]
    assert look_at_broker([KEEPER]).trouble == "does not answer"
    queues._client.cache_clear()


@contextmanager
def celery_process(url: str, *words: str) -> Iterator[subprocess.Popen[bytes]]:
    """A process of the site's app at this Redis, which ends well."""
    environment = {**os.environ, "DATABASE_URL": database_url(), "REDIS_URL": url}
    environment |= {"DJANGO_SETTINGS_MODULE": "tournament.settings", "FLOWER_UNAUTHENTICATED_API": "true"}
    command = (sys.executable, "-m", "celery", "--app=tournament", *words)
    process = subprocess.Popen(command, cwd=ROOT, env=environment)
    try:
        yield process
    finally:
        process.send_signal(signal.SIGTERM)
        assert process.wait(60) == 0


def names_of(tasks: dict[str, Any]) -> set[str]:
    return {task["name"] for task in tasks.values()}


def queues_of(workers: dict[str, Any]) -> set[str]:
    return {queue["name"] for worker in workers.values() for queue in worker.get("active_queues", ())}


@contextmanager
def flower(url: str) -> Iterator[Callable[[str], Any]]:
    """Flower at this Redis, and what an address of its API shows: nothing until it answers."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]

    def shown(path: str) -> Any:
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/api/{path}", timeout=30) as answer:
                return json.load(answer)
        except OSError:
            return {}

    with celery_process(url, "flower", "--address=127.0.0.1", f"--port={port}"):
        yield shown


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_a_real_record_keeper_and_beat_record_what_comes_after_all_faults_of_redis(
    worker: DoorWorker, tmp_path: Path
) -> None:
    """Celery shows both the process and its tasks, and its consumer comes back."""
    make_tournament(ladders=["dogon-kulei"], pairs=1)
    batches = [worker.take()]
    with running_redis() as socket, open_redis(url := broker_url(socket)) as client:
        schedule = f"--schedule={tmp_path / 'beat'}"
        with celery_process(url, "worker"), celery_process(url, "beat", schedule, "--pidfile="):
            report_all(worker, batches[0])
            assert wait_until(lambda: Game.objects.filter(state="done").exists(), 60)
            assert wait_until(Keeper.objects.exists, 60)
            app = Celery("operator", broker=url)
            assert wait_until(lambda: app.control.ping(timeout=5), 60)
            seen: set[str] = set()
            with app.connection_for_read() as connection:
                receiver = app.events.Receiver(
                    connection, handlers={"task-received": lambda event: seen.add(event["name"])}
                )
                receiver.capture(limit=30, timeout=60)
            assert {"tournament.record", "tournament.tend"} <= seen
            with flower(url) as shown:
                assert wait_until(lambda: queues_of(shown("workers?refresh=1")) == {KEEPER}, 60, pause=1)
                assert wait_until(lambda: names_of(shown("tasks")) >= seen, 60, pause=1), shown("tasks")
            client.flushall()
            client.shutdown(nosave=True)
            with running_redis(at=socket):
                seen_at = Keeper.objects.get().seen_at
                assert wait_until(lambda: Keeper.objects.get().seen_at > seen_at, 60)
