"""The tasks and the queues between site and workers, without a broker."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
import redis
from celery import current_task
from kombu import Connection, Queue

from tests.support.brokers import running_redis
from tests.support.schedule import FakeBroker, make_tournament, play_short, word_of
from tournament.embedded.processes.redis_server import broker_url
from tournament.models import Game, Ignored, Keeper, LiveGame
from tournament.queues import clear_queue, queue_length, send_jobs, send_sweep
from workers.jobs import GameJob, Release

pytest.importorskip("workers.service.celery")

from tournament import celery, tasks

pytestmark = pytest.mark.django_db
NOW = datetime.datetime(2026, 1, 1, tzinfo=datetime.UTC)
Deal = Callable[[], list[GameJob]]


@pytest.fixture(autouse=True)
def sender(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Who has signed the messages of a test: the last of them, and the site its own."""
    names = ["host"]
    ours = {f"tournament.{name}" for name in FROM_THE_SITE}
    monkeypatch.setattr(tasks, "verified_sender", lambda: "site" if current_task.name in ours else names[-1])
    return names


FROM_THE_SITE = ("dispatch", "estimates", "pages", "recompute", "prune", "sweep")
NAMES = ("record", "progress", "release", "news", "heartbeat", "trouble", *FROM_THE_SITE)


def test_the_tasks_are_those_that_workers_and_beat_name() -> None:
    names = {name for name in celery.app.tasks if name.startswith("tournament.")}
    assert names == {f"tournament.{word}" for word in NAMES}
    for entry in celery.app.conf.beat_schedule.values():
        assert entry["task"] in names
        assert entry["options"]["queue"] == "beat"
        assert entry["options"]["expires"] > entry["schedule"]


def test_a_game_travels_through_its_messages(deal: Deal) -> None:
    make_tournament(ladders=["dogon-kulei"])
    (job,) = deal()
    tasks.progress(word_of(job.games[0]).to_json())
    assert LiveGame.objects.count() == 1
    first, second = play_short(job)
    tasks.record(first.to_json())
    tasks.record(first.to_json())
    tasks.release(Release(second.key, second.attempt, "host/1").to_json())
    assert sorted(Game.objects.values_list("state", flat=True)) == ["done", "waiting"]
    tasks.dispatch_games()
    assert Game.objects.filter(state="claimed").count() == 1


@pytest.mark.parametrize(
    "task", [tasks.sweep, tasks.dispatch_games, tasks.recompute, tasks.prune_tables, tasks.estimates]
)
def test_only_the_site_itself_starts_what_beat_asks_for(
    task: Callable[[], None], deal: Deal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tasks, "verified_sender", lambda: "host")
    make_tournament()
    task()
    assert dict(Ignored.objects.values_list("reason", "count")) == {"foreign": 1}
    assert not Keeper.objects.exists()
    assert set(Game.objects.values_list("state", flat=True)) == {"waiting"}


def test_a_slow_task_of_the_beat_leaves_as_much_time_for_the_messages_of_workers(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    clock = [1000.0]
    ran: list[float] = []

    def prune(now: datetime.datetime) -> None:
        ran.append(clock[0])
        clock[0] += 4.0

    monkeypatch.setattr(tasks.time, "monotonic", lambda: clock[0])  # type: ignore[attr-defined]
    monkeypatch.setattr(tasks, "prune", prune)
    for _ in range(10):
        tasks.prune_tables()
        clock[0] += 1.0
    assert ran == [1000.0, 1008.0, 1016.0]


def test_beat_has_old_rows_pruned_and_outdated_ratings_rebuilt(
    deal: Deal, monkeypatch: pytest.MonkeyPatch
) -> None:
    called: list[str] = []
    monkeypatch.setattr(tasks._recomputer, "start_if_due", lambda: called.append("rebuild"))
    monkeypatch.setattr(tasks, "prune", lambda now: called.append("prune"))
    tasks.recompute()
    tasks.prune_tables()
    assert called == ["rebuild", "prune"]


def test_a_message_that_names_another_worker_than_its_sender_is_foreign(
    deal: Deal, sender: list[str]
) -> None:
    make_tournament(ladders=["dogon-kulei"])
    (job,) = deal()
    first, second = play_short(job)
    sender.append("players@west")
    tasks.progress(word_of(job.games[0]).to_json())
    tasks.record([first.to_json(), second.to_json()])
    tasks.release(Release(second.key, second.attempt, "host/1").to_json())
    assert dict(Ignored.objects.values_list("reason", "count")) == {"foreign": 4}
    assert set(Game.objects.values_list("state", flat=True)) == {"claimed"}
    assert not LiveGame.objects.exists()


def test_a_worker_reports_no_game_that_was_sent_to_another(deal: Deal, sender: list[str]) -> None:
    make_tournament(ladders=["dogon-kulei"])
    (job,) = deal()
    first, second = (replace(report, worker="players@west/1") for report in play_short(job))
    sender.append("players@west")
    tasks.progress(replace(word_of(job.games[0]), worker="players@west/1").to_json())
    tasks.record([first.to_json(), second.to_json()])
    tasks.release(Release(second.key, second.attempt, "players@west/1").to_json())
    assert dict(Ignored.objects.values_list("reason", "count")) == {"foreign": 4}
    assert set(Game.objects.values_list("state", flat=True)) == {"claimed"}


def test_an_unreadable_game_in_a_message_does_not_affect_the_others(deal: Deal) -> None:
    make_tournament(ladders=["dogon-kulei"])
    (job,) = deal()
    first, second = play_short(job)
    tasks.record([first.to_json(), {"key": 1}, second.to_json(), first.to_json()])
    assert set(Game.objects.values_list("state", flat=True)) == {"done"}
    assert dict(Ignored.objects.values_list("reason", "count")) == {"unreadable": 1, "repeat": 1}


def test_no_content_of_a_message_raises() -> None:
    messages: tuple[object, ...] = (None, 1, "x", [None], {}, {"key": None})
    for task in (tasks.record, tasks.progress, tasks.release):
        for message in messages:
            task(message)
    assert Ignored.objects.get().count == 18


def test_a_sweep_accepts_the_time_at_which_it_was_due(queues: FakeBroker) -> None:
    tasks.sweep()
    tasks.sweep(NOW.isoformat())
    assert Keeper.objects.count() == 1


def test_jobs_and_sweeps_go_to_their_queues(deal: Deal, monkeypatch: pytest.MonkeyPatch) -> None:
    sent: list[tuple[str, list[Any], str]] = []

    def send(name: str, args: list[Any], queue: Queue) -> None:
        sent.append((name, args, queue.name))

    monkeypatch.setattr(celery.app, "send_task", send)
    make_tournament(ladders=["dogon-kulei"])
    (job,) = deal()
    send_jobs([job], "games.host")
    send_sweep(NOW)
    assert sent == [
        ("workers.play", [[job.to_json()]], "games.host"),
        ("tournament.sweep", [NOW.isoformat()], "records"),
    ]


def test_the_length_of_a_queue_is_its_number_of_waiting_messages(monkeypatch: pytest.MonkeyPatch) -> None:
    with running_redis() as socket, redis.Redis(unix_socket_path=str(socket)) as client:
        monkeypatch.setattr(celery.app, "connection_for_write", lambda: Connection(broker_url(socket)))
        assert queue_length("test-length") == 0
        client.lpush("test-length", "1", "2")
        assert queue_length("test-length") == 2
        clear_queue("test-length")
        assert queue_length("test-length") == 0
