"""The record keeper's task: the inbox first, then what is due by its own clock; and its Celery app."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from datetime import timedelta

import pytest
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
from tournament.models import Attempt, EventCount, Game, InboxReport, Keeper, Worker
from tournament.services import event_counts
from tournament.services.results.keeper import record_inbox
from workers.jobs import Batch
from workers.service import turns

pytestmark = pytest.mark.django_db
look_at_broker, push_turns, waiting_turns = queues.look_at_broker, queues.push_turns, queues.waiting_turns


@pytest.fixture
def worker() -> DoorWorker:
    return DoorWorker()


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The record keeper's own clock; nothing has been done yet."""
    now = [1000.0]
    monkeypatch.setattr(tasks.time, "monotonic", lambda: now[0])  # type: ignore[attr-defined]
    for duty in tasks.DUTIES:
        monkeypatch.setattr(duty, "_due_at", 0.0)
    return now


@pytest.fixture
def ran(monkeypatch: pytest.MonkeyPatch, clock: list[float]) -> list[str]:
    """The names of the duties that were done, in the place of doing them."""
    names: list[str] = []
    for duty in tasks.DUTIES:
        monkeypatch.setattr(duty, "_run", lambda name=duty.name: names.append(name))
    return names


def report_all(worker: DoorWorker, batch: Batch) -> None:
    worker.post(batch.job, reports=tuple(report for job in batch.jobs for report in play_short(job)))


def test_the_site_has_one_task_which_the_beat_starts_every_second() -> None:
    assert {name for name in celery.app.tasks if name.startswith("tournament.")} == {"tournament.look"}
    assert celery.app.conf.beat_schedule == {"look": {"task": "tournament.look", "schedule": 1.0}}
    assert [queue.name for queue in celery.app.conf.task_queues] == [turns.LOOK]


def test_a_look_handles_the_inbox_and_does_what_is_due(worker: DoorWorker, clock: list[float]) -> None:
    make_tournament(ladders=["dogon-kulei"])
    report_all(worker, worker.take())
    open_door()
    Keeper.objects.all().delete()
    tasks.look()
    assert set(Game.objects.values_list("state", flat=True)) == {"done"}
    assert not InboxReport.objects.exists()
    assert Keeper.objects.count() == 1


def test_each_duty_has_its_own_period(ran: list[str], clock: list[float]) -> None:
    for _ in range(30):
        tasks.look()
        clock[0] += 1
    counts = {name: ran.count(name) for name in ran}
    assert counts == {
        "tend": 30,
        "sweep": 6,
        "pages": 10,
        "recompute": 6,
        "estimates": 3,
        "mails": 1,
        "digests": 3,
        "prune": 1,
    }


def test_nothing_is_starved_while_reports_keep_arriving(
    ran: list[str], clock: list[float], turns: FakeRedis, monkeypatch: pytest.MonkeyPatch
) -> None:
    budgets: list[float] = []

    def never_empty(seconds: float) -> bool:
        budgets.append(seconds)
        clock[0] += seconds
        return True

    monkeypatch.setattr(tasks, "record_inbox", never_empty)
    for _ in range(30):
        turns.lengths.clear()
        tasks.look()
        assert turns.lengths == {"look": 1}
    assert budgets == [tasks.INBOX_S] * 30
    assert ran.count("sweep") == 6
    assert ran.count("tend") == 30


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
    tasks.look()
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

    tend = next(duty for duty in tasks.DUTIES if duty.name == "tend")
    monkeypatch.setattr(tend, "_run", slow)
    for _ in range(20):
        tasks.look()
        clock[0] += 1.0
    assert times[:3] == [1000.0, 1008.0, 1016.0]


def test_what_fails_is_counted_and_stops_nothing_else(
    ran: list[str], monkeypatch: pytest.MonkeyPatch, on_commit: OnCommit
) -> None:
    event_counts.store_counts()
    EventCount.objects.all().delete()
    monkeypatch.setattr(tasks.DUTIES[0], "_run", lambda: 1 / 0)
    with on_commit():
        tasks.look()
    event_counts.store_counts()
    assert set(ran) == {duty.name for duty in tasks.DUTIES[1:]}
    assert list(EventCount.objects.values_list("kind", "label", "count")) == [("error", "sweep", 1)]


def test_while_the_database_is_away_the_record_keeper_waits(
    ran: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
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
    tasks.look()
    assert pauses == [1.0, 2.0]
    assert "sweep" in ran


def test_tending_tells_free_slots_that_games_wait(worker: DoorWorker, turns: FakeRedis) -> None:
    worker.slots = 3
    worker.beat()
    tournament = make_tournament(ladders=["dogon-kulei"], pairs=2)
    tasks.tend()
    assert turns.lengths == {"turns": 2}
    tasks.tend()
    assert turns.lengths == {"turns": 2}
    make_tournament(
        ladders=["dogon-kulei"], pairs=8, name="more", versions=[p.version for p in tournament.entries.all()]
    )
    tasks.tend()
    assert turns.lengths == {"turns": 3}
    turns.lengths.clear()
    Worker.objects.update(quarantined_at=timezone.now())
    tasks.tend()
    assert turns.lengths == {}


def test_a_slot_that_has_not_reported_its_last_games_counts_once(
    worker: DoorWorker, turns: FakeRedis
) -> None:
    worker.slots = 2
    worker.beat()
    make_tournament(ladders=["dogon-kulei"], pairs=4)
    first = worker.take()
    worker.ask(holds=(first.job,))
    tasks.tend()
    assert turns.lengths == {"turns": 1}


def test_without_redis_games_are_recorded_and_nothing_fails(worker: DoorWorker, turns: FakeRedis) -> None:
    turns.is_away = True
    make_tournament(ladders=["dogon-kulei"])
    report_all(worker, worker.take())
    tasks.look()
    assert set(Game.objects.values_list("state", flat=True)) == {"done"}


def test_a_keeper_that_was_away_records_what_came_meanwhile(worker: DoorWorker) -> None:
    make_tournament(ladders=["dogon-kulei"], pairs=4)
    worker.beat()
    held: list[str] = []
    while (batch := worker.ask(holds=tuple(held))) is not None:
        held.append(batch.job)
        report_all(worker, batch)
    open_door(timezone.now() + timedelta(hours=1))
    Attempt.objects.update(lease_until=timezone.now() - timedelta(minutes=10))
    tasks.sweep()
    assert set(Game.objects.values_list("state", flat=True)) == {"claimed"}
    assert not record_inbox(10)
    assert set(Game.objects.values_list("state", flat=True)) == {"done"}
    assert set(Attempt.objects.values_list("end", flat=True)) == {"recorded"}


# Redis


def test_turns_are_kept_up_to_a_number_and_a_missing_redis_is_told_once(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    now = [1000.0]
    monkeypatch.setattr(queues.time, "monotonic", lambda: now[0])  # type: ignore[attr-defined]
    monkeypatch.setattr(queues, "_REDIS", queues._Patience())
    queues._client.cache_clear()
    with running_redis() as socket:
        monkeypatch.setenv("REDIS_URL", broker_url(socket))
        for _ in range(3):
            push_turns(turns.LOOK)
        push_turns(turns.TURNS, 5, most=4)
        assert (waiting_turns(turns.LOOK), waiting_turns(turns.TURNS)) == (1, 4)
        state = look_at_broker([turns.LOOK, turns.TURNS])
        assert state.lengths == {"look": 1, "turns": 4}
        assert state.memory
    assert waiting_turns(turns.LOOK) is None
    push_turns(turns.LOOK)
    now[0] += queues.REST_S
    assert waiting_turns(turns.LOOK) is None
    assert [record.message for record in caplog.records if "Redis" in record.message] == [
        "Redis does not answer"
    ]
    assert look_at_broker([turns.LOOK]).trouble == "does not answer"
    queues._client.cache_clear()


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("with_redis", [True, False])
def test_a_real_record_keeper_records_what_comes_with_and_without_redis(
    worker: DoorWorker, with_redis: bool
) -> None:
    make_tournament(ladders=["dogon-kulei"])
    batch = worker.take()
    with running_redis() as socket:
        url = broker_url(socket) if with_redis else "redis://127.0.0.1:1/0"
        environment = {**os.environ, "DATABASE_URL": database_url(), "REDIS_URL": url}
        environment["DJANGO_SETTINGS_MODULE"] = "tournament.settings"
        command = (sys.executable, "-m", "celery", "--app=tournament.celery")
        keeper = (*command, "worker", "--queues=look", "--pool=solo", "--without-gossip", "--without-mingle")
        process = subprocess.Popen(keeper, cwd=ROOT, env=environment)
        try:
            report_all(worker, batch)
            assert wait_until(lambda: Game.objects.filter(state="done").count() == 2, 60)
            assert wait_until(Keeper.objects.exists, 60)
        finally:
            process.send_signal(signal.SIGTERM)
            assert process.wait(60) == 0
