"""The dispatcher on a real Redis: it takes back queued batches, and leaves those that a worker has taken."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import nullcontext
from datetime import timedelta
from functools import partial

import pytest
import redis
from django.utils import timezone
from kombu import Connection
from pytest_django import DjangoCaptureOnCommitCallbacks

from tests.support.brokers import running_redis
from tests.support.schedule import make_tournament, make_worker, word_of
from tournament import celery
from tournament.embedded.processes.redis_server import broker_url
from tournament.models import Attempt, Game, Ignored, Worker
from tournament.queues import clear_queue, queue_length, send_command, send_jobs
from tournament.services.accounts.worker_keys import register_worker
from tournament.services.dispatch import dispatch
from tournament.services.dispatch.leases import keeper_started
from tournament.services.results import keeper
from tournament.services.schedule.tournaments import pause, resume
from workers.jobs import JobGame
from workers.service.messaging.commands import Command

EAST, WEST = "players@east", "players@west"
QUEUE = f"games.{EAST}"
pytestmark = [pytest.mark.slow, pytest.mark.django_db]


@pytest.fixture
def store(queues: object, monkeypatch: pytest.MonkeyPatch) -> Iterator[redis.Redis]:
    """The site on a Redis of its own, in place of the queues of other tests."""
    options = celery.app.conf.broker_transport_options

    def connect() -> Connection:
        return Connection(broker_url(socket), transport_options=options)

    with running_redis() as socket, connect() as connection:
        monkeypatch.setattr(celery.app, "connection_for_write", connect)
        send = partial(celery.app.send_task, connection=connection)
        monkeypatch.setattr(celery.app, "send_task", send)
        publisher = connection.Producer()
        acquire = lambda producer=None: nullcontext(producer or publisher)  # noqa: E731
        monkeypatch.setattr(celery.app, "producer_or_acquire", acquire)
        for function in (send_jobs, send_command, clear_queue, queue_length):
            monkeypatch.setattr(f"tournament.queues.{function.__name__}", function)
        yield redis.Redis(unix_socket_path=str(socket))


def test_a_pause_empties_the_queue_and_a_resumed_tournament_fills_it_again(
    store: redis.Redis, django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks
) -> None:
    keeper_started()
    make_worker()
    register_worker(EAST, None, timezone.now())
    tournament = make_tournament(pairs=40)
    with django_capture_on_commit_callbacks(execute=True):
        dispatch.fill_buffer()
    queued = store.llen(QUEUE)
    assert queued == queue_length(QUEUE) == dispatch.buffer_batches()
    assert store.rpop(QUEUE)  # the one that was sent first
    taken = Attempt.objects.order_by("sent_at", "game_id")[0]
    assert keeper.progress(word_of(JobGame(taken.game.key, str(taken.pk), 0)))
    pause(tournament)
    dispatch.fill_buffer()
    assert store.llen(QUEUE) == 0
    assert not Attempt.objects.filter(ended_at=None).exists()
    assert not Game.objects.filter(state=Game.State.CLAIMED).exists()
    resume(tournament)
    with django_capture_on_commit_callbacks(execute=True):
        dispatch.fill_buffer()
    assert store.llen(QUEUE) == dispatch.buffer_batches()


@pytest.mark.parametrize("queue", [QUEUE, f"commands.{EAST}"])
def test_a_worker_whose_queue_is_broken_is_quarantined_and_harms_no_other(
    store: redis.Redis, django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks, queue: str
) -> None:
    """Its host has put text in the place of the list: its games are sent to others."""
    begun = timezone.now() - timedelta(hours=1)
    keeper_started(begun)
    for name in (EAST, WEST):
        make_worker(name=name)
        register_worker(name, None, begun)
    make_tournament(pairs=40)
    store.set(queue, "text")
    with django_capture_on_commit_callbacks(execute=True):
        dispatch.fill_buffer()
    assert queue_length(f"games.{WEST}") > 0
    assert Attempt.objects.filter(assigned=EAST, ended_at=None).exists()
    with django_capture_on_commit_callbacks(execute=True):
        keeper_started()
    east = Worker.objects.get(name=EAST)
    assert east.condition == "quarantined"
    assert east.trouble == f"the key of the queue {queue} in the broker is not a list"
    assert dict(Ignored.objects.values_list("reason", "count")) == {"broken queue": 1}
    assert not Attempt.objects.filter(assigned=EAST, ended_at=None).exists()
    assert Worker.objects.get(name=WEST).condition != "quarantined"
    assert queue_length(queue) <= 1  # a list again; the command holds why it gets no jobs


def test_a_command_to_a_worker_whose_queue_is_broken_raises_nothing(store: redis.Redis) -> None:
    store.set(f"commands.{EAST}", "text")
    send_command(Command(EAST))
