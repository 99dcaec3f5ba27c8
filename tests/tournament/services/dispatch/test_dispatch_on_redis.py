"""The dispatcher on a real Redis: it takes back queued batches, and leaves those that a worker has taken."""

from __future__ import annotations

from collections.abc import Iterator
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
from tournament.models import Attempt, Game
from tournament.queues import clear_queue, queue_length, send_jobs
from tournament.services.accounts.worker_keys import register_worker
from tournament.services.dispatch import dispatch
from tournament.services.dispatch.leases import keeper_started
from tournament.services.results import keeper
from tournament.services.schedule.tournaments import pause, resume
from workers.jobs import JobGame

EAST = "players@east"
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
        for function in (send_jobs, clear_queue, queue_length):
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
