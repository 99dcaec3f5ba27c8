"""The tasks and the queues between site and workers, without a broker."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from celery import current_task
from kombu import Connection, Queue

from tests.support.schedule import FakeBroker, make_tournament, play_short, word_of
from tournament.models import Game, Ignored, Keeper, LiveGame
from tournament.queues import queue_length, send_jobs, send_sweep
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
    ours = {f"tournament.{word}" for word in ("sweep", "dispatch", "estimates", "pages")}
    monkeypatch.setattr(tasks, "verified_sender", lambda: "site" if current_task.name in ours else names[-1])
    return names


NAMES = (
    "record",
    "progress",
    "release",
    "news",
    "heartbeat",
    "trouble",
    "dispatch",
    "estimates",
    "pages",
    "sweep",
)


def test_the_tasks_are_those_that_workers_and_beat_name() -> None:
    names = {name for name in celery.app.tasks if name.startswith("tournament.")}
    assert names == {f"tournament.{word}" for word in NAMES}
    for entry in celery.app.conf.beat_schedule.values():
        assert entry["task"] in names
        assert entry["options"]["queue"] == "records"
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


@pytest.mark.parametrize("task", [tasks.sweep, tasks.dispatch_games])
def test_only_the_site_itself_starts_a_sweep_or_the_dispatcher(
    task: Callable[[], None], deal: Deal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tasks, "verified_sender", lambda: "host")
    make_tournament()
    task()
    assert dict(Ignored.objects.values_list("reason", "count")) == {"foreign": 1}
    assert not Keeper.objects.exists()
    assert set(Game.objects.values_list("state", flat=True)) == {"waiting"}


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
    connection = Connection("memory://")
    monkeypatch.setattr(celery.app, "connection_for_write", lambda: Connection("memory://"))
    assert queue_length("test-length") == 0
    with connection.SimpleQueue("test-length") as queue:
        queue.put({"a": 1})
        queue.put({"a": 2})
        assert queue_length("test-length") == 2
        queue.get(block=False).ack()
        assert queue_length("test-length") == 1
